/** A server that does not answer is left alone for a while: turns do not wait for it again and again. */

export class Breaker {
  private failuresInARow = 0;
  private closedAgainAt = 0;
  private trying = false;

  constructor(
    private readonly failures: number,
    private readonly milliseconds: number,
    private readonly now: () => number = Date.now,
  ) {}

  /** Whether a request may be made. After the pause one is, to see whether the server is back. */
  mayTry(): boolean {
    if (this.failuresInARow < this.failures) return true;
    if (this.now() < this.closedAgainAt || this.trying) return false;
    this.trying = true;
    return true;
  }

  /** It answered, whatever it said. Tells whether it had been left alone. */
  answered(): boolean {
    const wasOpen = this.failuresInARow >= this.failures;
    this.failuresInARow = 0;
    this.trying = false;
    return wasOpen;
  }

  /** It did not answer. Tells whether it is left alone from now on. */
  failed(): boolean {
    this.failuresInARow += 1;
    this.trying = false;
    if (this.failuresInARow < this.failures) return false;
    this.closedAgainAt = this.now() + this.milliseconds;
    return this.failuresInARow === this.failures;
  }

  /** Nobody waited for an answer: that tells nothing, and another may try. */
  givenUp(): void {
    this.trying = false;
  }

  /** Seconds until it is tried again; 0 when it is not left alone. */
  secondsLeft(): number {
    if (this.failuresInARow < this.failures) return 0;
    return Math.max(0, Math.ceil((this.closedAgainAt - this.now()) / 1000));
  }
}

/** Requests to `memoranda serve`: one way to ask, with a time limit, and one kind of error that says what to do next. */

import { Breaker } from "./breaker.js";
import type { Settings } from "./config.js";

export interface Logger {
  info: (message: string) => void;
  warn: (message: string) => void;
}

/** What went wrong, and the next move. `away`: the server did not answer; otherwise it said no. */
export class MemoryError extends Error {
  constructor(
    message: string,
    readonly hint: string,
    readonly away: boolean,
  ) {
    super(message);
    this.name = "MemoryError";
  }
}

/** What a tool of the server gives. */
export interface ToolAnswer {
  text: string;
  data: Record<string, unknown>;
  failed: boolean;
  receipt: Record<string, unknown> | null;
  latency_ms: number;
  file: string | null;
}

/** On whose behalf a tool is called. */
export interface Behalf {
  source: "assistant" | "user" | "operator";
  speaker?: string;
  conversation?: string;
  file?: string;
  whole?: boolean;
}

const TOOLSET = "openclaw";
const SERVER_FAULTS = 500;
const AWAY =
  "Look whether `memoranda serve` runs at the configured url; if it is called by another name, add that to server_hosts.";

export class Client {
  readonly breaker: Breaker;

  constructor(
    private readonly settings: Settings,
    private readonly logger: Logger,
  ) {
    this.breaker = new Breaker(settings.breaker.failures, settings.breaker.seconds * 1000);
  }

  /** Calls a tool by name, as the server defines it. */
  async tool(
    name: string,
    args: Record<string, unknown>,
    scope: string,
    behalf: Behalf,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<ToolAnswer> {
    const path = `/v1/tools/${TOOLSET}/${name}?scope=${encodeURIComponent(scope)}`;
    return await this.ask<ToolAnswer>("POST", path, { arguments: args, ...behalf }, timeoutMs, signal);
  }

  async ask<T>(method: "GET" | "POST", path: string, body: unknown, timeoutMs: number, signal?: AbortSignal): Promise<T> {
    if (!this.breaker.mayTry()) {
      const seconds = this.breaker.secondsLeft();
      throw new MemoryError(`the memory server is left alone for ${seconds} s more`, "Go on without it for now.", true);
    }
    let response: Response;
    let answer: unknown;
    const limit = AbortSignal.timeout(timeoutMs);
    try {
      response = await fetch(this.settings.url + path, {
        method,
        headers: {
          accept: "application/json",
          ...(this.settings.token ? { authorization: `Bearer ${this.settings.token}` } : {}),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        // A token is for this server alone.
        redirect: "error",
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      });
      answer = await response.json();
    } catch (error) {
      if (signal?.aborted) {
        this.breaker.givenUp();
        throw error;
      }
      this.failed();
      const why = limit.aborted ? `it did not answer within ${timeoutMs} ms` : "it cannot be reached";
      throw new MemoryError(`no answer from the memory server: ${why}`, AWAY, true);
    }
    if (response.status >= SERVER_FAULTS) this.failed();
    else if (this.breaker.answered()) this.logger.info("memoranda: the memory server answers again");
    if (!response.ok) {
      const problem = (answer ?? {}) as { detail?: string; hint?: string };
      throw new MemoryError(
        problem.detail ?? `the memory server said ${response.status}`,
        problem.hint ?? "Look into its log.",
        response.status >= SERVER_FAULTS,
      );
    }
    return answer as T;
  }

  private failed(): void {
    if (this.breaker.failed()) {
      const seconds = this.settings.breaker.seconds;
      this.logger.warn(`memoranda: the memory server does not answer and is left alone for ${seconds} s`);
    }
  }
}

/** Receipts in the host's log: ids, counts and numbers, in one line. Never what a memory, a prompt or an answer says. */

import type { Logger } from "./client.js";
import type { Settings } from "./config.js";

export interface PackAnswer {
  text: string;
  tokens: number;
  items: { id: string; kind: string; score: number }[];
  receipt: Record<string, unknown>;
}

export interface CaptureAnswer {
  receipt: Record<string, unknown>;
}

export class Receipts {
  constructor(
    private readonly settings: Settings["receipts"],
    private readonly logger: Logger,
  ) {}

  recalled(pack: PackAnswer, scope: string, milliseconds: number): void {
    const items = pack.items.slice(0, this.settings.maxItems);
    this.say("memoranda.recall.receipt.v1", {
      scope,
      returned: pack.items.length,
      tokens: pack.tokens,
      top: items.map((item) => ({ id: item.id, score: Math.round(item.score * 1000) / 1000 })),
      ms: milliseconds,
      ...(this.settings.verbosity === "high" ? { kinds: counted(pack.items.map((item) => item.kind)) } : {}),
    });
  }

  captured(done: CaptureAnswer, scope: string, milliseconds: number): void {
    const receipt = done.receipt;
    this.say("memoranda.autoCapture.receipt.v1", {
      scope,
      candidateExtractionCount: Number(receipt["candidates"] ?? 0),
      filteredOut: numbersIn(receipt["refused"]),
      storedCount: idsIn(receipt["kept"]).length,
      waiting: idsIn(receipt["waiting"]).length,
      top: idsIn(receipt["kept"]).slice(0, this.settings.maxItems),
      ms: milliseconds,
      ...(this.settings.verbosity === "high" ? { scanned: numbersIn(receipt["scanned"]) } : {}),
    });
  }

  skipped(what: "recall" | "autoCapture", reason: string): void {
    this.say(`memoranda.${what}.receipt.v1`, { skipped: reason });
  }

  called(tool: string, scope: string, failed: boolean, milliseconds: number): void {
    this.say("memoranda.tool.receipt.v1", { tool, scope, failed, ms: milliseconds });
  }

  private say(schema: string, told: Record<string, unknown>): void {
    if (this.settings.enabled) this.logger.info(`memoranda: ${JSON.stringify({ schema, ...told })}`);
  }
}

function counted(names: string[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const name of names) found[name] = (found[name] ?? 0) + 1;
  return found;
}

/** Only counts by a reason of the server's own: whatever else is there stays out of a log. */
function numbersIn(given: unknown): Record<string, number> {
  if (typeof given !== "object" || given === null) return {};
  return Object.fromEntries(Object.entries(given).filter((pair): pair is [string, number] => typeof pair[1] === "number"));
}

function idsIn(given: unknown): string[] {
  return Array.isArray(given) ? given.filter((each): each is string => typeof each === "string") : [];
}

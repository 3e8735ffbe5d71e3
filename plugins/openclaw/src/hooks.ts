/** Around a turn: what bears on the prompt is put before it; what should be kept of it is handed over. Never in its way. */

import type { OpenClawPluginApi } from "openclaw/plugin-sdk/plugin-entry";

import { MemoryError, type Client, type Logger } from "./client.js";
import type { Settings, Trigger } from "./config.js";
import { handedOver } from "./messages.js";
import type { CaptureAnswer, PackAnswer, Receipts } from "./receipts.js";
import { scopeOf } from "./scopes.js";

interface Turn {
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
  senderId?: string;
  trigger?: string;
  inputProvenance?: { kind?: string };
}

const LONGEST_QUERY = 4_000;
/** Sessions of agents that agents have started; their user is no person. */
const SUBAGENT = /:(subagent|acp):/;

export class Hooks {
  constructor(
    private readonly settings: Settings,
    private readonly client: Client,
    private readonly receipts: Receipts,
    private readonly logger: Logger,
  ) {}

  register(api: OpenClawPluginApi): void {
    if (this.settings.autoRecall) {
      api.on("before_prompt_build", async (event, context) => {
        const context_ = await this.recalled(event.currentUserMessage ?? event.prompt, context);
        return context_ ? { prependContext: context_ } : undefined;
      });
    }
    if (this.settings.autoCapture) {
      api.on("agent_end", async (event, context) => {
        if (event.success) await this.captured(event.messages, context);
        else this.receipts.skipped("autoCapture", "the turn failed");
      });
      // What is about to be summed up is looked at first: a turn that compacts in its middle loses nothing.
      api.on("before_compaction", async (event, context) => {
        if (event.messages?.length) await this.captured(event.messages, context);
      });
    }
  }

  private async recalled(prompt: string, turn: Turn): Promise<string> {
    if (!prompt.trim()) return "";
    if (!allowed(turn.trigger, this.settings.recall.triggers)) {
      this.receipts.skipped("recall", `a turn of ${turn.trigger}`);
      return "";
    }
    const { limit, budget, policy, timeoutMs } = this.settings.recall;
    return await this.failingOpen("recall", "", async () => {
      const began = Date.now();
      const scope = scopeOf(this.settings, turn.agentId, turn.senderId);
      const pack = await this.client.ask<PackAnswer>(
        "POST",
        `/v1/pack?scope=${encodeURIComponent(scope)}`,
        {
          query: prompt.slice(0, LONGEST_QUERY),
          limit,
          budget,
          policy,
          prefer_speaker: turn.senderId ?? "",
          conversation: turn.sessionId ?? turn.sessionKey ?? "",
        },
        timeoutMs,
      );
      this.receipts.recalled(pack, scope, Date.now() - began);
      return pack.text;
    });
  }

  private async captured(messages: unknown[], turn: Turn): Promise<void> {
    const reason = this.notCaptured(turn);
    if (reason) {
      this.receipts.skipped("autoCapture", reason);
      return;
    }
    const given = handedOver(messages);
    if (!given.length) return;
    await this.failingOpen("autoCapture", undefined, async () => {
      const began = Date.now();
      const scope = scopeOf(this.settings, turn.agentId, turn.senderId);
      const { mode, timeoutMs } = this.settings.capture;
      const done = await this.client.ask<CaptureAnswer>(
        "POST",
        `/v1/capture?scope=${encodeURIComponent(scope)}`,
        {
          messages: given,
          conversation: turn.sessionId ?? turn.sessionKey ?? "",
          speaker: turn.senderId ?? "",
          ...(mode ? { mode } : {}),
        },
        timeoutMs,
      );
      this.receipts.captured(done, scope, Date.now() - began);
    });
  }

  /** Why nothing is kept of this turn; empty when it may be. */
  private notCaptured(turn: Turn): string {
    if (!allowed(turn.trigger, this.settings.capture.triggers)) return `a turn of ${turn.trigger}`;
    if (this.settings.capture.subagents) return "";
    if (SUBAGENT.test(turn.sessionKey ?? "")) return "a subagent's session";
    const kind = turn.inputProvenance?.kind;
    return kind && kind !== "external_user" ? `not from a person: ${kind}` : "";
  }

  private async failingOpen<T>(what: "recall" | "autoCapture", otherwise: T, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      // A message of ours; that of anything else may quote what was said.
      const why = error instanceof MemoryError ? `${error.message}. ${error.hint}` : error instanceof Error ? error.name : "?";
      this.logger.warn(`memoranda: ${what} was left out: ${why}`);
      return otherwise;
    }
  }
}

/** A turn whose trigger is not told is one of the user's. */
function allowed(trigger: string | undefined, triggers: Trigger[]): boolean {
  return trigger === undefined || (triggers as string[]).includes(trigger);
}

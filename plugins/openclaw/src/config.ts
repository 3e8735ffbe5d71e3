/** The settings as they are used: every default filled in. The schema in openclaw.plugin.json has checked them. */

export type Trigger = "user" | "manual" | "cron" | "heartbeat" | "memory" | "overflow";

export interface Settings {
  url: string;
  token: string;
  scope: string;
  isolation: "agent" | "sender" | "shared";
  autoRecall: boolean;
  autoCapture: boolean;
  recall: { limit: number; budget: number; policy: string; triggers: Trigger[]; timeoutMs: number };
  capture: { mode?: string; triggers: Trigger[]; subagents: boolean; timeoutMs: number };
  tools: { source: "assistant" | "user"; search: boolean; timeoutMs: number };
  files: { dir?: string };
  breaker: { failures: number; seconds: number };
  receipts: { enabled: boolean; verbosity: "low" | "high"; maxItems: number };
}

type Given = { [Name in keyof Settings]?: Settings[Name] extends object ? Partial<Settings[Name]> : Settings[Name] };

/** The host gives a turn's recall 15 s and a capture 30 s, and goes on without them: ours end before. */
const MOST_RECALL_MS = 14_000;
const MOST_CAPTURE_MS = 28_000;

export function settingsFrom(given: unknown): Settings {
  const found = (given ?? {}) as Given;
  const recall = { limit: 5, budget: 800, policy: "balanced", timeoutMs: 4_000, ...found.recall };
  const capture = { subagents: false, timeoutMs: 15_000, ...found.capture };
  return {
    url: (found.url ?? "http://127.0.0.1:8765").replace(/\/+$/, ""),
    // Anything but a text is a reference that the host did not resolve: no token rather than a wrong one.
    token: typeof found.token === "string" ? found.token.trim() : "",
    scope: found.scope ?? "openclaw",
    isolation: found.isolation ?? "agent",
    autoRecall: found.autoRecall ?? true,
    autoCapture: found.autoCapture ?? true,
    recall: {
      ...recall,
      triggers: found.recall?.triggers ?? ["user", "manual", "cron", "overflow"],
      timeoutMs: Math.min(recall.timeoutMs, MOST_RECALL_MS),
    },
    capture: {
      ...capture,
      triggers: found.capture?.triggers ?? ["user", "manual", "overflow"],
      timeoutMs: Math.min(capture.timeoutMs, MOST_CAPTURE_MS),
    },
    tools: { source: "assistant", search: true, timeoutMs: 15_000, ...found.tools },
    files: { ...found.files },
    breaker: { failures: 3, seconds: 60, ...found.breaker },
    receipts: { enabled: true, verbosity: "low", maxItems: 3, ...found.receipts },
  };
}

/** A turn's messages as they are handed over: who spoke and what, the newest, in bounds. The server decides the rest. */

export interface Message {
  role: "user" | "assistant";
  content: string;
}

const MOST_MESSAGES = 200;
const MOST_CHARACTERS = 240_000;

export function handedOver(messages: unknown[]): Message[] {
  const found: Message[] = [];
  let characters = 0;
  for (const message of messages.toReversed()) {
    const { role, content } = (message ?? {}) as { role?: unknown; content?: unknown };
    if (role !== "user" && role !== "assistant") continue;
    const text = textOf(content);
    if (!text) continue;
    characters += text.length;
    if (found.length >= MOST_MESSAGES || characters > MOST_CHARACTERS) break;
    found.push({ role, content: text });
  }
  return found.reverse();
}

/** What was said in words: no thinking, no calls of tools, no pictures. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content.trim();
  if (!Array.isArray(content)) return "";
  return content
    .map((block) => (block ?? {}) as { type?: unknown; text?: unknown })
    .filter((block) => block.type === "text" && typeof block.text === "string")
    .map((block) => block.text as string)
    .join("\n")
    .trim();
}

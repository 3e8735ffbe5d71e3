/** Where a turn reads and writes: the configured scope, and below it one for each agent, or for each sender, too. */

import { createHash } from "node:crypto";

import type { Settings } from "./config.js";

const LONGEST_SEGMENT = 64;
const DIGEST = 20;
const NOBODY = "unknown";

/** A name as a segment of a scope. What a scope cannot hold is escaped, so that no two names become one. */
export function segment(name: string): string {
  const written = Array.from(name, (sign) =>
    /[A-Za-z0-9_.:@-]/.test(sign) ? sign : `~${sign.codePointAt(0)!.toString(16)}~`,
  ).join("");
  const whole = /^[A-Za-z0-9]/.test(written) ? written : `0~~${written}`;
  if (whole.length <= LONGEST_SEGMENT) return whole;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, DIGEST);
  return `${whole.slice(0, LONGEST_SEGMENT - DIGEST - 1)}+${digest}`;
}

/** The scope of a turn. A sender who is not known has no share in what others have said. */
export function scopeOf(settings: Settings, agentId?: string, senderId?: string): string {
  if (settings.isolation === "shared") return settings.scope;
  const agent = `${settings.scope}/${segment(agentId || "main")}`;
  return settings.isolation === "agent" ? agent : `${agent}/${segment(senderId || NOBODY)}`;
}

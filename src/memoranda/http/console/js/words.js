// Numbers, moments and the words of the closed sets, as people read them.

import { h } from "./dom.js";

export const KINDS = ["fact", "preference", "decision", "entity", "episode", "note"];
export const STATES = ["live", "superseded", "archived", "forgotten", "expired"];
export const TRUSTS = ["trusted", "untrusted", "quarantined"];
export const SOURCES = ["user", "assistant", "operator", "tool", "web", "import", "system"];
export const GRADES = ["must_remember", "nice_to_have", "ignore", "unknown"];
export const BASES = ["stated", "observed", "inferred"];
export const POLICIES = ["strict", "balanced", "broad"];
export const MODES = ["asked", "automatic"];
export const ROLES = ["reader", "writer", "admin"];

const SHORT_ID = 12;
const STEPS = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

// A word of a closed set without its underscores.
export function plain(word) {
  return String(word ?? "").replaceAll("_", " ");
}

export function number(value) {
  return Number(value ?? 0).toLocaleString("en", { maximumFractionDigits: 2 });
}

export function decimal(value, places = 2) {
  return Number(value ?? 0).toFixed(places);
}

export function percent(share) {
  return `${Math.round(Number(share ?? 0) * 100)} %`;
}

export function count(value, one, many = `${one}s`) {
  return `${number(value)} ${Number(value) === 1 ? one : many}`;
}

export function bytes(value) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let size = Number(value ?? 0);
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) [size, unit] = [size / 1000, unit + 1];
  return `${unit && size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

export function shortId(id) {
  return String(id ?? "").slice(0, SHORT_ID);
}

// "3 days ago", "in 2 hours", "just now".
export function ago(moment, now = Date.now()) {
  const seconds = (now - Date.parse(moment)) / 1000;
  if (Number.isNaN(seconds)) return "";
  for (const [unit, length] of STEPS) {
    const many = Math.floor(Math.abs(seconds) / length);
    if (many >= 1) return seconds > 0 ? `${count(many, unit)} ago` : `in ${count(many, unit)}`;
  }
  return "just now";
}

// "2026-03-01 14:05:09 UTC".
export function exact(moment) {
  const parsed = new Date(moment);
  return Number.isNaN(parsed.getTime()) ? String(moment) : `${parsed.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

// How long ago, with the exact moment to be read on demand; `full` shows both.
export function when(moment, { full = false } = {}) {
  if (!moment) return h("span", { class: "nothing" }, "–");
  const words = full ? `${exact(moment)} (${ago(moment)})` : ago(moment);
  return h("time", { dateTime: String(moment), title: exact(moment) }, words);
}

// A JSON value as people read it.
export function value(given) {
  return typeof given === "string" ? given : JSON.stringify(given);
}

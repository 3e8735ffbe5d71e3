// A memory as several pages show it.

import { h, said } from "./dom.js";
import { icon } from "./icons.js";
import { count, exact, plain, shortId, value, when } from "./words.js";

const DAY_MS = 86_400_000;
const STATE_STYLE = { superseded: "warn", archived: "", forgotten: "bad", expired: "warn" };

export function memoryLink(id, view, label) {
  return h("a", { href: view.href("memory", {}, id) }, label ?? h("code", null, shortId(id)));
}

// The label of a kind, with its drawing.
export function kindMark(kind) {
  return h("span", { class: "kind" }, icon(kind), plain(kind));
}

// What is not as usual about a memory: of a live, trusted, stated one nothing is said.
export function chips(memory, { scope } = {}) {
  const made = [];
  const chip = (label, style = "") => made.push(h("span", { class: `chip ${style}`.trim() }, label));
  if (memory.state !== "live") chip(plain(memory.state), STATE_STYLE[memory.state]);
  if (memory.trust !== "trusted") chip(plain(memory.trust), memory.trust === "quarantined" ? "bad" : "warn");
  if (memory.grade && memory.grade !== "unknown")
    chip(plain(memory.grade), memory.grade === "must_remember" ? "good" : "");
  if (memory.source !== "user") chip(`from ${plain(memory.source)}`);
  if (memory.basis && memory.basis !== "stated") chip(plain(memory.basis));
  if (scope !== undefined && memory.scope !== scope) chip([icon("scope"), said(memory.scope)]);
  for (const tag of memory.tags ?? []) chip(h("span", null, "#", said(tag)));
  return made.length ? h("div", { class: "chips" }, made) : null;
}

// What it is about, as `light.office · nickname = reading lamp`.
export function slot(memory) {
  if (!memory.about && !memory.attribute) return null;
  const told = memory.value !== null && memory.value !== undefined && memory.value !== memory.text;
  const says = told ? [" = ", said(value(memory.value))] : null;
  return h(
    "span",
    { class: "slot" },
    memory.about ? said(memory.about) : null,
    memory.attribute ? [" · ", said(memory.attribute), says] : null,
    memory.context ? [" when ", said(memory.context)] : null,
  );
}

// For how long what was forgotten can be restored.
export function restorable({ erased_after: until }, who = "It") {
  if (!until) return `${who} can be restored.`;
  const days = Math.max(1, Math.round((Date.parse(until) - Date.now()) / DAY_MS));
  return `${who} can be restored for ${count(days, "day")}, until ${exact(until).slice(0, 10)}.`;
}

// The beginning of what a memory says, on one line.
export function beginning(text, most = 100) {
  const signs = [...text.replace(/\s+/g, " ")];
  return said(signs.length > most ? `${signs.slice(0, most).join("")}…` : signs.join(""));
}

// One memory in a list. `before` and `after` stand beside its head and below it.
export function memoryCard(memory, view, { before, after, link = true } = {}) {
  const text = said(memory.text);
  return h(
    "article",
    { class: `memory state-${memory.state}`, data: { id: memory.id } },
    h(
      "div",
      { class: "memory-head" },
      before,
      kindMark(memory.kind),
      slot(memory),
      memory.speaker ? h("span", null, "said by ", said(memory.speaker, { class: "quiet-said" })) : null,
      h("span", { class: "memory-age" }, when(memory.updated_at ?? memory.created_at)),
    ),
    h("p", { class: "memory-text" }, link ? h("a", { href: view.href("memory", {}, memory.id) }, text) : text),
    chips(memory, { scope: view.scope }),
    after,
  );
}

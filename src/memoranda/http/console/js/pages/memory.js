// One memory: all that is known of it, what happened to it, and what may be done with it.

import { api } from "../api.js";
import { h, replace, said } from "../dom.js";
import { icon } from "../icons.js";
import { erase } from "../erasing.js";
import { beginning, chips, kindMark, memoryLink, restorable, slot } from "../memories.js";
import { remember } from "../remembering.js";
import { button, copy, doing, facts, form, heading, input, notify, wrong } from "../parts.js";
import { earlier, successor } from "../versions.js";
import { decimal, plain, shortId, value, when } from "../words.js";

export async function page(view) {
  const reference = encodeURIComponent(view.rest);
  const [memory, { items: history }] = await Promise.all([
    api.get(`memories/${reference}`, {}, { signal: view.signal }),
    api.get(`memories/${reference}/history`, {}, { signal: view.signal }),
  ]);
  const before = earlier(memory, { signal: view.signal });
  const shownNow = h("div", { class: "panel" }, body(memory, view));
  return [
    heading("Memory", acts(memory, before, view)),
    memory.superseded_by ? replacedBy(memory, await successor(memory, { signal: view.signal }), view) : null,
    shownNow,
    replaced(memory, before, view),
    history.length > 1 ? asOf(memory, history, shownNow, view) : null,
    h("section", { class: "panel" }, h("h2", null, "Provenance"), provenance(memory, view)),
    h("section", { class: "panel" }, h("h2", null, "History"), timeline(history)),
    whyNotForm(memory, view),
    h(
      "details",
      { class: "panel" },
      h("summary", null, "Everything, as JSON"),
      h("pre", { class: "json", tabIndex: 0 }, JSON.stringify(memory, null, 2)),
    ),
  ];
}

function replacedBy(memory, next, view) {
  return h(
    "p",
    { class: "warned" },
    next
      ? ["Something newer has taken its place: ", memoryLink(next.id, view, beginning(next.text))]
      : "What had taken its place has been erased. This version stays, and is not recalled.",
  );
}

// What it replaced, as soon as that is known.
function replaced(memory, before, view) {
  const place = h("div", { class: "replaced" });
  before.then(
    (all) => {
      const direct = all.filter((each) => each.superseded_by === memory.id);
      if (!direct.length) return;
      const links = direct.map((each) => h("li", null, memoryLink(each.id, view, beginning(each.text))));
      const list = h("ul", { class: "entries" }, links);
      replace(place, h("section", { class: "panel" }, h("h2", null, "It replaced"), list));
    },
    (error) => error.name === "AbortError" || replace(place, wrong(error)),
  );
  return place;
}

function body(memory, view) {
  return [
    h(
      "div",
      { class: "memory-head" },
      kindMark(memory.kind),
      slot(memory),
      h("span", { class: "memory-age" }, when(memory.updated_at)),
    ),
    h("p", { class: "whole-text" }, said(memory.text)),
    chips(memory, { scope: view.scope }),
    facts([
      ["State", plain(memory.state)],
      ["Trust", plain(memory.trust)],
      ["Grade", plain(memory.grade)],
      ["Importance", memory.importance === null ? "not yet known" : decimal(memory.importance)],
      ["Confidence", decimal(memory.confidence)],
      ["Scope", said(memory.scope)],
      ["Value", memory.value === null || memory.value === undefined ? null : said(value(memory.value))],
      ["Applies when", memory.context ? said(memory.context) : null],
      ["Happened", memory.occurred_at ? when(memory.occurred_at, { full: true }) : null],
      ["Holds from", memory.valid_from ? when(memory.valid_from, { full: true }) : null],
      ["Holds until", memory.valid_until ? when(memory.valid_until, { full: true }) : null],
    ]),
  ];
}

function provenance(memory, view) {
  const more = Object.keys(memory.metadata ?? {}).length;
  return [
    facts([
      [
        "Id",
        h(
          "span",
          null,
          h("code", null, memory.id),
          " ",
          button("Copy", () => copy(memory.id, "Id"), { class: "quiet" }),
        ),
      ],
      ["Came from", plain(memory.source)],
      ["Reference", memory.source_ref ? said(memory.source_ref) : null],
      ["Basis", plain(memory.basis)],
      ["Said by", memory.speaker ? said(memory.speaker) : null],
      [
        "Conversation",
        memory.conversation
          ? h(
              "a",
              { href: view.href("conversation", { conversation: memory.conversation }) },
              said(memory.conversation),
            )
          : null,
      ],
      ["Language", memory.lang],
      ["Created", when(memory.created_at, { full: true })],
      ["Changed", when(memory.updated_at, { full: true })],
      ["Hash of the text", memory.content_hash ? h("code", null, shortId(memory.content_hash)) : null],
    ]),
    more
      ? h(
          "div",
          null,
          h("h3", null, "Metadata"),
          h("pre", { class: "json", tabIndex: 0 }, said(JSON.stringify(memory.metadata, null, 2))),
        )
      : null,
  ];
}

// -- what happened --

function timeline(history) {
  return h(
    "ol",
    { class: "history" },
    [...history]
      .reverse()
      .map(({ event }, at) =>
        h(
          "li",
          { aria: { current: at === 0 ? "true" : null } },
          h("b", null, plain(event.action)),
          " ",
          when(event.at, { full: true }),
          h(
            "p",
            { class: "help" },
            "by ",
            said(event.actor || "nobody named"),
            event.reason ? [": ", said(event.reason)] : null,
            ` · sequence ${event.sequence}`,
          ),
        ),
      ),
  );
}

// The memory as it was after each event, along a slider.
function asOf(memory, history, shownNow, view) {
  const last = history.length - 1;
  const told = h("output", { class: "help" }, "as it is now");
  const slide = h("input", { type: "range", min: "0", max: String(last), step: "1", value: String(last), id: "as-of" });
  slide.addEventListener("input", () => {
    const { event, memory: then } = history[Number(slide.value)];
    const now = Number(slide.value) === last;
    replace(told, now ? "as it is now" : ["after “", plain(event.action), "”, ", when(event.at, { full: true })]);
    slide.setAttribute("aria-valuetext", told.textContent);
    replace(shownNow, body(now ? memory : then, view));
  });
  return h("div", { class: "panel as-of" }, h("label", { htmlFor: "as-of" }, h("b", null, "As it was")), slide, told);
}

function whyNotForm(memory, view) {
  return h(
    "details",
    { class: "panel" },
    h("summary", null, "Would it be found?"),
    form(
      [
        h(
          "div",
          { class: "search-line" },
          input("q", "", { placeholder: "A question", required: true, aria: { label: "Question" } }),
          button("Explain", null, { type: "submit" }),
        ),
        h("p", { class: "help" }, "Asks the question and tells at which step this memory came back, or was left out."),
      ],
      ({ q }) => view.go("search", { q, why: memory.id }),
      { label: "Would it be found?" },
    ),
  );
}

// -- what may be done --

function acts(memory, before, view) {
  const inside = memory.scope === view.scope || memory.scope.startsWith(`${view.scope}/`);
  if (!inside) return h("span", { class: "help" }, "Kept in a scope above: it is changed there.");
  const change = (label, verb, past, undo) =>
    doing(label, async () => {
      const { receipt } = await api.post(`memories/${encodeURIComponent(memory.id)}/${verb}`, {});
      notify(past(receipt), undo ? { act: "Undo", onAct: () => restore(memory, view) } : {});
      view.again();
    });
  const live = memory.state === "live" || memory.state === "expired";
  const hidden = memory.state === "forgotten" || memory.state === "archived";
  const own = async () => (await before).filter((each) => each.scope === memory.scope);
  return [
    view.may("writer") && live ? button("Correct", () => remember(view, { corrects: memory })) : null,
    view.may("writer") && live ? change("Archive", "archive", () => "Archived: kept, no longer recalled.", true) : null,
    view.may("writer") && live
      ? change("Forget", "forget", (receipt) => `Forgotten. ${restorable(receipt)}`, true)
      : null,
    view.may("writer") && hidden ? change("Restore", "restore", () => "Restored.", false) : null,
    view.may("admin")
      ? button([icon("cross"), "Erase"], () => erase({ reference: memory.id }, view, { earlier: own }), {
          class: "danger",
        })
      : null,
  ];
}

async function restore(memory, view) {
  try {
    await api.post(`memories/${encodeURIComponent(memory.id)}/restore`, {});
    notify("Restored.");
  } catch (error) {
    notify(`${error.detail} ${error.hint}`, { bad: true });
  }
  view.again();
}

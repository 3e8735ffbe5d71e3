// Timeline: what happened in what this scope sees, newest first, beside what the memory says now.

import { api } from "../api.js";
import { h, replace, said } from "../dom.js";
import { icon } from "../icons.js";
import { beginning } from "../memories.js";
import { button, empty, field, form, heading, input, select, tick } from "../parts.js";
import { address } from "../router.js";
import { count, exact, number, plain, shortId } from "../words.js";

const LIMIT = 50;
const ACTIONS = [
  "remembered",
  "reinforced",
  "superseded",
  "archived",
  "forgotten",
  "restored",
  "expired",
  "erased",
  "graded",
  "trusted",
  "revised",
];
const FILTERS = ["action", "actor", "reference", "after", "until", "below"];
const STYLE = {
  erased: "bad",
  forgotten: "bad",
  superseded: "warn",
  expired: "warn",
  archived: "warn",
  remembered: "good",
  restored: "good",
};

export async function page(view) {
  const asked = Object.fromEntries(FILTERS.map((name) => [name, view.params.get(name) ?? ""]));
  const before = view.params.get("before") ?? "";
  const { events, next } = await api.get("timeline", { ...asked, before, limit: LIMIT }, { signal: view.signal });
  const narrowed = FILTERS.some((name) => asked[name]);
  return [
    heading("Timeline"),
    filters(asked, narrowed, view),
    events.length
      ? [
          h(
            "p",
            { class: "told", role: "status" },
            `${count(events.length, "event")}, newest first${before ? `, before sequence ${number(before)}` : ""}.`,
          ),
          days(events, view),
        ]
      : none(narrowed || before, view),
    h(
      "nav",
      { class: "pager", aria: { label: "Pages" } },
      before ? h("a", { class: "button", href: view.href("timeline", asked) }, "The newest") : h("span", null),
      next
        ? h("a", { class: "button", href: view.href("timeline", { ...asked, before: next }) }, "Earlier events")
        : h("span", { class: "help" }, events.length ? "The beginning" : ""),
    ),
  ];
}

function none(narrowed, view) {
  return narrowed
    ? empty(
        "Nothing like that happened",
        "Take a filter away, or another time.",
        h("a", { class: "button", href: view.href("timeline") }, "Show everything"),
      )
    : empty("Nothing happened yet", "As soon as something is remembered, corrected or forgotten, it stands here.");
}

function filters(asked, narrowed, view) {
  return h(
    "details",
    { class: "panel filters", open: narrowed },
    h("summary", null, "Filters"),
    form(
      [
        h(
          "div",
          { class: "fields" },
          field("What happened", select("action", ACTIONS, asked.action, { any: "anything" })),
          field("By whom", input("actor", asked.actor)),
          field("To which memory", input("reference", asked.reference, { placeholder: "id", spellcheck: false })),
          field("From", input("after", asked.after, { type: "date" })),
          field("Until", input("until", asked.until, { type: "date" })),
          h("div", { class: "full" }, tick("below", "Also in the scopes below this one", asked.below === "true")),
        ),
        h(
          "div",
          { class: "acts" },
          button("Show", null, { type: "submit", class: "main" }),
          narrowed ? h("a", { class: "button", href: view.href("timeline") }, "Clear") : null,
        ),
      ],
      (values) => view.stay({ ...values, reference: values.reference.trim(), actor: values.actor.trim() }),
      { label: "Filters" },
    ),
  );
}

// Under each day its events.
function days(events, view) {
  const texts = inSight(events, view);
  const byDay = Map.groupBy(events, (each) => each.at.slice(0, 10));
  return [...byDay].map(([day, those]) =>
    h(
      "section",
      { class: "day" },
      h(
        "h2",
        null,
        h("time", { dateTime: day }, dayName(day)),
        h("span", { class: "help" }, ` ${count(those.length, "event")}`),
      ),
      h(
        "ol",
        { class: "events" },
        those.map((each) => event(each, texts, view)),
      ),
    ),
  );
}

function dayName(day) {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString("en", {
    weekday: "long",
    year: "numeric",
    month: "long",
    day: "numeric",
    timeZone: "UTC",
  });
}

function event(each, texts, view) {
  const what = each.memory_id ? h("span", null, memoryOf(each, view)) : null;
  const row = h(
    "li",
    { class: "event", data: { sequence: each.sequence } },
    h("time", { class: "event-time", dateTime: each.at, title: exact(each.at) }, each.at.slice(11, 19)),
    h("span", { class: `chip ${STYLE[each.action] ?? ""}`.trim() }, plain(each.action)),
    h(
      "span",
      { class: "event-what" },
      what,
      each.actor ? h("span", { class: "help" }, " by ", said(each.actor, { class: "quiet-said" })) : null,
      each.reason ? h("span", { class: "help" }, " · ", said(each.reason, { class: "quiet-said" })) : null,
      each.scope === view.scope ? null : h("span", { class: "chip" }, icon("scope"), said(each.scope)),
    ),
    h("span", { class: "help event-sequence" }, `sequence ${number(each.sequence)}`),
  );
  if (what) texts(row, what, each);
  return row;
}

// Tells what a memory says, when its line comes into sight: asked for once for all of its events, and kept no longer
// than the page is there.
function inSight(events, view) {
  const erased = new Set(events.filter((each) => each.action === "erased").map((each) => each.memory_id));
  const asked = new Map();
  const waiting = new Map();
  const textOf = ({ memory_id: id, scope }) => {
    if (!asked.has(id)) asked.set(id, erased.has(id) ? Promise.resolve(null) : text(id, placeOf(scope, view), view));
    return asked.get(id);
  };
  const sight = new IntersectionObserver((rows) => {
    for (const { target, isIntersecting } of rows) {
      if (!isIntersecting) continue;
      sight.unobserve(target);
      const { what, each } = waiting.get(target);
      textOf(each).then(
        (found) => replace(what, found === null ? gone(each) : [memoryOf(each, view), " ", beginning(found)]),
        () => {}, // the id stays, and leads to what is wrong
      );
    }
  });
  view.signal.addEventListener("abort", () => sight.disconnect());
  return (row, what, each) => {
    waiting.set(row, { what, each });
    sight.observe(row);
  };
}

// What it says; null when it is no longer kept.
async function text(id, scope, view) {
  try {
    return (await api.get(`memories/${encodeURIComponent(id)}`, {}, { scope, signal: view.signal })).text;
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

function gone(each) {
  return [
    h("code", null, shortId(each.memory_id)),
    each.action === "erased" ? null : h("span", { class: "help" }, " erased since"),
  ];
}

// What happened below is looked at there: from here it is not seen. What was erased is nowhere.
function memoryOf(each, view) {
  const id = h("code", null, shortId(each.memory_id));
  if (each.action === "erased") return id;
  return h("a", { href: address("memory", { rest: each.memory_id, scope: placeOf(each.scope, view) }) }, id);
}

function placeOf(scope, view) {
  return scope.startsWith(`${view.scope}/`) ? scope : view.scope;
}

// Browse: all that the scope sees, filtered; new memories; several at once; export.

import { api } from "../api.js";
import { h, replace } from "../dom.js";
import { icon } from "../icons.js";
import { memoryCard, restorable } from "../memories.js";
import { remember } from "../remembering.js";
import {
  button,
  confirmed,
  doing,
  download,
  empty,
  field,
  form,
  heading,
  input,
  longWork,
  notify,
  pager,
  select,
  tick,
  ticks,
} from "../parts.js";
import { count, GRADES, KINDS, number, SOURCES, STATES, TRUSTS } from "../words.js";

const LIMIT = 25;
const EXPORT_PAGE = 200;
const LISTS = ["states", "trust", "grade", "source"];
const TEXTS = ["text", "kind", "about", "attribute", "speaker", "conversation", "tags", "order", "here", "as_of"];
const ORDERS = [
  ["", "newest first"],
  ["oldest", "oldest first"],
  ["importance", "most important first"],
];
const PAGE_WORDS = { oldest: ["Older page", "Newer page"], importance: ["Page before", "Next page"] };

export async function page(view) {
  const asked = read(view.params);
  const offset = Math.max(0, Number(view.params.get("offset")) || 0);
  const { memories, total } = await api.get(
    "memories",
    { ...query(asked), limit: LIMIT, offset },
    { signal: view.signal },
  );
  const work = h("div", { class: "work-place" });
  const chosen = new Set();
  const bar = h("div", { class: "selection", hidden: true });
  const narrowed = [...LISTS, ...TEXTS].some((name) => asked[name]?.length);
  if (view.may("writer")) view.keys({ n: ["Remember something new", () => remember(view)] });
  return [
    heading(
      "Browse",
      view.may("writer") && button([icon("plus"), "Remember"], () => remember(view), { class: "main" }),
      total ? exportButtons(asked, total, work) : null,
    ),
    filters(asked, narrowed, view),
    work,
    h("p", { class: "told", role: "status" }, `${count(total, "memory", "memories")}${narrowed ? " fit" : ""}.`),
    memories.length
      ? h(
          "ul",
          { class: "list" },
          memories.map((memory) =>
            h(
              "li",
              null,
              card(memory, view, chosen, () => drawBar(bar, chosen, view)),
            ),
          ),
        )
      : nothing(narrowed, total, view),
    bar,
    pager({
      offset,
      limit: LIMIT,
      total,
      to: (there) => view.href("browse", { ...asked, offset: there || "" }),
      words: PAGE_WORDS[asked.order],
    }),
  ];
}

function read(params) {
  const asked = {};
  for (const name of LISTS) asked[name] = params.getAll(name);
  for (const name of TEXTS) asked[name] = params.get(name) ?? "";
  return asked;
}

function query(asked) {
  return {
    ...asked,
    tags: asked.tags
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean),
  };
}

function nothing(narrowed, total, view) {
  if (total) return empty("Nothing on this page", "Go back to an earlier one.");
  if (narrowed)
    return empty(
      "Nothing fits these filters",
      "Leave some of them out.",
      h("a", { class: "button", href: view.href("browse") }, "Show everything"),
    );
  return empty(
    "Nothing is kept here yet",
    view.may("writer")
      ? "Write the first memory, or let an agent capture what is said to it."
      : "When an agent keeps something in this scope, it appears here.",
    view.may("writer") && button("Remember something", () => remember(view), { class: "main" }),
  );
}

// -- filters --

function filters(asked, narrowed, view) {
  const text = input("text", asked.text, {
    type: "search",
    placeholder: "Contains these letters",
    data: { search: "" },
    aria: { label: "Contains these letters" },
  });
  return form(
    [
      h("div", { class: "search-line" }, text, button("Filter", null, { type: "submit" })),
      h(
        "details",
        { open: narrowed },
        h("summary", null, "Filters"),
        h(
          "div",
          { class: "fields" },
          field("Kind", select("kind", KINDS, asked.kind, { any: "every kind" })),
          field("About", input("about", asked.about)),
          field("Attribute", input("attribute", asked.attribute)),
          field("Speaker", input("speaker", asked.speaker)),
          field("Conversation", input("conversation", asked.conversation)),
          field("Tags", input("tags", asked.tags, { placeholder: "home, light" })),
          field("Order", select("order", ORDERS, asked.order)),
          field("As of", input("as_of", asked.as_of, { type: "date" })),
          h(
            "div",
            { class: "full tick-rows" },
            ticks("State", "states", STATES, asked.states.length ? asked.states : ["live"]),
            ticks("Trust", "trust", TRUSTS, asked.trust),
            ticks("Grade", "grade", GRADES, asked.grade),
            ticks("Source", "source", SOURCES, asked.source),
            tick("here", "Only this very scope, not those above", asked.here === "true"),
          ),
          narrowed
            ? h(
                "div",
                { class: "full acts" },
                h("a", { class: "button quiet", href: view.href("browse") }, "Leave all filters out"),
              )
            : null,
        ),
      ),
    ],
    (values) => view.stay({ ...values, states: values.states.join() === "live" ? [] : values.states }),
    { lists: LISTS, class: "panel filters", label: "Filters" },
  );
}

// -- several at once --

function card(memory, view, chosen, changed) {
  const mayChange = view.may("writer") && (memory.scope === view.scope || memory.scope.startsWith(`${view.scope}/`));
  const box = mayChange
    ? h("input", {
        type: "checkbox",
        aria: { label: `Select ${memory.id.slice(0, 8)}` },
        on: {
          change: (event) => {
            event.target.checked ? chosen.add(memory) : chosen.delete(memory);
            changed();
          },
        },
      })
    : null;
  return memoryCard(memory, view, { before: box });
}

function drawBar(bar, chosen, view) {
  bar.hidden = chosen.size === 0;
  const each = (verb) => async () => {
    let last = null;
    for (const memory of chosen) last = await api.post(`memories/${encodeURIComponent(memory.id)}/${verb}`, {});
    return last;
  };
  const several = (label, verb, past) =>
    doing(label, async () => {
      const many = chosen.size;
      await each(verb)();
      notify(`${count(many, "memory", "memories")} ${past}.`);
      view.again();
    });
  replace(
    bar,
    h("b", null, `${number(chosen.size)} selected`),
    several("Archive", "archive", "archived"),
    doing("Forget", async () => {
      const sure = await confirmed(
        "Forget these?",
        h(
          "p",
          null,
          "They are hidden at once. For some time they can be restored; then they are erased.",
        ),
        { act: `Forget ${chosen.size}` },
      );
      if (!sure) return;
      const many = chosen.size;
      const { receipt } = await each("forget")();
      notify(`${count(many, "memory", "memories")} forgotten. ${restorable(receipt, many === 1 ? "It" : "They")}`);
      view.again();
    }),
    several("Restore", "restore", "restored"),
  );
}

// -- export --

function exportButtons(asked, total, work) {
  const save = (form_) => async () => {
    const all = await longWork(work, "Export", ({ progress, signal }) => everything(asked, total, progress, signal));
    if (!all) return;
    if (form_ === "jsonl")
      download("memories.jsonl", all.map((each) => `${JSON.stringify(each)}\n`).join(""), "application/jsonl");
    else download("memories.json", JSON.stringify(all, null, 2));
    notify(`${count(all.length, "memory", "memories")} exported.`);
  };
  return [
    button([icon("download"), "JSON"], save("json"), { label: "Export what is shown as JSON" }),
    button([icon("download"), "JSONL"], save("jsonl"), { label: "Export what is shown as JSON lines" }),
  ];
}

async function everything(asked, total, progress, signal) {
  const found = [];
  for (let offset = 0; ; offset += EXPORT_PAGE) {
    const next = await api.get("memories", { ...query(asked), limit: EXPORT_PAGE, offset }, { signal });
    found.push(...next.memories);
    progress({ done: found.length, total: Math.max(next.total, total) });
    if (!next.memories.length || found.length >= next.total) return found;
  }
}

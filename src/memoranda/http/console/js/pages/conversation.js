// One conversation: what a model sees of it now, or all that was said; what summaries stand for; its working memory.

import { api } from "../api.js";
import { h, replace, said } from "../dom.js";
import { proof } from "../erasing.js";
import { note } from "../log.js";
import {
  area,
  button,
  confirmed,
  dialog,
  doing,
  empty,
  facts,
  field,
  form,
  heading,
  loading,
  notify,
  wrong,
} from "../parts.js";
import { count, number, plain, shortId, when } from "../words.js";

const LIMIT = 100;
const CLIPPED = 700;
const SPEAKS = { user: "User", assistant: "Assistant", system: "System", tool: "Tool" };

export async function page(view) {
  const reference = view.params.get("conversation");
  const talk = await api.get("conversations/one", { conversation: reference }, { signal: view.signal });
  const own = talk.scope === view.scope;
  const all = talk.archived || view.params.get("show") === "all";
  const after = Math.max(0, Number(view.params.get("after")) || 0);
  const [{ items }, working] = await Promise.all([
    api.get(
      "conversations/messages",
      { conversation: talk.id, after, limit: LIMIT, status: all ? "" : "active" },
      { signal: view.signal },
    ),
    own ? api.get("conversations/working", { conversation: talk.id }, { signal: view.signal }) : null,
  ]);
  return [
    heading("Conversation", acts(talk, own, view)),
    h(
      "div",
      { class: "named" },
      h("p", { class: "name" }, said(talk.name)),
      talk.metadata?.title ? h("p", null, said(talk.metadata.title)) : null,
      h("a", { href: view.href("conversations") }, "All conversations"),
    ),
    facts([
      ["Messages", number(talk.messages)],
      [
        "In view of a model",
        talk.archived ? "nothing: it is archived" : `${number(talk.active)}, ${count(talk.tokens, "token")}`,
      ],
      ["Scope", own ? null : said(talk.scope)],
      ["Begun", when(talk.created_at)],
      ["Used last", when(talk.updated_at)],
    ]),
    own ? workingPanel(talk, working?.value ?? "", view) : null,
    talk.archived ? null : tabs(talk, all, view),
    transcript(talk, items, { all, after }, view),
  ];
}

function tabs(talk, all, view) {
  const tab = (label, current, params) =>
    h(
      "a",
      {
        class: "button",
        href: view.href("conversation", { conversation: talk.id, ...params }),
        aria: { current: current ? "true" : null },
      },
      label,
    );
  return h(
    "div",
    { class: "tabs acts" },
    tab("As a model sees it", !all, {}),
    tab("All that was said", all, { show: "all" }),
  );
}

// -- messages --

function transcript(talk, items, { all, after }, view) {
  if (!items.length)
    return empty(
      after ? "Nothing was said after that" : "Nothing was said yet",
      "Messages stand here in their order, summaries among them.",
    );
  const list = h(
    "ol",
    { class: "messages" },
    items.map((each) => message(each, view)),
  );
  const more = h("div", { class: "acts" });
  const place = { last: items.at(-1).place };
  const offer = (got) => replace(more, got >= LIMIT ? doing("Show more", goOn) : null);
  async function goOn() {
    const next = await api.get(
      "conversations/messages",
      { conversation: talk.id, after: place.last, limit: LIMIT, status: all ? "" : "active" },
      { signal: view.signal },
    );
    list.append(...next.items.map((each) => message(each, view)));
    if (next.items.length) place.last = next.items.at(-1).place;
    offer(next.items.length);
  }
  offer(items.length);
  return h(
    "section",
    { class: "transcript", aria: { label: "Messages" } },
    after
      ? h(
          "p",
          { class: "help" },
          `From place ${number(after + 1)} on. `,
          h("a", { href: view.href("conversation", { conversation: talk.id, show: "all" }) }, "From the beginning"),
        )
      : null,
    list,
    more,
  );
}

// One message, or a summary with a way to what it stands for. `found` marks what a search was after.
export function message(each, view, { found = false } = {}) {
  const summary = each.kind === "summary";
  const style = [
    "message",
    `by-${each.role}`,
    summary && "is-summary",
    each.status !== "active" && "is-past",
    found && "is-found",
  ]
    .filter(Boolean)
    .join(" ");
  return h(
    "li",
    { class: style, data: { id: each.id } },
    h(
      "div",
      { class: "message-head" },
      h("b", null, summary ? "Summary" : (SPEAKS[each.role] ?? plain(each.role))),
      each.speaker ? said(each.speaker, { class: "quiet-said" }) : null,
      found ? h("span", { class: "chip good" }, "found") : null,
      !summary && each.status === "compacted" ? h("span", { class: "chip" }, "summed up") : null,
      h("span", { class: "memory-age" }, count(each.tokens, "token"), " · ", when(each.at)),
    ),
    body(each),
    each.tool_calls.map(call),
    summary ? drillDown(each, view) : null,
  );
}

// What a tool gave is folded; a long text, too.
function body(each) {
  if (!each.text) return null;
  const whole = h("p", { class: "message-text" }, said(each.text));
  if (each.role === "tool") {
    return h(
      "details",
      null,
      h(
        "summary",
        null,
        "What the tool gave",
        each.tool_call_id ? [" for ", said(each.tool_call_id, { class: "quiet-said" })] : null,
      ),
      whole,
    );
  }
  if (each.text.length <= CLIPPED) return whole;
  return h(
    "details",
    { class: "clipped" },
    h(
      "summary",
      null,
      said(`${each.text.slice(0, CLIPPED)} …`),
      h("span", { class: "more" }, ` show all ${number(each.text.length)} characters`),
    ),
    whole,
  );
}

function call({ id, name, arguments: given }) {
  return h(
    "details",
    { class: "call" },
    h("summary", null, "Used the tool ", said(name, { class: "quiet-said" })),
    h("p", { class: "help" }, "Call ", said(id, { class: "quiet-said" })),
    h("pre", { class: "json", tabIndex: 0 }, said(given)),
  );
}

function drillDown(summary, view) {
  const place = h("div", { class: "stood-for", aria: { live: "polite" } });
  const many = summary.metadata?.messages;
  let open = false;
  const toggle = doing(
    many ? `Show the ${count(many, "message")} it stands for` : "Show what it stands for",
    async () => {
      open = !open;
      toggle.setAttribute("aria-expanded", String(open));
      if (!open) {
        replace(toggle, "Show what it stands for");
        return replace(place);
      }
      replace(place, loading());
      try {
        const { items } = await api.get(
          "conversations/expand",
          { summary: summary.id, deep: false },
          { signal: view.signal },
        );
        replace(toggle, "Hide what it stands for");
        return replace(
          place,
          items.length
            ? h(
                "ol",
                { class: "messages" },
                items.map((each) => message(each, view)),
              )
            : h("p", { class: "help" }, "Nothing is left of it."),
        );
      } catch (error) {
        return replace(place, wrong(error));
      }
    },
  );
  toggle.setAttribute("aria-expanded", "false");
  return [
    h(
      "div",
      { class: "acts" },
      toggle,
      h(
        "span",
        { class: "help" },
        `made by ${plain(summary.metadata?.summarizer || "a summarizer")}, `,
        h("code", null, shortId(summary.id)),
      ),
    ),
    place,
  ];
}

// -- working memory --

function workingPanel(talk, text, view) {
  const shown = h(
    "div",
    null,
    text
      ? h("p", { class: "working-text" }, said(text))
      : h("p", { class: "help" }, "Empty. One text that survives every summary: what is open, what was chosen."),
  );
  const mayChange = view.may("writer") && !talk.archived;
  const edit = () => {
    const box = area("working", text, { rows: 5 });
    replace(
      shown,
      form(
        [
          field("Working memory", box),
          h(
            "div",
            { class: "acts" },
            button("Keep", null, { type: "submit", class: "main" }),
            button("Cancel", () => view.again()),
          ),
        ],
        async ({ working }) => {
          await api.put("conversations/working", { conversation: talk.name, text: working });
          notify(working.trim() ? "Working memory kept." : "Working memory cleared.");
          view.again();
        },
        { label: "Working memory" },
      ),
    );
    box.focus();
  };
  return h(
    "section",
    { class: "panel working" },
    h(
      "div",
      { class: "panel-head" },
      h("h2", null, "Working memory"),
      mayChange ? button(text ? "Edit" : "Write it", edit, { class: "quiet" }) : null,
    ),
    shown,
  );
}

// -- what may be done --

function acts(talk, own, view) {
  if (!own) return h("span", { class: "help" }, "Kept in a scope above: it is changed there.");
  const move = (verb, told) =>
    doing(plain(verb[0].toUpperCase() + verb.slice(1)), async () => {
      await api.post(`conversations/${verb}`, { conversation: talk.id });
      notify(told);
      view.again();
    });
  return [
    view.may("writer") && !talk.archived ? doing("Sum up", () => compact(talk, view)) : null,
    view.may("writer")
      ? talk.archived
        ? move("restore", "Restored.")
        : move("archive", "Archived: kept, searched only when asked for.")
      : null,
    view.may("admin") ? button("Erase", () => erase(talk, view), { class: "danger" }) : null,
  ];
}

async function compact(talk, view) {
  const { receipt } = await api.post("conversations/compact", { conversation: talk.id });
  notify(
    receipt.done
      ? `Summed up ${count(receipt.folded, "message")}: ${number(receipt.tokens_before)} tokens became ${number(receipt.tokens_after)}.`
      : `Nothing was summed up: ${receipt.note || "there is nothing old enough"}.`,
  );
  view.again();
}

async function erase(talk, view) {
  const body = [
    h(
      "p",
      null,
      "The conversation ",
      said(talk.name),
      ` with ${count(talk.messages, "message")} and all its summaries is destroyed in every file of the store. This cannot be undone.`,
    ),
    h("p", { class: "help" }, "Memories that were captured from it stay: erase them by themselves."),
  ];
  if (!(await confirmed("Erase this conversation", body, { act: "Erase", typed: "erase", danger: true }))) return;
  const place = h("div", null, loading("Erasing, then reading every file to prove it …"));
  dialog(
    "Erased",
    (close) => {
      api.post("conversations/erase", { conversation: talk.id }).then(
        (receipt) => {
          note("POST", "conversations/erase", receipt, view.scope);
          replace(place, proof({ receipt }, close), keepPrivate(talk.name, close));
        },
        (error) => replace(place, wrong(error, button("Close", close))),
      );
      return place;
    },
    { class: "wide", onClose: () => view.go("conversations") },
  );
}

function keepPrivate(name, close) {
  return h(
    "p",
    { class: "help" },
    "The host may go on with it. ",
    doing("Keep it private from now on", async () => {
      await api.post("conversations/keep-private", { conversation: name });
      close();
      notify("Nothing of this conversation is kept from now on.");
    }),
  );
}

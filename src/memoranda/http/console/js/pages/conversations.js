// Conversations: what was said, by conversation; a search over all of it; transcripts of other hosts taken in.

import { api } from "../api.js";
import { h, replace, said } from "../dom.js";
import { icon } from "../icons.js";
import {
  button,
  dialog,
  empty,
  field,
  form,
  heading,
  input,
  loading,
  notify,
  pager,
  select,
  tick,
  wrong,
} from "../parts.js";
import { upload } from "../uploading.js";
import { count, decimal, number, when } from "../words.js";
import { message } from "./conversation.js";

const LIMIT = 20;
const FORMATS = [
  ["auto", "found out by itself"],
  ["openai", "OpenAI-style messages"],
  ["openclaw", "OpenClaw"],
  ["claude_code", "Claude Code"],
  ["chatgpt", "export of ChatGPT"],
];

export async function page(view) {
  const asked = view.params.get("q") ?? "";
  const archived = view.params.get("archived") === "true";
  return [
    heading(
      "Conversations",
      view.may("writer")
        ? [
            button("Keep one private", () => privateDialog()),
            button([icon("plus"), "Import a transcript"], () => importDialog(view)),
          ]
        : null,
    ),
    searchForm(asked, archived, view),
    asked ? found(asked, archived, view) : await listed(archived, view),
  ];
}

function searchForm(asked, archived, view) {
  const query = input("q", asked, { type: "search", placeholder: "What was said about …", enterKeyHint: "search" });
  query.dataset.search = "";
  query.setAttribute("aria-label", "Search what was said");
  return form(
    [
      h("div", { class: "search-line" }, query, button("Search", null, { type: "submit", class: "main" })),
      tick("archived", "In archived conversations, too", archived && Boolean(asked)),
    ],
    ({ q, archived: also }) => view.stay({ q: q.trim(), archived: also === "true" ? "true" : "" }),
    { label: "Search what was said" },
  );
}

// -- the list --

async function listed(archived, view) {
  const offset = Math.max(0, Number(view.params.get("offset")) || 0);
  const { conversations, total } = await api.get(
    "conversations",
    { limit: LIMIT, offset, archived },
    { signal: view.signal },
  );
  const tab = (label, put) =>
    h(
      "a",
      {
        class: "button",
        href: view.href("conversations", { archived: put }),
        aria: { current: put === archived ? "true" : null },
      },
      label,
    );
  const tabs = h("div", { class: "tabs acts" }, tab("In use", false), tab("Archived", true));
  if (!conversations.length)
    return [
      tabs,
      archived
        ? empty("No conversation is archived", "Archived ones are kept, and searched only when asked for.")
        : none(view),
    ];
  return [
    tabs,
    h("p", { class: "told", role: "status" }, `${count(total, "conversation")}, the one used last first.`),
    h(
      "ul",
      { class: "list talks" },
      conversations.map((each) => h("li", null, card(each, view))),
    ),
    pager({
      offset,
      limit: LIMIT,
      total,
      to: (there) => view.href("conversations", { archived, offset: there || "" }),
    }),
  ];
}

function none(view) {
  return empty(
    "No conversation is kept here",
    "A host keeps one with “conversations.append”; a transcript of another host can be imported.",
    view.may("writer") ? button("Import a transcript", () => importDialog(view), { class: "main" }) : null,
  );
}

function card(talk, view) {
  const summed = talk.messages - talk.active;
  return h(
    "article",
    { class: "talk" },
    h(
      "h2",
      null,
      h("a", { href: view.href("conversation", { conversation: talk.id }) }, said(talk.name, { class: "quiet-said" })),
    ),
    talk.metadata?.title ? h("p", { class: "talk-title" }, said(talk.metadata.title)) : null,
    h(
      "p",
      { class: "help" },
      count(talk.messages, "message"),
      summed > 0 && !talk.archived ? ", older ones summed up" : null,
      ` · ${count(talk.tokens, "token")} in view · used `,
      when(talk.updated_at),
    ),
    h(
      "div",
      { class: "chips" },
      talk.archived ? h("span", { class: "chip" }, "archived") : null,
      talk.scope === view.scope ? null : h("span", { class: "chip" }, icon("scope"), said(talk.scope)),
    ),
  );
}

// -- searching --

function found(asked, archived, view) {
  const place = h("section", { class: "results", aria: { label: "Results" } }, loading("Searching …"));
  api.post("conversations/search", { query: asked, archived, limit: 10 }, { signal: view.signal }).then(
    ({ passages, names, receipt }) => view.current() && replace(place, passagesOf(passages, names, receipt, view)),
    (error) => view.current() && error.name !== "AbortError" && replace(place, wrong(error)),
  );
  return place;
}

function passagesOf(passages, names, receipt, view) {
  if (!passages.length) {
    return empty(
      "Nothing of it was said here",
      `${number(receipt.searched)} messages were looked at. Try other words${receipt.abstained ? `: ${receipt.abstained}` : ""}.`,
    );
  }
  return [
    h(
      "p",
      { class: "told", role: "status" },
      `${count(passages.length, "passage")} of ${count(receipt.searched, "message")}.`,
    ),
    (receipt.degraded ?? []).map((each) => h("p", { class: "warned" }, said(each))),
    passages.map((each) => passage(each, names[each.conversation] ?? each.conversation, view)),
  ];
}

function passage(each, name, view) {
  const hits = new Set(each.hits);
  const first = each.messages.find((one) => hits.has(one.number)) ?? each.messages[0];
  const where = view.href("conversation", {
    conversation: each.conversation,
    show: "all",
    after: Math.max(0, (first?.place ?? 1) - 3),
  });
  return h(
    "section",
    { class: "panel" },
    h(
      "div",
      { class: "memory-head" },
      h("span", { class: "score" }, h("b", null, decimal(each.score))),
      h("h2", null, h("a", { href: where }, said(name, { class: "quiet-said" }))),
    ),
    h(
      "ol",
      { class: "messages" },
      each.messages.map((one) => message(one, view, { found: hits.has(one.number) })),
    ),
    each.truncated ? h("p", { class: "help" }, "More was said around it: open the conversation.") : null,
  );
}

// -- importing, keeping private --

function importDialog(view) {
  dialog(
    "Import a transcript",
    (close) => {
      const file = h("input", { type: "file", name: "file", id: "in-file", required: true });
      const came = h("div", { class: "answer", aria: { live: "polite" } });
      return [
        form(
          [
            h(
              "p",
              { class: "help" },
              "A file of messages: JSON, or one JSON object a line. Done again, only what is new is added; what cannot be read is told by its line.",
            ),
            field("File", file),
            field("Format", select("format", FORMATS, "auto")),
            field("All of it under one name", input("conversation"), {
              help: "Empty: each conversation under its own.",
            }),
            h(
              "div",
              { class: "acts" },
              button("Import", null, { type: "submit", class: "main" }),
              button("Close", close),
            ),
          ],
          async ({ format, conversation }) => {
            replace(came, loading("Reading the file …"));
            try {
              replace(
                came,
                imported(
                  await upload("conversations/import", file.files[0], { format, conversation: conversation.trim() }),
                ),
              );
            } catch (error) {
              replace(came);
              throw error;
            }
          },
          { label: "Import a transcript" },
        ),
        came,
      ];
    },
    { onClose: () => view.again() },
  );
}

function imported({ format, conversations, added, known, bad, bad_total: badTotal, private: kept, left_out: left }) {
  const out = Object.entries(left ?? {}).filter(([, many]) => many);
  return h(
    "div",
    { class: "panel" },
    h("p", { class: "proof-big", role: "status" }, `${count(added, "message")} added.`),
    h(
      "p",
      null,
      `${count(conversations.length, "conversation")} of the format ${format}, ${count(known, "message")} known before.`,
    ),
    kept ? h("p", { class: "help" }, `${count(kept, "message")} of private conversations were not kept.`) : null,
    out.length
      ? h(
          "p",
          { class: "help" },
          "Left out: ",
          said(out.map(([why, many]) => `${why} (${number(many)})`).join(", ")),
          ".",
        )
      : null,
    badTotal
      ? [
          h("p", { class: "warned" }, `${count(badTotal, "line")} could not be read:`),
          h(
            "ul",
            { class: "help" },
            bad.slice(0, 10).map(([line, why]) => h("li", null, `line ${number(line)}: `, said(why))),
          ),
        ]
      : null,
  );
}

function privateDialog() {
  dialog("Keep a conversation private", (close) =>
    form(
      [
        h("p", null, "From then on nothing of this conversation is kept. What was kept before has to be erased first."),
        field("Name of the conversation", input("name", "", { required: true })),
        h(
          "div",
          { class: "acts" },
          button("Keep it private", null, { type: "submit", class: "main" }),
          button("Cancel", close),
        ),
      ],
      async ({ name }) => {
        await api.post("conversations/keep-private", { conversation: name });
        close();
        notify("Nothing of this conversation is kept from now on.");
      },
      { label: "Keep a conversation private" },
    ),
  );
}

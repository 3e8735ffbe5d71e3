// Facts: what is known about things, how sure it is now, and who says so.

import { api } from "../api.js";
import { h, said } from "../dom.js";
import { icon } from "../icons.js";
import { memoryLink, restorable } from "../memories.js";
import { asJson } from "../remembering.js";
import {
  button,
  confirmed,
  dialog,
  doing,
  empty,
  field,
  form,
  heading,
  input,
  notify,
  select,
  table,
  tick,
} from "../parts.js";
import { BASES, count, percent, plain, value, when } from "../words.js";

const MOST = 500;
const ATTRIBUTES = ["nickname", "alias", "purpose", "note", "likes", "dislikes", "location", "preference", "schedule"];

export async function page(view) {
  const asked = {
    q: view.params.get("q") ?? "",
    about: view.params.get("about") ?? "",
    as_of: view.params.get("as_of") ?? "",
  };
  const facts = asked.q
    ? (await api.post("facts/ask", { question: asked.q, limit: 50 }, { signal: view.signal })).facts
    : (
        await api.get(
          asked.about ? "facts/about" : "facts",
          asked.about ? { subject: asked.about, as_of: asked.as_of } : { as_of: asked.as_of, limit: MOST },
          { signal: view.signal },
        )
      ).items;
  const mayWrite = view.may("writer");
  view.keys(mayWrite ? { n: ["A new fact", () => add(view)] } : {});
  return [
    heading("Facts", mayWrite && button([icon("plus"), "New fact"], () => add(view), { class: "main" })),
    asking(asked, view),
    h(
      "p",
      { class: "told", role: "status" },
      `${count(facts.length, "fact")} about ${count(new Set(facts.map((each) => each.memory.about)).size, "thing")}.`,
    ),
    facts.length ? subjects(facts, mayWrite, view) : nothing(asked, mayWrite, view),
  ];
}

function asking(asked, view) {
  const question = input("q", asked.q, {
    type: "search",
    placeholder: "what do we call light.office?",
    data: { search: "" },
  });
  return form(
    [
      h(
        "div",
        { class: "fields" },
        field("Ask", question, { class: "twice" }),
        field("About", input("about", asked.about, { placeholder: "light.office, or a name of it" })),
        field("As of", input("as_of", asked.as_of, { type: "date" })),
        h("div", { class: "acts at-end" }, button("Show", null, { type: "submit" })),
      ),
    ],
    (values) => view.stay(values),
    { class: "panel", label: "Facts" },
  );
}

function nothing(asked, mayWrite, view) {
  if (asked.q || asked.about)
    return empty(
      "Nothing is known of that",
      "Ask in other words, or show all facts.",
      h("a", { class: "button", href: view.href("facts") }, "All facts"),
    );
  return empty(
    "No facts yet",
    "A fact says one thing about a subject: light.office, nickname, reading lamp.",
    mayWrite && button("New fact", () => add(view), { class: "main" }),
  );
}

function subjects(facts, mayWrite, view) {
  const bySubject = grouped(facts);
  return [...bySubject].map(([subject, known]) =>
    h(
      "section",
      { class: "panel subject" },
      h(
        "h2",
        null,
        subject ? h("a", { href: view.href("facts", { about: subject }) }, said(subject)) : "about nothing named",
      ),
      table(
        `Facts about ${subject}`,
        ["Attribute", "Value", "Confidence now", "Known", "Changed", ""],
        known.map((fact) => [
          said(fact.memory.attribute || "–"),
          h(
            "span",
            null,
            memoryLink(fact.memory.id, view, said(value(fact.memory.value ?? fact.memory.text))),
            fact.memory.trust !== "trusted" ? h("span", { class: "chip warn" }, fact.memory.trust) : null,
          ),
          percent(fact.confidence),
          plain(fact.source ?? fact.memory.basis),
          when(fact.memory.updated_at),
          mayWrite && fact.memory.scope === view.scope
            ? doing("Forget", () => forget(fact.memory, view), { class: "quiet" })
            : null,
        ]),
      ),
    ),
  );
}

function grouped(facts) {
  const found = new Map();
  for (const fact of facts) found.set(fact.memory.about, [...(found.get(fact.memory.about) ?? []), fact]);
  return found;
}

async function forget(memory, view) {
  const sure = await confirmed(
    "Forget this fact?",
    h("p", null, said(memory.text), h("br"), "For some time it can be restored."),
    { act: "Forget" },
  );
  if (!sure) return;
  const { receipt } = await api.post(`memories/${encodeURIComponent(memory.id)}/forget`, {});
  notify(`Forgotten. ${restorable(receipt)}`, {
    act: "Undo",
    onAct: () =>
      api
        .post(`memories/${encodeURIComponent(memory.id)}/restore`, {})
        .then(view.again, (error) => notify(error.detail, { bad: true })),
  });
  view.again();
}

function add(view) {
  dialog("New fact", (close) =>
    form(
      [
        h(
          "div",
          { class: "fields" },
          field(
            "About",
            input("about", view.params.get("about") ?? "", { required: true, placeholder: "light.office" }),
          ),
          attributeField(),
          field("Value", input("value", "", { required: true }), { help: "Text, or JSON." }),
          field("Basis", select("basis", BASES, "stated")),
          field("Holds until", input("until", "", { type: "date" })),
        ),
        field("In words", input("text", "", { placeholder: "left empty, it is put into words" })),
        tick("many", "Beside what is there: a thing may have several of these", false),
        h(
          "div",
          { class: "acts" },
          button("Keep the fact", null, { type: "submit", class: "main" }),
          button("Cancel", close),
        ),
      ],
      async (values) => {
        const body = {
          about: values.about,
          attribute: values.attribute,
          value: asJson(values.value),
          basis: values.basis,
        };
        if (values.text) body.text = values.text;
        if (values.until) body.until = values.until;
        if (values.many) body.many = true;
        const kept = await api.post("facts", body);
        close();
        notify(
          kept.receipt.superseded
            ? "Kept; what was known before is in its history."
            : kept.receipt.outcome === "reinforced"
              ? "Known already, and now surer."
              : "Kept.",
        );
        view.again();
      },
    ),
  );
}

// The usual attributes are offered; any other may be written.
function attributeField() {
  const listed = h(
    "datalist",
    { id: "attributes" },
    ATTRIBUTES.map((each) => h("option", { value: each })),
  );
  const made = field(
    "Attribute",
    input("attribute", "", { required: true, placeholder: "nickname", list: "attributes" }),
  );
  made.append(listed);
  return made;
}

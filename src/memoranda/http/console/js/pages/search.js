// Search: what comes back for a question, why, and why not something else; and the pack that a model would be given.

import { api } from "../api.js";
import { h, replace, said } from "../dom.js";
import { advice, anyReceipt, hitExplanation, recallReceipt, whyNot } from "../explain.js";
import { memoryCard } from "../memories.js";
import { button, download, empty, field, form, heading, input, loading, select, ticks, wrong } from "../parts.js";
import { count, decimal, KINDS, MODES, number, POLICIES, SOURCES, STATES, TRUSTS } from "../words.js";

const LISTS = ["kind", "source", "states", "trust"];
const FORMATS = ["xml", "markdown", "json"];
const NARROWING = [
  ...LISTS,
  "about",
  "speaker",
  "tags",
  "time_after",
  "time_before",
  "importance_min",
  "as_of",
  "policy",
  "mode",
  "limit",
];

export async function page(view) {
  const asked = read(view.params);
  const results = h("section", { class: "results", aria: { label: "Results" } });
  const showing = view.params.get("show") === "pack" ? "pack" : "hits";
  if (asked.q) {
    replace(results, loading("Searching …"));
    show(results, asked, showing, view);
  } else {
    replace(
      results,
      empty(
        "Ask as an agent would",
        "Such as “which lamp does she read by?”. Each hit says why it came back; nothing relevant is an answer, too.",
      ),
    );
  }
  return [heading("Search"), searchForm(asked, showing, view), results];
}

function read(params) {
  const asked = { q: params.get("q") ?? "" };
  for (const name of [...NARROWING, "budget", "format"])
    asked[name] = LISTS.includes(name) ? params.getAll(name) : (params.get(name) ?? "");
  return asked;
}

// -- asking --

function searchForm(asked, showing, view) {
  const narrowed = NARROWING.some((name) => asked[name]?.length);
  const query = input("q", asked.q, {
    type: "search",
    placeholder: "What do you want to know?",
    enterKeyHint: "search",
    data: { search: "" },
    aria: { label: "Question" },
  });
  return form(
    [
      h("div", { class: "search-line" }, query, button("Search", null, { type: "submit", class: "main" })),
      h(
        "details",
        { open: narrowed },
        h("summary", null, "Options"),
        h(
          "div",
          { class: "fields" },
          field("Policy", select("policy", POLICIES, asked.policy, { usual: "balanced" })),
          field("Mode", select("mode", MODES, asked.mode, { usual: "asked" })),
          field("At most", input("limit", asked.limit, { type: "number", min: "1", max: "100", placeholder: "5" })),
          field("As of", input("as_of", asked.as_of, { type: "date" })),
          field("About", input("about", asked.about)),
          field("Speaker", input("speaker", asked.speaker)),
          field("Tags", input("tags", asked.tags, { placeholder: "home, light" })),
          field(
            "Importance at least",
            input("importance_min", asked.importance_min, { type: "number", min: "0", max: "1", step: "0.05" }),
          ),
          field("Happened after", input("time_after", asked.time_after, { type: "date" })),
          field("Happened before", input("time_before", asked.time_before, { type: "date" })),
          h(
            "div",
            { class: "full tick-rows" },
            ticks("Kind", "kind", KINDS, asked.kind),
            ticks("State", "states", STATES, asked.states.length ? asked.states : ["live"]),
            ticks("Trust", "trust", TRUSTS, asked.trust),
            ticks("Source", "source", SOURCES, asked.source),
          ),
        ),
      ),
    ],
    (values) => {
      const states = values.states.join() === "live" ? [] : values.states;
      view.stay({
        ...values,
        states,
        show: showing === "pack" ? "pack" : "",
        budget: asked.budget,
        format: asked.format,
      });
    },
    { lists: LISTS, class: "search", label: "Search" },
  );
}

// The question as the server takes it: only what was chosen.
function request(asked) {
  const body = { query: asked.q };
  const put = (name, given) => {
    if (given !== "" && given?.length !== 0) body[name] = given;
  };
  for (const name of ["policy", "mode", "as_of", "about", "speaker", "time_after", "time_before", ...LISTS])
    put(name, asked[name]);
  put("limit", asked.limit && Number(asked.limit));
  put("importance_min", asked.importance_min && Number(asked.importance_min));
  put(
    "tags",
    asked.tags
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean),
  );
  return body;
}

// -- answers --

async function show(results, asked, showing, view) {
  const tabs = h(
    "div",
    { class: "tabs acts" },
    tab("Hits", showing === "hits", view, { ...asked, show: "" }),
    tab("As the model sees it", showing === "pack", view, { ...asked, show: "pack" }),
  );
  try {
    const made = showing === "pack" ? await packed(asked, view) : await recalled(asked, view);
    if (view.current()) replace(results, tabs, made);
  } catch (error) {
    if (view.current() && error.name !== "AbortError") replace(results, tabs, wrong(error));
  }
}

function tab(label, current, view, params) {
  return h(
    "a",
    { class: "button", href: view.href("search", params), aria: { current: current ? "true" : null } },
    label,
  );
}

async function recalled(asked, view) {
  const found = await api.post("recall", request(asked), { signal: view.signal });
  const { hits, receipt, documents } = found;
  return [
    h(
      "p",
      { class: "told", role: "status" },
      hits.length
        ? `${count(hits.length, "memory", "memories")} of ${number(receipt.searched)} searched.`
        : "Nothing relevant was found.",
    ),
    hits.length
      ? h(
          "ol",
          { class: "hits" },
          hits.map((hit) => h("li", null, hitCard(hit, view))),
        )
      : abstained(receipt, asked, view),
    documents?.length ? passages(documents, view) : null,
    whyNotForm(asked, view),
    h(
      "details",
      { class: "panel" },
      h("summary", null, "Receipt: what was searched, proposed and dropped"),
      recallReceipt(receipt, view),
      h(
        "div",
        { class: "acts" },
        button("Download the receipt", () => download("recall-receipt.json", JSON.stringify(receipt, null, 2))),
      ),
    ),
  ];
}

function hitCard(hit, view) {
  return memoryCard(hit.memory, view, {
    before: h(
      "span",
      { class: "score" },
      h("b", null, decimal(hit.score)),
      h("span", { class: "score-track", aria: { hidden: true } }, h("span", { class: "score-fill", share: hit.score })),
      h("span", { class: "only-read" }, " relevance from 0 to 1"),
    ),
    after: h("details", { class: "why" }, h("summary", null, "Why this one"), hitExplanation(hit.receipt)),
  });
}

function abstained(receipt, asked, view) {
  const broader = receipt.request?.policy !== "broad";
  return empty(
    "Nothing relevant, and that is an answer",
    `${receipt.abstained ? `Because: ${receipt.abstained}. ` : ""}${advice(receipt)}`,
    broader
      ? h("a", { class: "button", href: view.href("search", { ...asked, policy: "broad" }) }, "Show what comes nearest")
      : null,
  );
}

function passages(documents, view) {
  return h(
    "section",
    { class: "passages" },
    h("h2", null, "Passages of documents"),
    h("p", { class: "help" }, "Memories were few, so documents were looked at as well. Nobody remembered these."),
    h(
      "ul",
      null,
      documents.map((each) =>
        h(
          "li",
          { class: "passage" },
          h(
            "a",
            { href: view.href("document", { source: each.source, path: each.path, from: each.start_line }) },
            said(each.citation ?? each.path),
          ),
          h("span", { class: "help" }, ` ${decimal(each.score)}`),
          h("p", null, said(each.snippet)),
        ),
      ),
    ),
  );
}

function whyNotForm(asked, view) {
  const answer = h("div", { class: "answer", aria: { live: "polite" } });
  const id = input("reference", view.params.get("why") ?? "", {
    placeholder: "id, or its beginning",
    spellcheck: false,
    aria: { label: "Id of a memory" },
  });
  const ask = async (reference) => {
    if (!reference) return;
    const told = await api.post("why-not", { query: asked.q, reference }, { signal: view.signal });
    replace(answer, whyNot(told, view));
  };
  if (id.value) ask(id.value).catch((error) => error.name !== "AbortError" && replace(answer, wrong(error)));
  return h(
    "details",
    { class: "panel", open: Boolean(id.value) },
    h("summary", null, "Why not this one?"),
    form(
      [
        h("div", { class: "search-line" }, id, button("Explain", null, { type: "submit" })),
        h(
          "p",
          { class: "help" },
          "Tells at which step a memory was left out for this question. The page of a memory shows its id, and asks this for you.",
        ),
        answer,
      ],
      ({ reference }) => ask(reference.trim()),
      { label: "Why not" },
    ),
  );
}

// -- the pack --

async function packed(asked, view) {
  const body = { query: asked.q };
  for (const name of ["policy", "mode", "format"]) if (asked[name]) body[name] = asked[name];
  for (const name of ["limit", "budget"]) if (asked[name]) body[name] = Number(asked[name]);
  const pack = await api.post("pack", body, { signal: view.signal });
  const left = pack.receipt.left_out ?? [];
  return [
    form(
      [
        h(
          "div",
          { class: "fields" },
          field("Budget in tokens", input("budget", asked.budget, { type: "number", min: "1", placeholder: "800" })),
          field("Format", select("format", FORMATS, asked.format || "xml")),
          h("div", { class: "acts at-end" }, button("Pack again", null, { type: "submit" })),
        ),
      ],
      (values) => view.stay({ ...asked, show: "pack", ...values }),
      { label: "Pack" },
    ),
    h(
      "p",
      { class: "told", role: "status" },
      `${count(pack.tokens, "token")} of ${number(pack.receipt.budget)}: ${count(pack.items.length, "memory", "memories")}, ${count(pack.receipt.profile ?? 0, "line")} of the profile.`,
    ),
    pack.text
      ? h("pre", { class: "pack", tabIndex: 0, aria: { label: "The pack" } }, said(pack.text))
      : empty(
          "The pack is empty",
          `Because: ${pack.receipt.abstained || "nothing to pack"}. An agent is then given nothing.`,
        ),
    left.length
      ? h(
          "p",
          { class: "help" },
          `Left out: ${left.map((each) => `${each.id.slice(0, 8)} (${each.reason})`).join(", ")}.`,
        )
      : null,
    h("details", { class: "panel" }, h("summary", null, "Receipt of the pack"), anyReceipt(pack.receipt)),
  ];
}

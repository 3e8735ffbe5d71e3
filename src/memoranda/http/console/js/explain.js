// Why a recall gave what it gave, and why not something else: receipts in words and small bars.

import { meter, bars } from "./charts.js";
import { h, said } from "./dom.js";
import { memoryLink } from "./memories.js";
import { facts } from "./parts.js";
import { count, decimal, number, plain } from "./words.js";

const PARTS = {
  lexical: "has the words asked for",
  "lexical around": "words stand beside it",
  semantic: "means the same",
  "semantic around": "meant beside it",
  closeness: "words stand close together",
  speaker: "said by who was named",
  time: "from the time that was named",
  about: "is about what was named",
  conversation: "of the same conversation",
};
const FACTORS = {
  recency: "how long ago it happened",
  importance: "its grade",
  confidence: "how sure it is",
  speaker: "who said it",
  kind: "the kind that was asked for",
  update: "a correction, or corrected",
  repeat: "shown a moment ago",
  exactness: "has it exactly",
};
const LANES = [
  ["lexical_rank", "words"],
  ["semantic_rank", "meaning"],
  ["structured_rank", "time"],
];
const ABSTAINED = {
  "nothing to search": "No memory that this scope sees fits. Check the scope and the filters.",
  "no query": "Ask for something.",
  "trivial prompt": "Nothing is asked in it. Ask a question.",
  "only small words": "Use a word that the memory would have.",
  "nothing happened then": "Name another time, or ask for the thing.",
};
const NOT_RETURNED = {
  scope: "Check the id and the scope.",
  ledger: "Choose its state, or an earlier moment, among the options.",
  trust: "Choose its trust among the options, if you answer for it.",
  filter: "Leave that filter out.",
  time: "Name another time, or ask for the thing.",
  lanes: "Use words that it has, or narrow by subject, kind or speaker.",
  bar: "Use the policy “broad”.",
  admission: "Use a larger limit, the mode “asked”, or the trust “untrusted”.",
  limit: "Use a larger limit.",
};

// What to try when nothing came back.
export function advice(receipt) {
  if (ABSTAINED[receipt.abstained]) return ABSTAINED[receipt.abstained];
  if (Object.keys(receipt.dropped ?? {}).some((reason) => reason.endsWith("nobody asked"))) {
    return "The mode “asked” also shows what nobody may be given unasked.";
  }
  if (receipt.request?.policy === "broad") return "Ask in other words, or with fewer filters.";
  return "The policy “broad” shows what comes nearest.";
}

// Why one hit came back: how it was found, what speaks for it, what weighs it.
export function hitExplanation(receipt) {
  const found = LANES.filter(([name]) => receipt[name] !== null && receipt[name] !== undefined).map(
    ([name, lane]) => `${lane} (place ${receipt[name]})`,
  );
  const parts = Object.entries(receipt.parts ?? {}).sort((one, other) => other[1] - one[1]);
  const factors = Object.entries(receipt.factors ?? {});
  const evidence = parts.reduce((sum, [, weight]) => sum + weight, 0);
  return h(
    "div",
    { class: "explanation" },
    h(
      "p",
      null,
      found.length ? `Found by ${found.join(" and ")}.` : "Found beside a hit of its conversation.",
      receipt.tier ? ` Let in by the grade “${plain(receipt.tier)}”.` : "",
    ),
    h("h4", null, "What speaks for it"),
    parts.map(([name, weight]) => meter(PARTS[name] ?? plain(name), weight, { text: decimal(weight, 3) })),
    h(
      "p",
      { class: "help" },
      `Together ${decimal(evidence, 3)}, which is a relevance of ${decimal(receipt.relevance, 3)}.`,
    ),
    factors.length
      ? [
          h("h4", null, "What makes it weigh more or less"),
          h(
            "ul",
            { class: "factors" },
            factors.map(([name, by]) =>
              h(
                "li",
                { class: by < 1 ? "less" : "more" },
                h("b", null, `× ${decimal(by)}`),
                ` ${FACTORS[name] ?? plain(name)}`,
              ),
            ),
          ),
        ]
      : null,
    h("p", { class: "sum" }, sum(receipt, factors)),
  );
}

function sum(receipt, factors) {
  const product = factors.reduce((so_far, [, by]) => so_far * by, receipt.relevance);
  const times = factors.map(([, by]) => ` × ${decimal(by)}`).join("");
  return `${decimal(receipt.relevance, 3)}${times} = ${decimal(receipt.score, 3)}${product > 1 ? " (at most 1)" : ""}`;
}

// The recall as a whole.
export function recallReceipt(receipt, view) {
  const dropped = Object.entries(receipt.dropped ?? {}).map(([label, value]) => ({ label, value, hue: 5 }));
  return h(
    "div",
    { class: "receipt" },
    degraded(receipt),
    facts([
      ["Searched", count(receipt.searched, "memory", "memories")],
      ["With a vector", number(receipt.with_vector)],
      ["In", said((receipt.scopes ?? []).join(", "))],
      ["Proposed", `${number(receipt.proposed)} by ${(receipt.lanes ?? []).join(", ") || "no lane"}`],
      ["Returned", number(receipt.returned)],
      ["Bar", `${decimal(receipt.bar)} (${receipt.request?.policy ?? "balanced"})`],
      ["Tier reached", plain(receipt.tier)],
      ["Embedder", h("code", null, receipt.embedder)],
      ["Sequence", number(receipt.sequence)],
      ["Digest", h("code", null, receipt.digest)],
    ]),
    dropped.length ? bars("Not returned, by reason", dropped, { unit: "memories" }) : null,
    lanesTop(receipt.tops, view),
  );
}

export function degraded(receipt) {
  return (receipt.degraded ?? []).map((trouble) =>
    h("p", { class: "warned" }, "Worked without a part: ", said(trouble)),
  );
}

function lanesTop(tops, view) {
  const lists = Object.entries(tops ?? {}).filter(([, ids]) => ids?.length);
  if (!lists.length || !view) return null;
  return h(
    "details",
    null,
    h("summary", null, "What each lane put first"),
    h(
      "div",
      { class: "panels" },
      lists.map(([lane, ids]) =>
        h(
          "div",
          null,
          h("h4", null, lane),
          h(
            "ol",
            { class: "tops" },
            ids.slice(0, 10).map((id) => h("li", null, memoryLink(id, view))),
          ),
        ),
      ),
    ),
  );
}

// Why one memory did not come back, or that it did.
export function whyNot(told, view) {
  const numbers = told.numbers ?? {};
  const compared = ["score", "relevance", "bar"].filter((name) => name in numbers);
  const parts = Object.entries(numbers).filter(([name]) => !compared.includes(name));
  const next = !told.returned && (ABSTAINED[told.reason] ?? NOT_RETURNED[told.step]);
  return h(
    "div",
    { class: "why-not" },
    h(
      "p",
      null,
      told.step === "scope" ? h("code", null, told.id) : memoryLink(told.id, view),
      told.returned ? " was returned: " : " was not returned: ",
      h("b", null, said(told.reason)),
      ` (step: ${plain(told.step)}).`,
    ),
    compared.map((name) => meter(name, numbers[name], { text: decimal(numbers[name], 3) })),
    parts.length
      ? [
          h("h4", null, "What speaks for it"),
          parts.map(([name, weight]) => meter(PARTS[name] ?? plain(name), weight, { text: decimal(weight, 3) })),
        ]
      : null,
    next && h("p", { class: "help" }, `What would bring it back: ${next}`),
  );
}

// Any receipt: its numbers as they are, lists by their length and ids.
export function anyReceipt(receipt) {
  return h("pre", { class: "json", tabIndex: 0 }, JSON.stringify(receipt, null, 2));
}

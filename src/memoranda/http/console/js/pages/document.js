// One document as it is now on the disk, with the numbers of its lines, part by part.

import { api } from "../api.js";
import { h, said } from "../dom.js";
import { button, copy, empty, heading } from "../parts.js";
import { number } from "../words.js";

const LINES = 100;

export async function page(view) {
  const path = view.params.get("path");
  const source = view.params.get("source") ?? "";
  const from = Math.max(1, Number(view.params.get("from")) || 1);
  const to = Number(view.params.get("to")) || 0;
  // What is cited is shown with a little of what stands before it.
  const first = to ? Math.max(1, from - 3) : from;
  const found = await api.get(
    "documents/read",
    { path, source, from_line: first, lines: LINES },
    { signal: view.signal },
  );
  const lines = found.text.split("\n");
  const there = (at) => view.href("document", { source, path, from: at });
  const last = first + lines.length - 1;
  const cited = to ? `${path}#L${from}-L${to}` : `${path}#L${first}-L${last}`;
  return [
    heading("Document", found.text ? button("Copy the citation", () => copy(cited, "Citation")) : null),
    h(
      "div",
      { class: "named" },
      h("p", { class: "name" }, said(path)),
      source ? h("p", null, "in ", said(source, { class: "quiet-said" })) : null,
      h("a", { href: view.href("documents") }, "All documents"),
    ),
    found.text
      ? [
          h(
            "p",
            { class: "told", role: "status" },
            `Lines ${number(first)} to ${number(last)}, as the file is now. Secrets are left out.`,
          ),
          h(
            "pre",
            { class: "lines-read", tabIndex: 0, aria: { label: "The document" } },
            lines.map((line, at) => row(line, first + at, to && first + at >= from && first + at <= to)),
          ),
        ]
      : empty(
          first > 1 ? "There is no such line" : "The file is not there, or is empty",
          "It may have been moved since the search: sync, then search again.",
        ),
    h(
      "nav",
      { class: "pager", aria: { label: "Parts" } },
      first > 1
        ? h("a", { class: "button", href: there(Math.max(1, first - LINES)) }, "Earlier part")
        : h("span", null),
      found.next_from
        ? h("a", { class: "button", href: there(found.next_from) }, "Next part")
        : h("span", { class: "help" }, "The end"),
    ),
  ];
}

// The number is no part of the text: it is neither selected nor copied.
function row(line, at, cited) {
  return h(
    "span",
    { class: cited ? "line is-cited" : "line" },
    h("span", { class: "line-number", aria: { hidden: true }, data: { line: at } }),
    said(line),
    "\n",
  );
}

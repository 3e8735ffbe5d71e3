// Receipts: the last operations of this session, each with what it did and why. They go when the page is closed.

import { api } from "../api.js";
import { h, said } from "../dom.js";
import { anyReceipt, recallReceipt } from "../explain.js";
import { clearNotes, noted } from "../log.js";
import { button, doing, download, empty, heading, notify, table } from "../parts.js";
import { count, number, plain, when } from "../words.js";

export async function page(view) {
  const receipts = noted();
  return [
    heading(
      "Receipts",
      receipts.length
        ? [
            button("Download all", () => download("receipts.json", JSON.stringify(receipts, null, 2))),
            button("Clear", () => {
              clearNotes();
              view.again();
            }),
          ]
        : null,
    ),
    h(
      "p",
      { class: "help" },
      "What this tab has asked for since it was opened. A receipt has ids, counts and numbers, never the text of a memory.",
    ),
    receipts.length
      ? [
          h("p", { class: "told", role: "status" }, `${count(receipts.length, "receipt")}, newest first.`),
          h(
            "ul",
            { class: "list" },
            receipts.map((each) => h("li", null, receipt(each, view))),
          ),
        ]
      : empty(
          "No receipts yet",
          "Search for something, or change something, and its receipt stands here.",
          h("a", { class: "button main", href: view.href("search") }, "Search"),
        ),
  ];
}

function receipt({ at, method, path, receipt: told, scope }, view) {
  const recall = "searched" in told && "digest" in told;
  return h(
    "details",
    { class: "panel" },
    h(
      "summary",
      null,
      h(
        "code",
        null,
        `${method} ${path
          .split("/")
          .map((part) => part.slice(0, 24))
          .join("/")}`,
      ),
      " in ",
      said(scope || "no scope"),
      " · ",
      when(at),
      summary(told),
    ),
    recall
      ? recallReceipt(told, view)
      : [readable(told), h("details", null, h("summary", null, "As JSON"), anyReceipt(told))],
    h(
      "div",
      { class: "acts" },
      recall ? doing("Do it again from the receipt", () => replay(told, scope)) : null,
      button("Download", () => download("receipt.json", JSON.stringify(told, null, 2))),
    ),
  );
}

function summary(told) {
  if ("returned" in told) return ` · ${count(told.returned, "memory", "memories")} returned`;
  if (told.outcome) return ` · ${told.outcome}`;
  if (told.before && told.after) return ` · ${told.before} → ${told.after}`;
  return told.state ? ` · ${told.state}` : "";
}

// Any receipt as a table: a list by how many there are, what is empty left out.
function readable(told) {
  const rows = Object.entries(told)
    .map(([name, given]) => [plain(name), worded(given)])
    .filter(([, given]) => given !== "");
  return table(
    "Receipt",
    ["Field", "Value"],
    rows.map(([name, given]) => [h("b", null, name), said(given, { class: "quiet-said" })]),
  );
}

function worded(given) {
  if (given === null || given === "" || given === false) return "";
  if (given === true) return "yes";
  if (typeof given === "number") return number(given);
  if (Array.isArray(given))
    return given.every((each) => typeof each === "string") ? given.join(", ") : number(given.length);
  if (typeof given === "object")
    return Object.entries(given)
      .map(([name, each]) => `${plain(name)} ${worded(each) || "–"}`)
      .join(", ");
  return String(given);
}

async function replay(told, scope) {
  const again = await api.post("replay", { receipt: told }, { scope });
  notify(again.same ? "The same result: same memories, scores and order." : `Another result: ${again.reason}`, {
    bad: !again.same,
  });
}

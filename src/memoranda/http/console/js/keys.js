// Keys of the keyboard: those of the console, and those that the page at hand adds.

import { h } from "./dom.js";
import { PAGES } from "./map.js";
import { dialog } from "./parts.js";

const AFTER_G_MS = 1_500;
let ofPage = {};
let sinceG = 0;

// What the page at hand answers to: {key: [what it does, function]}.
export function onPageKeys(keys) {
  ofPage = keys;
}

export function listen({ open, search }) {
  addEventListener("keydown", (event) => {
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      event.defaultPrevented ||
      document.querySelector("dialog[open]")
    )
      return;
    if (event.key === "Escape") return closeDrawer();
    if (writing(event.target)) return;
    const after = Date.now() - sinceG < AFTER_G_MS;
    sinceG = 0;
    if (after) {
      const page = Object.keys(PAGES).find((name) => PAGES[name].key === event.key);
      if (page) {
        event.preventDefault();
        open(page);
      }
      return;
    }
    if (event.key === "g") sinceG = Date.now();
    else if (event.key === "/") done(event, search);
    else if (event.key === "?") done(event, keysDialog);
    else if (ofPage[event.key]) done(event, ofPage[event.key][1]);
  });
}

export function keysDialog() {
  const row = (keys, what) =>
    h(
      "tr",
      null,
      h(
        "td",
        null,
        keys.map((each) => h("kbd", null, each)),
      ),
      h("td", null, what),
    );
  const here = Object.entries(ofPage);
  dialog("Keys", () =>
    h(
      "table",
      { class: "keys" },
      h(
        "tbody",
        null,
        row(["/"], "The search box of the page, or Search"),
        row(["?"], "This list"),
        row(["Esc"], "Close what is open"),
        here.map(([key, [what]]) => row([key], what)),
        Object.values(PAGES)
          .filter((each) => each.key)
          .map((each) => row(["g", each.key], each.title)),
      ),
    ),
  );
}

function done(event, act) {
  event.preventDefault();
  act();
}

function writing(target) {
  return (
    target instanceof HTMLElement &&
    (target.matches("input:not([type=checkbox]), textarea, select") || target.isContentEditable)
  );
}

function closeDrawer() {
  const root = document.getElementById("console");
  if (root.classList.contains("drawer-open")) document.querySelector(".menu")?.click();
}

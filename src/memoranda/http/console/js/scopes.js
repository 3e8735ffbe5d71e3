// The scope that is looked at, and the tree of those that may be.

import { api, session } from "./api.js";
import { h, replace, said } from "./dom.js";
import { icon } from "./icons.js";
import { button, dialog, field, form, input, loading, wrong } from "./parts.js";
import { count, when } from "./words.js";

// The token's own scope, or the one that holds the most.
export async function chooseFirstScope() {
  if (session.whoami.scope) return session.whoami.scope;
  try {
    const { items } = await api.get("scopes", {}, { scope: null });
    const fullest = [...items].sort((one, other) => other.live - one.live)[0];
    return fullest?.scope ?? "";
  } catch {
    return "";
  }
}

export function scopeButton(onOpen) {
  const parts = session.scope ? session.scope.split("/") : ["no scope"];
  return button(
    [
      icon("scope"),
      h(
        "span",
        { class: "scope-path" },
        parts.map((part, at) => [at ? h("i", null, "/") : null, said(part)]),
      ),
    ],
    onOpen,
    { class: "scope-button", label: `Scope: ${session.scope || "none"}. Change it` },
  );
}

export function scopeDialog(onChoose) {
  dialog(
    "Scope",
    (close) => {
      const list = h("div", { class: "scope-tree" }, loading());
      const choose = (scope) => {
        close();
        onChoose(scope);
      };
      const filter = input("scope-filter", "", { type: "search", placeholder: "home/anna", spellcheck: false });
      let known = [];
      const draw = () => replace(list, tree(known, filter.value.trim(), choose));
      filter.addEventListener("input", draw);
      fetchScopes().then(
        (items) => {
          known = items;
          draw();
        },
        (error) => replace(list, wrong(error)),
      );
      return form(
        [
          field("Find, or write the whole path of a new one", filter, {
            help: "A scope sees itself and the scopes above it, never a sibling.",
          }),
          list,
          h("div", { class: "acts" }, button("Open this scope", null, { type: "submit", class: "main" })),
        ],
        ({ "scope-filter": typed }) => {
          if (typed.trim()) choose(typed.trim());
        },
      );
    },
    { class: "wide" },
  );
}

async function fetchScopes() {
  const { items } = await api.get("scopes", { limit: 1000 }, { scope: session.whoami.scope || null });
  return items;
}

function tree(known, wanted, choose) {
  const found = known.filter((each) => each.scope.includes(wanted));
  if (!found.length)
    return h("p", { class: "help" }, known.length ? "No scope has these letters in it." : "Nothing is kept yet.");
  return h(
    "ul",
    null,
    found
      .sort((one, other) => (one.scope < other.scope ? -1 : 1))
      .map((each) => {
        const depth = each.scope.split("/").length - 1;
        const current = each.scope === session.scope;
        const made = h(
          "button",
          {
            type: "button",
            class: `scope-choice depth-${Math.min(depth, 6)}`,
            aria: { current: current ? "true" : null },
            on: { click: () => choose(each.scope) },
          },
          said(each.scope),
          h(
            "span",
            { class: "help" },
            count(each.live, "live memory", "live memories"),
            each.newest ? [", newest ", when(each.newest)] : null,
          ),
        );
        return h("li", null, made);
      }),
  );
}

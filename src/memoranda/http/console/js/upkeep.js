// Looking after the whole store: its checks with their fixes, its index, and the work that keeps it well.

import { api } from "./api.js";
import { h, replace, said } from "./dom.js";
import { icon } from "./icons.js";
import { button, confirmed, doing, facts, loading, longWork, notify, wrong } from "./parts.js";
import { bytes, count, number } from "./words.js";

export function upkeep(view) {
  const index = h("div", null, loading("Asking the index …"));
  const work = h("div", { class: "work-place" });
  const checks = h("div", { class: "checks-place", aria: { live: "polite" } });
  const showIndex = () =>
    api.get("admin/index", {}, { scope: null, signal: view.signal }).then(
      (status) => view.current() && replace(index, standing(status)),
      (error) => view.current() && error.name !== "AbortError" && replace(index, wrong(error)),
    );
  const long = async (label, path, told) => {
    const came = await longWork(work, label, ({ progress, signal }) =>
      api.stream(path, {}, { progress, signal, scope: null }),
    );
    if (!came) return;
    notify(told(came));
    await showIndex();
  };
  const check = async (label, path) => {
    const came = await longWork(work, label, ({ signal }) => api.post(path, {}, { signal, scope: null }));
    if (came) replace(checks, verdict(came));
  };
  showIndex();
  return h(
    "section",
    { class: "panel upkeep", aria: { label: "The whole store" } },
    h("h2", null, "The whole store"),
    h(
      "div",
      { class: "acts" },
      doing("Check everything", () => check("Checking", "admin/doctor"), { class: "main" }),
      doing("Verify", () => check("Verifying", "admin/verify"), {
        title: "Re-derives what can be re-derived, in the ledger and in the index",
      }),
      doing("Maintain", () => maintain(long), {
        title: "Erases what was forgotten long ago, makes missing vectors, tidies",
      }),
      doing("Optimize the index", () => long("Optimizing", "admin/optimize", () => "The index is tidy.")),
      button("Rebuild the index", () => rebuild(long)),
    ),
    work,
    checks,
    h("h3", null, "Index"),
    index,
  );
}

async function maintain(long) {
  const plan = await api.post("admin/maintain", { dry_run: true }, { scope: null });
  const body = h(
    "div",
    null,
    h("p", null, "This is what there is to do now, in all scopes:"),
    facts([
      ["Forgotten long ago, to be erased", number(plan.erased.ids.length)],
      ["No longer holds", number(plan.expired)],
      ["Conversations to sum up", number(plan.compacted.length)],
      ["Vectors to be made", number(plan.vectors_missing)],
    ]),
  );
  if (!(await confirmed("Maintain the store", body, { act: "Maintain" }))) return;
  await long(
    "Maintaining",
    "admin/maintain",
    (came) =>
      `Done: ${count(came.erased.ids.length, "memory", "memories")} erased, ${number(came.expired)} ended, ${count(came.vectors_made, "vector")} made.`,
  );
}

async function rebuild(long) {
  const body = h(
    "p",
    null,
    "The index is made anew from the ledger. The old one serves until the new one is complete; nothing is lost.",
  );
  if (!(await confirmed("Rebuild the index", body, { act: "Rebuild" }))) return;
  await long(
    "Rebuilding",
    "admin/rebuild",
    (status) =>
      `Rebuilt: ${count(status.lexical_rows, "memory", "memories")}, ${count(status.semantic_rows, "vector")}.`,
  );
}

// -- what came of it --

function verdict({ checks, ok }) {
  const bad = checks.filter((each) => !each.ok).length;
  return [
    h(
      "p",
      { class: "proof-big", role: "status" },
      ok ? "Everything is well." : `${count(bad, "check")} of ${number(checks.length)} not well.`,
    ),
    h(
      "ul",
      { class: "checks" },
      checks.map((each) =>
        h(
          "li",
          { class: each.ok ? "check" : "check is-bad" },
          icon(each.ok ? "tick" : "warning"),
          h(
            "span",
            null,
            h("b", null, each.name),
            h("span", { class: "only-read" }, each.ok ? " is well: " : " is not well: "),
            " ",
            said(each.detail, { class: "quiet-said" }),
            each.fix ? h("p", { class: "fix" }, "What to do: ", said(each.fix, { class: "quiet-said" })) : null,
          ),
        ),
      ),
    ),
  ];
}

function standing(status) {
  return [
    status.rebuild_needed
      ? h("p", { class: "warned" }, "The index is of another embedder than the configured one: rebuild it.")
      : null,
    facts([
      ["Memories", number(status.memories)],
      ["By words", number(status.lexical_rows)],
      ["By meaning", number(status.semantic_rows)],
      ["Vectors missing", number(status.vectors_missing)],
      ["Behind the ledger", count(status.lag, "event")],
      ["Size", bytes(status.bytes)],
      ["Self-test", said(status.self_test)],
      ["Embedder", h("code", null, status.fingerprint)],
    ]),
  ];
}

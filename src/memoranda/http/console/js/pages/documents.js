// Documents: the folders that are looked into, how far what is known of them is as they are, and a search with citations.

import { api } from "../api.js";
import { h, replace, said } from "../dom.js";
import { icon } from "../icons.js";
import { note } from "../log.js";
import {
  button,
  confirmed,
  dialog,
  empty,
  facts,
  field,
  form,
  heading,
  input,
  loading,
  longWork,
  notify,
  select,
  table,
  tick,
  wrong,
} from "../parts.js";
import { bytes, count, decimal, number, plain, TRUSTS, when } from "../words.js";

export async function page(view) {
  const asked = view.params.get("q") ?? "";
  const status = await api.get("documents/status", {}, { signal: view.signal });
  const work = h("div", { class: "work-place" });
  return [
    heading("Documents", buttons(status, work, view)),
    work,
    searchForm(asked, view),
    asked ? found(asked, view) : null,
    status.sources.length ? sourcesOf(status, view) : none(view),
  ];
}

function buttons(status, work, view) {
  return [
    view.may("writer") && status.sources.length ? button("Sync now", () => sync(work, view)) : null,
    view.may("admin") ? button([icon("plus"), "Add a folder"], () => addDialog(view)) : null,
  ];
}

function none(view) {
  return empty(
    "No folder is looked into",
    view.may("admin")
      ? "Add a folder of Markdown files: they are searched and cited, and stay the truth."
      : "An admin adds a folder of Markdown files.",
    view.may("admin") ? button("Add a folder", () => addDialog(view), { class: "main" }) : null,
  );
}

// -- sources --

function sourcesOf(status, view) {
  return [
    h(
      "section",
      { class: "sources" },
      h("h2", null, "Sources"),
      h(
        "ul",
        { class: "list" },
        status.sources.map((each) => h("li", null, card(each, view))),
      ),
    ),
    h(
      "section",
      { class: "panel" },
      h("h2", null, "What can be searched"),
      (status.trouble ?? []).map((each) => h("p", { class: "warned" }, said(each))),
      facts([
        ["Files", `${number(status.files)} of ${number(status.on_disk)} on the disk`],
        ["Passages", number(status.chunks)],
        ["By meaning", `${plain(status.vector)}, ${number(status.vectors)} of ${number(status.chunks)}`],
        ["By words", `${number(status.fts)} of ${number(status.chunks)}`],
        ["Last sync", status.last_sync ? when(new Date(status.last_sync).toISOString()) : "never"],
        ["Watching for changes", plain(status.watcher)],
        ["Size of the index", bytes(status.bytes)],
        ["Embedder", h("code", null, [status.provider, status.model].filter(Boolean).join(":") || "none")],
      ]),
    ),
  ];
}

function card({ source, files, on_disk: onDisk, chunks, changed, trouble }, view) {
  const own = source.scope === view.scope;
  const state = trouble
    ? ["trouble", "bad"]
    : changed
      ? [`${count(changed, "change")} not read yet`, "warn"]
      : ["up to date", "good"];
  return h(
    "article",
    { class: "talk source" },
    h(
      "div",
      { class: "panel-head" },
      h("h3", null, said(source.name, { class: "quiet-said" })),
      own && view.may("admin")
        ? button("Remove", () => remove(source, view), { class: "quiet", label: `Remove ${source.name}` })
        : null,
    ),
    h("p", null, h("code", null, source.root)),
    h(
      "div",
      { class: "chips" },
      h("span", { class: `chip ${state[1]}` }, state[0]),
      h(
        "span",
        { class: `chip ${source.trust === "quarantined" ? "bad" : source.trust === "trusted" ? "" : "warn"}` },
        plain(source.trust),
      ),
      h("span", { class: "chip" }, `${number(files)} of ${count(onDisk, "file")}`),
      h("span", { class: "chip" }, count(chunks, "passage")),
      source.patterns.map((each) => h("span", { class: "chip" }, said(each))),
      own ? null : h("span", { class: "chip" }, icon("scope"), said(source.scope)),
    ),
    trouble ? h("p", { class: "warned" }, said(trouble)) : null,
  );
}

async function sync(work, view, { full = false } = {}) {
  const came = await longWork(work, "Reading files", ({ progress, signal }) =>
    api.stream("documents/sync", { full }, { progress, signal }),
  );
  if (!came) return;
  note(
    "POST",
    "documents/sync",
    { ...came, failures: came.failures.length, skipped: came.skipped.length, notes: came.notes.length },
    view.scope,
  );
  notify(came.left ? `The sync was not done to its end: ${came.left}` : synced(came), { bad: Boolean(came.left) });
  const told = [
    ["Could not be read", came.failures],
    ["Not taken in", came.skipped],
    ["Taken in, but not as it was meant", came.notes],
  ].filter(([, list]) => list.length);
  if (told.length) {
    dialog(
      "What the sync has to tell",
      () => told.map(([title, list]) => [h("h3", null, title), troubles(title, list)]),
      { class: "wide", onClose: () => view.again() },
    );
  } else view.again();
}

function synced(came) {
  if (came.is_noop) return "Nothing had changed.";
  const parts = [
    [came.added, "added"],
    [came.changed, "changed"],
    [came.renamed, "renamed"],
    [came.removed, "removed"],
  ].filter(([many]) => many);
  return `Synced: ${parts.map(([many, word]) => `${number(many)} ${word}`).join(", ")}; ${count(came.chunks_added, "new passage")}.`;
}

function troubles(title, list) {
  return table(
    title,
    ["Source", "File", "Why"],
    list.map((each) => [said(each.source), said(each.path), said(each.reason)]),
  );
}

function addDialog(view) {
  dialog("Add a folder", (close) =>
    form(
      [
        h(
          "p",
          { class: "help" },
          "The folder, or a single file, is on the machine of the server. Over the network only folders can be named that it was started with (",
          h("code", null, "--root DIR"),
          ", or ",
          h("code", null, "--root SCOPE=DIR"),
          " for the admins of a scope); on its machine ",
          h("code", null, "memoranda documents add"),
          " takes any.",
        ),
        field(
          "Path on the server",
          input("path", "", { required: true, placeholder: "/home/anna/notes", spellcheck: false }),
        ),
        field("Name", input("name"), { help: "Empty: the name of the folder." }),
        field("Which files", input("pattern", "", { placeholder: "**/*.md", spellcheck: false }), {
          help: "Empty: the notes of an agent where there are some, else every Markdown file.",
        }),
        field("Trust", select("trust", TRUSTS, "untrusted"), {
          help: "Only what is trusted may come into a pack that nobody asked for.",
        }),
        tick("sync", "Read it at once", true),
        h("div", { class: "acts" }, button("Add", null, { type: "submit", class: "main" }), button("Cancel", close)),
      ],
      async ({ path, name, pattern, trust, sync: now }) => {
        const source = await api.post("documents", {
          path: path.trim(),
          name: name.trim(),
          pattern: pattern.trim(),
          trust,
        });
        close();
        notify(`${source.name} is looked into from now on.`);
        if (now === "true") await sync(document.querySelector(".work-place"), view);
        else view.again();
      },
      { label: "Add a folder" },
    ),
  );
}

async function remove(source, view) {
  const body = [
    h(
      "p",
      null,
      "Everything that was made of the files of ",
      said(source.name),
      " is destroyed, and it is proven. The files themselves stay: ",
      h("code", null, source.root),
    ),
    h("p", { class: "help" }, "It can be added again."),
  ];
  if (!(await confirmed("Remove this source", body, { act: "Remove", danger: true }))) return;
  const place = h("div", null, loading("Removing, then reading every file of the store to prove it …"));
  dialog(
    "Removed",
    (close) => {
      api.post("documents/remove", { name: source.name }).then(
        (came) => {
          note("POST", "documents/remove", came, view.scope);
          replace(place, removed(came), h("div", { class: "acts" }, button("Close", close)));
        },
        (error) => replace(place, wrong(error, button("Close", close))),
      );
      return place;
    },
    { onClose: () => view.again() },
  );
}

function removed(came) {
  return [
    h(
      "p",
      { class: "proof-big", role: "status" },
      came.purged ? "Gone, and proven gone." : "Removed; the proof is not complete yet.",
    ),
    came.pending ? h("p", { class: "warned" }, said(came.pending)) : null,
    facts([
      ["Files", number(came.files)],
      ["Passages", number(came.chunks)],
      ["Bytes read", bytes(came.scanned_bytes)],
      ["Pieces looked for", number(came.traces)],
      ["Traces found", number(came.found)],
    ]),
  ];
}

// -- searching --

function searchForm(asked, view) {
  const query = input("q", asked, {
    type: "search",
    placeholder: "Where did we put the boiler manual?",
    enterKeyHint: "search",
  });
  query.dataset.search = "";
  query.setAttribute("aria-label", "Search the documents");
  return form(
    h("div", { class: "search-line" }, query, button("Search", null, { type: "submit", class: "main" })),
    ({ q }) => view.stay({ q: q.trim() }),
    { label: "Search the documents" },
  );
}

function found(asked, view) {
  const place = h("section", { class: "results", aria: { label: "Results" } }, loading("Searching …"));
  api.post("documents/search", { query: asked }, { signal: view.signal }).then(
    ({ hits, receipt }) => view.current() && replace(place, answer(hits, receipt, view)),
    (error) => view.current() && error.name !== "AbortError" && replace(place, wrong(error)),
  );
  return place;
}

function answer(hits, receipt, view) {
  return [
    receipt.action || receipt.dirty
      ? h("p", { class: "warned" }, said(receipt.action || "Files have changed that the search does not know of yet."))
      : null,
    (receipt.degraded ?? []).map((each) => h("p", { class: "warned" }, "Worked without a part: ", said(each))),
    hits.length
      ? [
          h(
            "p",
            { class: "told", role: "status" },
            `${count(hits.length, "passage")} of ${number(receipt.searched)} looked at.`,
          ),
          h(
            "ol",
            { class: "list" },
            hits.map((each) => h("li", null, hit(each, view))),
          ),
        ]
      : empty(
          "Nothing in the documents bears on it",
          `${receipt.abstained ? `Because: ${receipt.abstained}. ` : ""}${count(receipt.searched, "passage")} looked at. Try other words, or sync first.`,
        ),
  ];
}

function hit(each, view) {
  return h(
    "article",
    { class: "memory" },
    h(
      "div",
      { class: "memory-head" },
      h(
        "span",
        { class: "score" },
        h("b", null, decimal(each.score)),
        h(
          "span",
          { class: "score-track", aria: { hidden: true } },
          h("span", { class: "score-fill", share: each.score }),
        ),
      ),
      h(
        "a",
        {
          href: view.href("document", {
            source: each.source,
            path: each.path,
            from: each.start_line,
            to: each.end_line,
          }),
        },
        said(each.citation, { class: "quiet-said" }),
      ),
      h(
        "span",
        { class: "memory-age" },
        "in ",
        said(each.source, { class: "quiet-said" }),
        each.dated ? [" · ", when(each.dated)] : null,
      ),
    ),
    each.heading ? h("p", { class: "help" }, said(each.heading)) : null,
    h("p", { class: "memory-text snippet" }, said(each.snippet)),
    each.trust === "trusted"
      ? null
      : h("div", { class: "chips" }, h("span", { class: "chip warn" }, plain(each.trust))),
  );
}

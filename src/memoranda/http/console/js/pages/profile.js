// Profile: the small stable record of the scope and of those who speak in it, always in the prompt.

import { api } from "../api.js";
import { h, said } from "../dom.js";
import { area, button, doing, download, empty, field, form, heading, input, notify, select } from "../parts.js";
import { number, when } from "../words.js";

const LISTS = [
  ["traits", "Traits", "reads at night", 20],
  ["preferences", "Preferences", "short answers", 10],
];

export async function page(view) {
  const speaker = view.params.get("speaker") ?? "";
  const asOf = view.params.get("as_of") ?? "";
  const [profile, { items: lines }, exported] = await Promise.all([
    api.get("profile", { speaker, as_of: asOf }, { signal: view.signal }),
    api.get("profile/lines", { speaker }, { signal: view.signal }),
    api.get("profile/export", {}, { signal: view.signal }),
  ]);
  const mayWrite = view.may("writer") && !asOf;
  const speakers = exported.profiles.map((each) => each.sender_id).filter(Boolean);
  const isEmpty = !profile.name && !profile.traits.length && !profile.preferences.length && !profile.notes;
  return [
    heading(
      "Profile",
      button("Export", () => download("profiles.json", JSON.stringify(exported, null, 2))),
    ),
    chooser(speaker, speakers, asOf, view),
    isEmpty && !mayWrite
      ? empty("This profile is empty", "What somebody with a writer's token writes here stands in every pack.")
      : null,
    h(
      "div",
      { class: "panels" },
      nameAndNotes(profile, speaker, mayWrite, view),
      LISTS.map(([name, title, example, most]) => list(profile, name, title, example, most, speaker, mayWrite, view)),
    ),
    h(
      "section",
      { class: "panel" },
      h("h2", null, "As the model is told"),
      lines.length
        ? h("pre", { class: "pack", tabIndex: 0 }, said(lines.join("\n")))
        : h("p", { class: "help" }, "Nothing yet: profiles of the scopes above would stand here, too."),
    ),
    profile.updated_at ? h("p", { class: "help" }, "Last changed ", when(profile.updated_at), ".") : null,
  ];
}

function chooser(speaker, speakers, asOf, view) {
  const known = [
    ["", "the scope itself"],
    ...[...new Set([...speakers, ...(speaker ? [speaker] : [])])].map((each) => [each, each]),
  ];
  return form(
    [
      h(
        "div",
        { class: "fields" },
        field("Whose", select("speaker", known, speaker)),
        field("Another speaker", input("other", "", { placeholder: "somebody not listed" })),
        field("As of", input("as_of", asOf, { type: "date" })),
        h("div", { class: "acts at-end" }, button("Show", null, { type: "submit" })),
      ),
    ],
    ({ speaker: chosen, other, as_of }) => view.stay({ speaker: other.trim() || chosen, as_of }),
    { label: "Whose profile", class: "panel" },
  );
}

function nameAndNotes(profile, speaker, mayWrite, view) {
  const save = async (values) => {
    const changed = {};
    if (values.name !== profile.name) changed.name = values.name;
    if (values.notes !== profile.notes) changed.notes = values.notes;
    if (!Object.keys(changed).length) return notify("Nothing was changed.");
    for (const [name, given] of Object.entries(changed)) {
      if (given.trim()) await api.post("profile/set", { field: name, value: given, speaker });
      else await api.post("profile/remove", { field: name, speaker });
    }
    notify("The profile was changed.");
    return view.again();
  };
  if (!mayWrite) {
    return h(
      "section",
      { class: "panel" },
      h("h2", null, "Name and notes"),
      h("p", null, profile.name ? said(profile.name) : h("span", { class: "nothing" }, "no name")),
      h("p", null, profile.notes ? said(profile.notes) : h("span", { class: "nothing" }, "no notes")),
    );
  }
  return h(
    "section",
    { class: "panel" },
    h("h2", null, "Name and notes"),
    form(
      [
        field("Name", input("name", profile.name)),
        field("Notes", area("notes", profile.notes, { rows: 5, maxLength: 2000 })),
        h("div", { class: "acts" }, button("Save", null, { type: "submit", class: "main" })),
      ],
      save,
      { label: "Name and notes" },
    ),
  );
}

function list(profile, name, title, example, most, speaker, mayWrite, view) {
  const entries = profile[name];
  const gone = (entry) => async () => {
    await api.post("profile/remove", { field: name, value: entry, speaker });
    notify("Removed from the profile.", {
      act: "Undo",
      onAct: () =>
        api
          .post("profile/add", { field: name, value: entry, speaker })
          .then(view.again, (error) => notify(error.detail, { bad: true })),
    });
    view.again();
  };
  return h(
    "section",
    { class: "panel" },
    h("h2", null, title),
    entries.length
      ? h(
          "ul",
          { class: "entries" },
          entries.map((entry) =>
            h(
              "li",
              null,
              said(entry),
              mayWrite ? doing("Remove", gone(entry), { class: "quiet", label: `Remove ${entry}` }) : null,
            ),
          ),
        )
      : h("p", { class: "help" }, `None yet, such as “${example}”.`),
    h("p", { class: "help" }, `${number(entries.length)} of ${most}; the oldest makes room.`),
    mayWrite
      ? form(
          [
            field("One more", input(name, "", { required: true, maxLength: 500 })),
            button("Add", null, { type: "submit" }),
          ],
          async (values) => {
            await api.post("profile/add", { field: name, value: values[name], speaker });
            notify("Added to the profile.");
            view.again();
          },
          { class: "entry-form", label: `Add to ${title}` },
        )
      : null,
  );
}

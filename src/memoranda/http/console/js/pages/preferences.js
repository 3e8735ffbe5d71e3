// Preferences: what is preferred and when, and what applies now.

import { api } from "../api.js";
import { h, said } from "../dom.js";
import { icon } from "../icons.js";
import { memoryLink } from "../memories.js";
import { asJson } from "../remembering.js";
import { button, confirmed, dialog, doing, empty, field, form, heading, input, notify, table } from "../parts.js";
import { count, percent, value, when } from "../words.js";

const CONTEXTS = "Conditions joined with +, such as weekday+morning, after_sunset, place:office or 06:30-08:00.";

export async function page(view) {
  const asked = {
    category: view.params.get("category") ?? "",
    now: view.params.get("now") ?? "",
    place: view.params.get("place") ?? "",
    flags: view.params.get("flags") ?? "",
  };
  const circumstance = {
    category: asked.category,
    place: asked.place,
    now: asked.now ? `${asked.now}:00Z` : "",
    flags: asked.flags
      .split(",")
      .map((each) => each.trim())
      .filter(Boolean),
  };
  const [{ items: all }, { items: applying }] = await Promise.all([
    api.get("preferences", { category: asked.category }, { signal: view.signal }),
    api.get("preferences/resolve-all", circumstance, { signal: view.signal }),
  ]);
  const mayWrite = view.may("writer");
  view.keys(mayWrite ? { n: ["A new preference", () => set(view)] } : {});
  const applies = new Set(applying.map((each) => each.memory.id));
  return [
    heading("Preferences", mayWrite && button([icon("plus"), "New preference"], () => set(view), { class: "main" })),
    when_(asked, view),
    h(
      "p",
      { class: "told", role: "status" },
      `${count(all.length, "preference")}, of which ${count(applying.length, "applies", "apply")} ${asked.now || asked.place || asked.flags ? "then" : "now"}.`,
    ),
    all.length
      ? h(
          "section",
          { class: "panel" },
          table(
            "Preferences",
            ["Category", "Key", "Value", "When", "Confidence", "Learned from", "Changed", ""],
            all.map((each) => row(each, applies, mayWrite, view)),
          ),
        )
      : empty(
          asked.category ? "No preference in this category" : "No preferences yet",
          "A preference has a category, a key, a value and perhaps a condition: lights, evening_brightness, 40%, after_sunset.",
          mayWrite && button("New preference", () => set(view), { class: "main" }),
        ),
  ];
}

function row(preference, applies, mayWrite, view) {
  const memory = preference.memory;
  return [
    said(memory.about),
    said(memory.attribute),
    memoryLink(memory.id, view, said(value(memory.value ?? memory.text))),
    h(
      "span",
      null,
      memory.context ? said(memory.context) : h("span", { class: "nothing" }, "always"),
      applies.has(memory.id) ? h("span", { class: "applies" }, " ✓ applies") : null,
    ),
    percent(preference.confidence),
    said(memory.source_ref || memory.source),
    when(memory.updated_at),
    mayWrite && memory.scope === view.scope
      ? h(
          "span",
          { class: "acts" },
          button("Change", () => set(view, memory), { class: "quiet" }),
          doing("Forget", () => forget(memory, view), { class: "quiet" }),
        )
      : null,
  ];
}

function when_(asked, view) {
  return form(
    [
      h(
        "div",
        { class: "fields" },
        field("Category", input("category", asked.category)),
        field("At this moment", input("now", asked.now, { type: "datetime-local" }), { help: "UTC; empty is now" }),
        field("At this place", input("place", asked.place, { placeholder: "office" })),
        field("And this is so", input("flags", asked.flags, { placeholder: "guests, after_sunset" })),
        h("div", { class: "acts at-end" }, button("What applies?", null, { type: "submit" })),
      ),
    ],
    (values) => view.stay(values),
    { class: "panel", label: "What applies" },
  );
}

async function forget(memory, view) {
  const sure = await confirmed("Forget this preference?", h("p", null, said(memory.text)), { act: "Forget" });
  if (!sure) return;
  await api.post("preferences/forget", { category: memory.about, key: memory.attribute, context: memory.context });
  notify("Forgotten.");
  view.again();
}

function set(view, memory = null) {
  dialog(memory ? "Change a preference" : "New preference", (close) =>
    form(
      [
        h(
          "div",
          { class: "fields" },
          field(
            "Category",
            input("category", memory?.about ?? "", {
              required: true,
              readOnly: Boolean(memory),
              placeholder: "lights",
            }),
          ),
          field(
            "Key",
            input("key", memory?.attribute ?? "", {
              required: true,
              readOnly: Boolean(memory),
              placeholder: "evening_brightness",
            }),
          ),
          field(
            "Value",
            input("value", memory ? value(memory.value ?? memory.text) : "", { required: true, placeholder: "40%" }),
            { help: "Text, or JSON." },
          ),
        ),
        field("When", input("context", memory?.context ?? "", { readOnly: Boolean(memory), placeholder: "always" }), {
          help: CONTEXTS,
        }),
        h("div", { class: "acts" }, button("Keep", null, { type: "submit", class: "main" }), button("Cancel", close)),
      ],
      async ({ category, key, value: given, context }) => {
        await api.put("preferences", { category, key, value: asJson(given), context });
        close();
        notify("Kept.");
        view.again();
      },
    ),
  );
}

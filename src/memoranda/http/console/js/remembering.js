// The form that keeps something new, or something that corrects what is kept.

import { api } from "./api.js";
import { h, said } from "./dom.js";
import { area, button, dialog, field, form, input, notify, select } from "./parts.js";
import { BASES, KINDS } from "./words.js";

const TEXTS = ["kind", "about", "attribute", "context", "speaker", "basis", "occurred_at", "valid_from", "valid_until"];

// Opens the form. With `corrects`, what is written supersedes that memory; `done(kept)` is called after.
export function remember(view, { corrects = null, from = corrects, done } = {}) {
  dialog(
    corrects ? "Correct this memory" : "Remember",
    (close) =>
      form(
        [
          corrects
            ? h("p", { class: "help" }, "The old one stays in the history. It said: ", said(corrects.text))
            : null,
          field(
            corrects ? "What is right" : "What is to be remembered",
            area("text", from?.text ?? "", { required: true, rows: 4 }),
          ),
          h(
            "div",
            { class: "fields" },
            field("Kind", select("kind", KINDS, from?.kind ?? "", { any: "note (usual)" })),
            field("About", input("about", from?.about ?? "", { placeholder: "light.office" })),
            field(
              "Importance, 0 to 1",
              input("importance", from?.importance ?? "", { type: "number", min: "0", max: "1", step: "0.05" }),
            ),
            field("Tags", input("tags", (from?.tags ?? []).join(", "), { placeholder: "home, light" })),
          ),
          h(
            "details",
            null,
            h("summary", null, "More"),
            h(
              "div",
              { class: "fields" },
              field("Attribute", input("attribute", from?.attribute ?? "")),
              field(
                "Value",
                input("value", from?.value === null || from?.value === undefined ? "" : JSON.stringify(from.value)),
                { help: "Text, or JSON." },
              ),
              field("When it applies", input("context", from?.context ?? "", { placeholder: "weekday+morning" })),
              field("Speaker", input("speaker", from?.speaker ?? "")),
              field("Basis", select("basis", BASES, from?.basis ?? "stated")),
              field("Happened", input("occurred_at", "", { type: "datetime-local" }), { help: "UTC" }),
              field("Holds from", input("valid_from", "", { type: "datetime-local" }), { help: "UTC" }),
              field("Holds until", input("valid_until", "", { type: "datetime-local" }), { help: "UTC" }),
            ),
          ),
          h("p", { class: "help" }, "Kept in ", said(view.scope), ", as said by a user."),
          h(
            "div",
            { class: "acts" },
            button(corrects ? "Correct" : "Remember", null, { type: "submit", class: "main" }),
            button("Cancel", close),
          ),
        ],
        async (values) => {
          const kept = await api.post("memories", draft(values, corrects));
          close();
          if (done) return done(kept);
          notify(kept.receipt.outcome === "reinforced" ? "This was known already, and is now surer." : "Remembered.");
          return view.go("memory", {}, kept.memory.id);
        },
      ),
    { class: "wide" },
  );
}

function draft(values, corrects) {
  const made = { text: values.text };
  for (const name of TEXTS) if (values[name]) made[name] = name.includes("_") ? moment(values[name]) : values[name];
  if (values.importance !== "") made.importance = Number(values.importance);
  if (values.value !== "") made.value = asJson(values.value);
  const tags = values.tags
    .split(",")
    .map((tag) => tag.trim())
    .filter(Boolean);
  if (tags.length) made.tags = tags;
  if (corrects) made.supersedes = corrects.id;
  return made;
}

// What can be read as JSON is; everything else is a text.
export function asJson(written) {
  try {
    return JSON.parse(written);
  } catch {
    return written;
  }
}

function moment(local) {
  return `${local}${local.length === 16 ? ":00" : ""}Z`;
}

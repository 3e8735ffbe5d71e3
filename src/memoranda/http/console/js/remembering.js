// The form that keeps something new, or something that corrects what is kept.

import { api } from "./api.js";
import { h, said } from "./dom.js";
import { area, button, dialog, field, form, input, notify, select } from "./parts.js";
import { BASES, KINDS } from "./words.js";

const TEXTS = ["kind", "about", "attribute", "context", "speaker", "basis", "occurred_at", "valid_from", "valid_until"];

// Opens the form. With `corrects`, what is written supersedes that memory; `done(kept)` is called after.
export function remember(
  view,
  {
    corrects = null,
    from = corrects,
    title = corrects ? "Correct this memory" : "Remember",
    act = corrects ? "Correct" : "Remember",
    done = (kept) => shownAfter(kept, corrects, view),
  } = {},
) {
  let evenIfErased = false;
  const allow = () => {
    evenIfErased = true;
  };
  dialog(
    title,
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
            field("Kind", select("kind", KINDS, from?.kind ?? "", { usual: "note" })),
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
            button(act, null, { type: "submit", class: "main" }),
            button("Cancel", close),
          ),
        ],
        async (values) => {
          const made = draft(values, corrects);
          if (evenIfErased) made.after_erase = "allow";
          evenIfErased = false;
          const kept = await api.post("memories", made).catch((error) => {
            throw told(error, view, allow);
          });
          close();
          return done(kept);
        },
      ),
    { class: "wide" },
  );
}

function shownAfter(kept, corrects, view) {
  if (corrects)
    notify("Corrected. What it replaced stays in the history.", {
      act: "Show what it replaced",
      onAct: () => view.go("memory", {}, corrects.id),
    });
  else notify(kept.receipt.outcome === "reinforced" ? "This was known already, and is now surer." : "Remembered.");
  view.go("memory", {}, kept.memory.id);
}

// What was erased is not taken back by itself; an admin may send the form once more, and means it.
function told(error, view, allow) {
  if (!error.hint?.includes("after_erase")) return error;
  error.hint = view.may("admin")
    ? "If it is wanted again, it can be kept all the same."
    : "An admin can keep it all the same.";
  if (view.may("admin")) error.acts = button("Keep it all the same", allow, { type: "submit" });
  return error;
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

// Erase: what would go, a word typed by hand, then the proof as a receipt.

import { api } from "./api.js";
import { h, replace, said } from "./dom.js";
import { button, dialog, download, facts, field, form, input, loading, table, wrong } from "./parts.js";
import { bytes, count, number } from "./words.js";

const WORD = "erase";
const SHOWN = 20;

// `what` says it in exactly one way: {reference}, {about}, {speaker}, {scope} or {query}.
export function erase(what, view) {
  const place = h("div", null, loading("Looking what would go …"));
  let gone = false;
  dialog(
    "Erase for good",
    (close) => {
      api.post("memories/erase", { ...what, mode: "preview" }).then(
        (preview) =>
          replace(
            place,
            asking(preview, what, place, close, () => {
              gone = true;
            }),
          ),
        (error) => replace(place, wrong(error, button("Close", close))),
      );
      return place;
    },
    { class: "wide", onClose: () => gone && view.go("browse") },
  );
}

function asking(preview, what, place, close, done) {
  const { ids, receipt } = preview;
  if (!ids.length && !receipt.conversations)
    return [h("p", null, "There is nothing to erase."), button("Close", close)];
  const word = input("word", "", { required: true, spellcheck: false });
  const yes = button("Erase", null, { type: "submit", class: "danger", disabled: true });
  word.addEventListener("input", () => {
    yes.disabled = word.value.trim() !== WORD;
  });
  return form(
    [
      h(
        "p",
        null,
        `${count(ids.length, "memory", "memories")} with all history`,
        receipt.messages ? `, and ${count(receipt.messages, "message")} that say the same` : "",
        " will be destroyed in every file of the store. This cannot be undone.",
      ),
      h(
        "ul",
        { class: "entries" },
        preview.preview.slice(0, SHOWN).map((memory) => h("li", null, said(memory.text))),
      ),
      preview.preview.length > SHOWN ? h("p", { class: "help" }, `and ${number(ids.length - SHOWN)} more`) : null,
      field(`Type “${WORD}” to go on`, word),
      h("div", { class: "acts" }, yes, button("Cancel", close)),
    ],
    async () => {
      const result = await api.post("memories/erase", { ...what, confirm: preview.confirm });
      done();
      replace(place, proof(result, close));
    },
  );
}

// What was erased, and the files that were read to the last byte to prove it.
export function proof({ receipt }, close) {
  const read = (receipt.scanned ?? []).reduce((sum, each) => sum + each.bytes, 0);
  const gone = receipt.state === "purged";
  return h(
    "div",
    { class: "proof" },
    h(
      "p",
      { class: "proof-big", role: "status" },
      gone ? "Gone, and proven gone." : "Deleted; the proof is not complete yet.",
    ),
    receipt.pending ? h("p", { class: "warned" }, said(receipt.pending)) : null,
    facts([
      ["Memories", number(receipt.ids.length)],
      ["Files read", number(receipt.scanned?.length ?? 0)],
      ["Bytes read", bytes(read)],
      ["Traces found", number(receipt.found)],
      ["Messages blanked", receipt.messages ? number(receipt.messages) : null],
      ["Conversations", receipt.conversations ? number(receipt.conversations) : null],
      ["Summaries made anew", receipt.summaries ? number(receipt.summaries) : null],
      ["Sequence", number(receipt.sequence)],
    ]),
    receipt.notes?.length
      ? h(
          "ul",
          null,
          receipt.notes.map((each) => h("li", { class: "help" }, said(each))),
        )
      : null,
    h(
      "details",
      null,
      h("summary", null, "Every file that was read"),
      table(
        "Files read",
        ["File", "Bytes", "Found"],
        (receipt.scanned ?? []).map((each) => [h("code", null, each.file), number(each.bytes), number(each.found)]),
      ),
    ),
    h(
      "div",
      { class: "acts" },
      button("Download the receipt", () => download("erase-receipt.json", JSON.stringify(receipt, null, 2)), {
        class: "main",
      }),
      close ? button("Close", close) : null,
    ),
  );
}

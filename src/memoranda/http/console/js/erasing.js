// Erase: what would go, a word typed by hand, then the proof as a receipt.

import { api } from "./api.js";
import { h, replace, said } from "./dom.js";
import { button, dialog, download, facts, field, form, input, loading, table, tick, wrong } from "./parts.js";
import { bytes, count, number } from "./words.js";

const WORD = "erase";
const SHOWN = 20;

// `what` says it in exactly one way: {reference}, {about}, {speaker}, {scope} or {query}. `earlier()` gives the
// versions that it replaced, which stay unless they are taken along.
export function erase(what, view, { earlier = async () => [] } = {}) {
  const place = h("div", null, loading("Looking what would go …"));
  let gone = false;
  dialog(
    "Erase for good",
    (close) => {
      Promise.all([api.post("memories/erase", { ...what, mode: "preview" }), earlier()]).then(
        ([preview, versions]) =>
          replace(
            place,
            asking(preview, { what, versions }, place, close, () => {
              gone = true;
              if (!place.isConnected) view.go("browse"); // nobody waited for the proof
            }),
          ),
        (error) => replace(place, wrong(error, button("Close", close))),
      );
      return place;
    },
    { class: "wide", onClose: () => gone && view.go("browse") },
  );
}

function asking(preview, { what, versions }, place, close, done) {
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
      versions.length ? staying(versions) : null,
      field(`Type “${WORD}” to go on`, word),
      h("div", { class: "acts" }, yes, button("Cancel", close)),
    ],
    async ({ versions: along }) => {
      const result = await api.post("memories/erase", { ...what, confirm: preview.confirm });
      done();
      await proofs(result, along === "true" ? versions : [], place, close);
    },
  );
}

function staying(versions) {
  return h(
    "div",
    { class: "warned" },
    h(
      "p",
      null,
      versions.length === 1
        ? "The earlier version that it replaced stays, and can be read:"
        : `The ${number(versions.length)} earlier versions that it replaced stay, and can be read:`,
    ),
    h(
      "ul",
      { class: "entries" },
      versions.slice(0, SHOWN).map((each) => h("li", null, said(each.text))),
    ),
    tick("versions", versions.length === 1 ? "Erase it, too" : "Erase them, too", false),
  );
}

// The proof, and after it one for each version that is taken along.
async function proofs(first, versions, place, close) {
  const shown = [proof(first, versions.length ? null : close)];
  replace(place, shown);
  for (const [at, each] of versions.entries()) {
    replace(place, shown, loading(`Erasing the earlier versions: ${number(at + 1)} of ${number(versions.length)} …`));
    try {
      const last = at === versions.length - 1;
      shown.push(proof(await api.post("memories/erase", { reference: each.id }), last ? close : null));
    } catch (error) {
      replace(place, shown, wrong(error, button("Close", close)));
      return;
    }
  }
  replace(place, shown);
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

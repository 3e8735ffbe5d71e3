// Review: what was kept but may not speak until somebody says so. Keys j, k, a, r, e.

import { api } from "../api.js";
import { h, said } from "../dom.js";
import { memoryCard, memoryLink } from "../memories.js";
import { remember } from "../remembering.js";
import { doing, button, empty, heading, notify, notifyOf, pager } from "../parts.js";
import { count } from "../words.js";

const LIMIT = 25;
const WHY = {
  review: "capture was told to ask about everything",
  injection: "it looks like an instruction to the model",
  quarantined: "it was put under quarantine",
};

export async function page(view) {
  const offset = Math.max(0, Number(view.params.get("offset")) || 0);
  const { memories, total } = await api.get("review", { limit: LIMIT, offset }, { signal: view.signal });
  const mayDecide = view.may("admin");
  const cards = memories.map((memory) => waiting(memory, mayDecide, view));
  let at = 0;
  const mark = (next) => {
    if (!cards.length) return;
    cards[at].removeAttribute("aria-current");
    at = Math.min(cards.length - 1, Math.max(0, next));
    cards[at].setAttribute("aria-current", "true");
    cards[at].focus();
  };
  cards.forEach((card, place) =>
    card.addEventListener("focusin", () => {
      cards[at].removeAttribute("aria-current");
      at = place;
      card.setAttribute("aria-current", "true");
    }),
  );
  cards[0]?.setAttribute("aria-current", "true");
  const act = (what) => () => memories[at] && what(memories[at], view).catch(notifyOf);
  view.keys({
    j: ["The next one", () => mark(at + 1)],
    k: ["The one before", () => mark(at - 1)],
    ...(mayDecide
      ? {
          a: ["Accept", act(accept)],
          r: ["Reject", act(reject)],
          e: ["Edit: reject, and remember it corrected", act(edit)],
        }
      : {}),
  });
  return [
    heading("Review"),
    h(
      "p",
      { class: "told", role: "status" },
      total ? `${count(total, "memory waits", "memories wait")} for a yes or a no.` : "Nothing waits.",
    ),
    cards.length
      ? [
          h(
            "p",
            { class: "help" },
            mayDecide
              ? [
                  "Keys: ",
                  h("kbd", null, "j"),
                  " ",
                  h("kbd", null, "k"),
                  " to go, ",
                  h("kbd", null, "a"),
                  " accept, ",
                  h("kbd", null, "r"),
                  " reject, ",
                  h("kbd", null, "e"),
                  " edit.",
                ]
              : "Deciding needs an admin's token.",
          ),
          h("ul", { class: "list" }, cards),
        ]
      : empty(
          "Nothing waits for a decision",
          "What looks like an instruction, or was captured in the mode “review”, stands here until somebody says yes or no. Only this very scope is shown.",
        ),
    pager({ offset, limit: LIMIT, total, to: (there) => view.href("review", { offset: there || "" }) }),
  ];
}

function waiting(memory, mayDecide, view) {
  const { why = "quarantined", supersedes = "" } = Object(memory.metadata?.review);
  return h(
    "li",
    { class: "waiting", tabIndex: -1, data: { id: memory.id } },
    memoryCard(memory, view, {
      after: [
        h(
          "p",
          { class: "why-waits" },
          "Waits because: ",
          said(WHY[why] ?? String(why), { class: "quiet-said" }),
          supersedes ? [". Accepting it supersedes ", memoryLink(String(supersedes), view)] : null,
          ".",
        ),
        mayDecide
          ? h(
              "div",
              { class: "acts" },
              doing("Accept", () => accept(memory, view), { class: "main" }),
              doing("Reject", () => reject(memory, view)),
              button("Edit", () => edit(memory, view).catch(notifyOf)),
            )
          : null,
      ],
    }),
  );
}

async function accept(memory, view) {
  const { memory: now } = await api.post(`review/${encodeURIComponent(memory.id)}/accept`, {});
  notify(`Accepted: it may speak, and is ${now.trust}.`);
  view.again();
}

async function reject(memory, view) {
  await api.post(`review/${encodeURIComponent(memory.id)}/reject`, {});
  notify("Rejected: forgotten, and not taken again unasked.");
  view.again();
}

// The corrected words are kept first: if they are refused, what waits still waits.
async function edit(memory, view) {
  remember(view, {
    from: memory,
    title: "Edit what waits",
    act: "Keep it like this",
    done: async () => {
      await api.post(`review/${encodeURIComponent(memory.id)}/reject`, {});
      notify("Kept as corrected; what waited was rejected.");
      view.again();
    },
  });
}

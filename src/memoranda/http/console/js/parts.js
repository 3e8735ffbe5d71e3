// Pieces that several pages are made of: forms, notices, dialogs, pages of a list, long work.

import { h, said } from "./dom.js";
import { icon } from "./icons.js";
import { count, number, plain } from "./words.js";

const NOTICE_MS = 8_000;
let made = 0;
let inDialog = false;

export function newId(name) {
  made += 1;
  return `${name}-${made}`;
}

// -- headings, empty, wrong --

export function heading(title, ...beside) {
  return h(
    "header",
    { class: "page-head" },
    h("h1", { tabIndex: -1 }, title),
    h("div", { class: "page-acts" }, beside),
  );
}

export function empty(title, advice, ...acts) {
  return h("div", { class: "empty" }, h("p", { class: "empty-title" }, title), advice && h("p", null, advice), acts);
}

// What went wrong, and the next move.
export function wrong(error, ...acts) {
  return h(
    "div",
    { class: "wrong", role: "alert" },
    h("p", { class: "wrong-title" }, icon("warning"), said(error.detail ?? error.message)),
    error.hint && h("p", null, said(error.hint)),
    error.candidates?.length ? h("p", null, "It may be: ", said(error.candidates.join(", "))) : null,
    acts,
  );
}

export function loading(label = "Loading …") {
  return h("p", { class: "loading", role: "status" }, h("span", { class: "spinner", aria: { hidden: true } }), label);
}

// -- notices --

export function notify(text, { act, onAct, bad = false } = {}) {
  const box = h(
    "div",
    { class: bad ? "notice bad" : "notice" },
    h("span", null, text),
    act &&
      button(
        act,
        () => {
          box.remove();
          onAct();
        },
        { class: "quiet" },
      ),
    button([icon("close")], () => box.remove(), { class: "quiet", label: "Close this notice" }),
  );
  document.getElementById("notices").append(box);
  // Whoever reads it, or is about to use it, is not hurried.
  let going = setTimeout(() => box.remove(), NOTICE_MS);
  for (const event of ["mouseenter", "focusin"]) box.addEventListener(event, () => clearTimeout(going));
  for (const event of ["mouseleave", "focusout"]) {
    box.addEventListener(event, () => {
      going = setTimeout(() => box.remove(), NOTICE_MS);
    });
  }
}

export function notifyOf(error) {
  if (error.name === "AbortError") return;
  notify([error.detail ?? error.message, error.hint].filter(Boolean).join(". "), { bad: true });
}

// -- buttons --

export function button(
  label,
  onClick,
  { class: style = "", type = "button", label: said_, title, disabled, pressed } = {},
) {
  return h(
    "button",
    {
      type,
      class: `button ${style}`.trim(),
      disabled,
      title,
      aria: { label: said_, pressed },
      on: onClick ? { click: onClick } : {},
    },
    label,
  );
}

// A button that is busy while its work goes on, and tells what went wrong.
export function doing(label, work, options) {
  const made_ = button(
    label,
    async () => {
      made_.disabled = true;
      made_.setAttribute("aria-busy", "true");
      try {
        await work();
      } catch (error) {
        notifyOf(error);
      } finally {
        made_.disabled = false;
        made_.removeAttribute("aria-busy");
      }
    },
    options,
  );
  return made_;
}

// -- fields --

// A label with its input, and what is to be said about it.
export function field(label, input, { help = "", class: style = "" } = {}) {
  input.id ||= newId("field");
  const helpId = help ? `${input.id}-help` : "";
  if (helpId) input.setAttribute("aria-describedby", helpId);
  return h(
    "div",
    { class: `field ${style}`.trim() },
    h("label", { htmlFor: input.id }, label),
    input,
    help && h("p", { class: "help", id: helpId }, help),
  );
}

// The same field has the same id whenever a page is drawn, so that the focus finds its way back; a dialog has its own.
function stableId(name) {
  return inDialog ? newId(`in-${name}`) : `in-${name}`;
}

export function input(name, value = "", props = {}) {
  return h("input", { type: "text", name, value: value ?? "", autocomplete: "off", id: stableId(name), ...props });
}

export function area(name, value = "", props = {}) {
  return h("textarea", { name, value: value ?? "", rows: 3, id: stableId(name), ...props });
}

// Choices are words, or [value, label]; `any` is the label of the empty choice, `usual` the choice that is empty.
export function select(name, choices, chosen = "", { any, usual, ...props } = {}) {
  const listed = choices.map((each) => (Array.isArray(each) ? each : [each, plain(each)]));
  const at = listed.findIndex(([value]) => value === usual);
  if (at >= 0) listed.splice(at, 1, ["", `${listed[at][1]} (usual)`]);
  if (any !== undefined) listed.unshift(["", any]);
  const made_ = h(
    "select",
    { name, id: stableId(name), ...props },
    listed.map(([value, label]) => h("option", { value }, label)),
  );
  made_.value = chosen === usual ? "" : (chosen ?? "");
  return made_;
}

// Several of a closed set, as boxes to tick.
export function ticks(legend, name, choices, chosen) {
  const on = new Set(chosen);
  return h(
    "fieldset",
    { class: "ticks" },
    h("legend", null, legend),
    choices.map((each) =>
      h(
        "label",
        { class: "tick" },
        h("input", { type: "checkbox", name, value: each, checked: on.has(each), id: stableId(`${name}-${each}`) }),
        plain(each),
      ),
    ),
  );
}

export function tick(name, label, checked) {
  const box = h("input", { type: "checkbox", name, value: "true", checked, id: stableId(name) });
  return h("label", { class: "tick" }, box, label);
}

// What a form says: a text for each name, a list for those that are named in `lists`.
export function said_in(form, lists = []) {
  const data = new FormData(form);
  const found = {};
  for (const name of new Set(data.keys())) {
    found[name] = lists.includes(name) ? data.getAll(name) : String(data.get(name));
  }
  for (const name of lists) found[name] ??= [];
  return found;
}

// A form that keeps its own errors: `submit(values)` may throw a Problem, which is shown in it with its `acts`.
export function form(children, submit, { lists = [], class: style = "", label } = {}) {
  const trouble = h("div", { class: "form-trouble" });
  const made_ = h("form", { class: style, aria: { label }, on: { submit: onSubmit } }, children, trouble);
  async function onSubmit(event) {
    event.preventDefault();
    if (made_.getAttribute("aria-busy")) return;
    made_.setAttribute("aria-busy", "true");
    trouble.replaceChildren();
    try {
      await submit(said_in(made_, lists));
    } catch (error) {
      if (error.name !== "AbortError") trouble.append(wrong(error, error.acts));
    } finally {
      made_.removeAttribute("aria-busy");
    }
  }
  return made_;
}

// -- dialogs --

// A dialog with a title; closes by Escape, by its cross, and by `close()`. `make(close)` gives what is in it.
export function dialog(title, make, { class: style = "", onClose } = {}) {
  const titleId = newId("dialog");
  const opener = document.activeElement;
  const box = h("dialog", { class: `dialog ${style}`.trim(), aria: { labelledby: titleId } });
  const close = () => box.close();
  inDialog = true;
  const body = make(close);
  inDialog = false;
  box.append(
    h(
      "div",
      { class: "dialog-head" },
      h("h2", { id: titleId }, title),
      button([icon("close")], close, { class: "quiet", label: "Close" }),
    ),
    h("div", { class: "dialog-body" }, body),
  );
  box.addEventListener("click", (event) => {
    if (event.target === box || event.target.closest('a[href^="#"]')) close();
  });
  box.addEventListener("close", () => {
    box.remove();
    onClose?.();
    if (opener?.isConnected) opener.focus();
  });
  document.body.append(box);
  box.showModal();
  box.querySelector(".dialog-body :is(input, textarea, select)")?.focus();
  return box;
}

// Asks before something is done. With `typed`, that word has to be typed first.
export function confirmed(title, body, { act = "Go on", typed = "", danger = false } = {}) {
  return new Promise((resolve) => {
    let answer = false;
    dialog(
      title,
      (close) => {
        const word = typed && input("typed", "", { required: true, spellcheck: false });
        const yes = button(act, null, { type: "submit", class: danger ? "danger" : "main", disabled: Boolean(typed) });
        if (word)
          word.addEventListener("input", () => {
            yes.disabled = word.value.trim() !== typed;
          });
        return form(
          [
            body,
            word && field(`Type “${typed}” to go on`, word),
            h("div", { class: "acts" }, yes, button("Cancel", close)),
          ],
          () => {
            answer = true;
            close();
          },
        );
      },
      { onClose: () => resolve(answer) },
    );
  });
}

// -- lists --

// The pages before and after one of a list; `to(offset)` is the address of one.
export function pager({ offset, limit, total, to, words = ["Newer page", "Older page"] }) {
  if (total <= limit && offset === 0) return null;
  const last = Math.min(offset + limit, total);
  const link = (label, where, there) =>
    there
      ? h("a", { class: "button", href: to(where) }, label)
      : h("span", { class: "button off", aria: { disabled: true } }, label);
  return h(
    "nav",
    { class: "pager", aria: { label: "Pages" } },
    link(words[0], Math.max(0, offset - limit), offset > 0),
    h("span", null, `${number(Math.min(offset + 1, total))}–${number(last)} of ${number(total)}`),
    link(words[1], offset + limit, last < total),
  );
}

export function facts(pairs) {
  return h(
    "dl",
    { class: "facts" },
    pairs
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))),
  );
}

export function table(caption, columns, rows, { class: style = "" } = {}) {
  return h(
    "div",
    { class: "table-frame", tabIndex: 0, role: "region", aria: { label: caption } },
    h(
      "table",
      { class: style },
      h("caption", { class: "unseen-caption" }, caption),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          columns.map((each) => h("th", { scope: "col" }, each)),
        ),
      ),
      h(
        "tbody",
        null,
        rows.map((cells) =>
          h(
            "tr",
            null,
            cells.map((each, at) => h("td", { data: { label: columns[at] } }, each)),
          ),
        ),
      ),
    ),
  );
}

// -- long work --

// Shows progress with a way to cancel, then what came of it. `run({progress, signal})` does the work.
export function longWork(place, label, run) {
  const stop = new AbortController();
  const bar = h("progress", { aria: { label } });
  const told = h("span", { class: "work-told", role: "status" }, label);
  const box = h(
    "div",
    { class: "work" },
    told,
    bar,
    button("Cancel", () => stop.abort()),
  );
  place.replaceChildren(box);
  const progress = ({ done, total }) => {
    if (total) [bar.max, bar.value] = [total, done];
    told.textContent = total ? `${label}: ${number(done)} of ${number(total)}` : `${label}: ${count(done, "step")}`;
  };
  return run({ progress, signal: stop.signal }).then(
    (result) => {
      box.remove();
      return result;
    },
    (error) => {
      const stopped = error.name === "AbortError";
      place.replaceChildren(stopped ? h("p", { class: "help" }, `${label}: cancelled.`) : wrong(error));
      return null;
    },
  );
}

// -- files --

// Saves something that the console has, under a name of ours.
export function download(name, body, type = "application/json") {
  const made_ = URL.createObjectURL(new Blob([body], { type }));
  const link = h("a", { href: made_, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(made_), 10_000);
}

export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    notify(`${what} copied.`);
  } catch {
    notify("The browser does not let the console copy; select the text instead.", { bad: true });
  }
}

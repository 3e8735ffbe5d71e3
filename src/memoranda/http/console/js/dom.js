// Elements out of values. All text becomes text nodes; nothing here, nor elsewhere in the console, parses markup.

const SVG = "http://www.w3.org/2000/svg";

// Only these may be set. None of them takes markup or a script.
const PROPERTIES = new Set([
  "id",
  "type",
  "value",
  "name",
  "placeholder",
  "checked",
  "disabled",
  "required",
  "selected",
  "multiple",
  "min",
  "max",
  "step",
  "rows",
  "cols",
  "maxLength",
  "autocomplete",
  "spellcheck",
  "title",
  "hidden",
  "open",
  "tabIndex",
  "htmlFor",
  "dateTime",
  "dir",
  "lang",
  "colSpan",
  "scope",
  "download",
  "max",
  "readOnly",
  "inputMode",
  "label",
  "enterKeyHint",
]);
const ATTRIBUTES = new Set(["role", "list", "form", "autocapitalize"]);

const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
const ORDINARY = new Set(["\n", "\t"]);
// Not one class of characters: Chromium 156 does not find an emoji by a class that stands before the end.
const EMOJI_BEFORE = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|[\uFE0F\u20E3#*0-9])$/u;
const EMOJI_AFTER = /^\p{Extended_Pictographic}/u;
const JOINING =
  /[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Malayalam}\p{Script=Sinhala}]/u;

// An element: h("p", {class: "x", on: {click: f}, aria: {label: "…"}}, "text", node, [more]).
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) set(element, name, value);
  return add(element, children);
}

// An element of a drawing; its attributes are numbers and words of ours.
export function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (/^(on|href|style|xlink)/i.test(name)) throw new Error(`not for drawings: ${name}`);
    element.setAttribute(name, String(value));
  }
  return add(element, children);
}

export function add(element, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(shown(String(child))));
  }
  return element;
}

export function replace(element, ...children) {
  element.replaceChildren();
  return add(element, children);
}

function set(element, name, value) {
  if (value === null || value === undefined) return;
  if (name === "class") element.className = value;
  else if (name === "data") Object.assign(element.dataset, value);
  else if (name === "on")
    for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
  else if (name === "aria") for (const [key, said] of Object.entries(value)) aria(element, key, said);
  else if (name === "share") element.style.setProperty("--share", String(Number(value)));
  else if (name === "href") element.href = ownAddress(value);
  else if (PROPERTIES.has(name)) element[name] = value;
  else if (ATTRIBUTES.has(name)) element.setAttribute(name, value);
  else throw new Error(`not a property that is set: ${name}`);
}

function aria(element, key, said) {
  if (said !== null && said !== undefined) element.setAttribute(`aria-${key}`, shown(String(said)));
}

// Links lead to views of the console or to what it made itself; never to what a memory says.
function ownAddress(address) {
  if (!/^(#|blob:)/.test(address)) throw new Error("only addresses of the console are linked");
  return address;
}

// A text with every character that cannot be seen, or that turns others around, named as ⟨U+202E⟩.
export function shown(text) {
  return text.replace(UNSEEN, (char, at) => (kept(text, char, at) ? char : mark(char)));
}

// What somebody said: isolated from the direction of what stands around it, hidden characters marked.
export function said(text, props) {
  const whole = String(text ?? "");
  const element = h("bdi", { dir: "auto", ...props, class: `said ${props?.class ?? ""}`.trim() });
  let from = 0;
  for (const found of whole.matchAll(UNSEEN)) {
    if (kept(whole, found[0], found.index)) continue;
    element.append(whole.slice(from, found.index), h("span", { class: "unseen" }, mark(found[0])));
    from = found.index + found[0].length;
  }
  element.append(whole.slice(from));
  return element;
}

function mark(char) {
  return `⟨U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

// Line breaks, and what emoji and some scripts are spelled with, belong to an honest text.
function kept(text, char, at) {
  if (ORDINARY.has(char)) return true;
  const before = text.slice(Math.max(0, at - 2), at);
  const after = text.slice(at + char.length, at + char.length + 2);
  if (char === "\uFE0F" || char === "\uFE0E") return EMOJI_BEFORE.test(before) || /\p{So}$/u.test(before);
  if (char === "\u200D" && EMOJI_BEFORE.test(before) && EMOJI_AFTER.test(after)) return true;
  if (char === "\u200C" || char === "\u200D") return JOINING.test(before) && JOINING.test(after);
  return false;
}

// The frame around the pages: arriving, signing in, finding one's way, keys, theme, scope.

import { api, arrive, dropToken, keepToken, Problem, session } from "./api.js";
import { h, replace, said } from "./dom.js";
import { icon } from "./icons.js";
import { keysDialog, listen, onPageKeys } from "./keys.js";
import { clearNotes } from "./log.js";
import { GROUPS, PAGES } from "./map.js";
import { button, confirmed, dialog, facts, field, form, heading, loading, notify, wrong } from "./parts.js";
import { address, go, parse } from "./router.js";
import { chooseFirstScope, scopeButton, scopeDialog } from "./scopes.js";
import { nextTheme, themeName } from "./theming.js";
import { number } from "./words.js";

const root = document.getElementById("console");
const SAMPLE = "sample";
let frame = null;
let turn = 0;
let leaving = new AbortController();
let before = null;

// -- arriving --

async function start() {
  arrive();
  addEventListener("memoranda:signed-out", (event) => signIn(event.detail));
  addEventListener("hashchange", onHash);
  listen({ open, search: openSearch });
  await enter();
}

async function enter() {
  replace(root, h("p", { class: "waking" }, "Opening the console …"));
  frame = null;
  before = null;
  try {
    session.whoami = await api.get("whoami", {}, { scope: null });
  } catch (error) {
    if (error.status !== 401)
      replace(root, h("main", { id: "main", class: "alone" }, wrong(error, button("Try again", enter))));
    return;
  }
  const asked = parse(location.hash).params.get("in");
  session.scope = asked || (await chooseFirstScope());
  frame = build();
  await render();
}

function signIn(reason = "") {
  turn += 1;
  leaving.abort();
  dropToken();
  frame = null;
  const secret = h("input", {
    type: "password",
    name: "token",
    id: "token",
    required: true,
    autocomplete: "off",
    spellcheck: false,
  });
  replace(
    root,
    h(
      "main",
      { id: "main", class: "alone" },
      h("h1", { class: "brand" }, icon("facts"), "memoranda"),
      reason && h("p", { class: "help" }, reason),
      form(
        [
          field("Token", secret, {
            help:
              "It begins with mem_. “memoranda token create” makes one; “memoranda serve” prints an address that has one, " +
              "at each start another.",
          }),
          h("div", { class: "acts" }, button("Sign in", null, { type: "submit", class: "main" })),
        ],
        async ({ token }) => {
          keepToken(token);
          await enter();
        },
        { label: "Sign in" },
      ),
    ),
  );
  root.removeAttribute("aria-busy");
  document.title = "Sign in · Memoranda";
  secret.focus();
}

// -- the frame --

function build() {
  const main = h("main", { id: "main" });
  const where = h("div", { class: "where" });
  const nav = h("nav", { id: "navigation", class: "navigation", aria: { label: "Pages" } });
  const menu = button([icon("menu")], () => drawer(), { class: "quiet menu", label: "Menu" });
  menu.setAttribute("aria-controls", "navigation");
  menu.setAttribute("aria-expanded", "false");
  const drawer = (open = !root.classList.contains("drawer-open")) => {
    root.classList.toggle("drawer-open", open);
    menu.setAttribute("aria-expanded", String(open));
  };
  const theme = button(
    [icon("theme"), h("span", { class: "wide" }, themeName())],
    () => {
      theme.lastChild.textContent = nextTheme();
    },
    { class: "quiet", label: "Theme: light, dark or the system's" },
  );
  const banner = h("div", { class: "banner-place" });
  replace(
    root,
    h(
      "header",
      { class: "top" },
      menu,
      h("a", { class: "brand", href: address("search", { scope: session.scope }) }, icon("facts"), "memoranda"),
      where,
      h(
        "div",
        { class: "top-acts" },
        theme,
        button([icon("keys"), h("span", { class: "wide" }, "Keys")], keysDialog, {
          class: "quiet keys-button",
          label: "Keys of the keyboard",
        }),
        session.token
          ? button([icon("out"), h("span", { class: "wide" }, "Sign out")], leave, {
              class: "quiet",
              label: "Sign out",
            })
          : null,
      ),
    ),
    h("div", { class: "side" }, nav, h("p", { class: "me" }, me())),
    h("div", { class: "content" }, banner, main),
  );
  root.removeAttribute("aria-busy");
  return { main, where, nav, drawer, banner };
}

function me() {
  const { name, role, scope, version } = session.whoami;
  return [
    `${name || "somebody"}, ${role}`,
    h("br"),
    scope ? `of ${scope}` : "of the whole store",
    h("br"),
    `version ${version}`,
  ];
}

function leave() {
  clearNotes();
  signIn("You have signed out: the token is no longer kept in this tab.");
}

function navigate(current) {
  replace(
    frame.nav,
    GROUPS.map(([group, names], at) =>
      h(
        "div",
        { class: "nav-group" },
        h("p", { class: "nav-title", id: `nav-${at}` }, group),
        h(
          "ul",
          { aria: { labelledby: `nav-${at}` } },
          names
            .filter((name) => PAGES[name].may(session))
            .map((name) =>
              h(
                "li",
                null,
                h(
                  "a",
                  {
                    href: address(name, { scope: session.scope }),
                    aria: { current: name === current ? "page" : null },
                    data: { page: name },
                    on: { click: () => frame.drawer(false) },
                  },
                  icon(name),
                  PAGES[name].title,
                ),
              ),
            ),
        ),
      ),
    ),
  );
  replace(frame.where, scopeButton(openScopes));
  sampleBanner();
  countWaiting();
}

// How many wait for a decision, beside the page where they are decided.
async function countWaiting() {
  const link = frame.nav.querySelector('[data-page="review"]');
  if (!link || !session.scope) return;
  try {
    const { total } = await api.get("review", { limit: 1 });
    if (total) link.append(h("span", { class: "badge", aria: { label: `${total} waiting` } }, number(total)));
  } catch {
    // The page itself tells what is wrong.
  }
}

function sampleBanner() {
  if (!session.whoami.sample) return replace(frame.banner);
  return replace(
    frame.banner,
    h(
      "p",
      { class: "banner", role: "note" },
      "This store holds sample data, so that there is something to look at.",
      session.may("admin", { everywhere: true }) && button("Clear the sample", clearSample),
    ),
  );
}

async function clearSample() {
  const body = h("p", null, `Everything in ${SAMPLE} and below is erased, with the notes that came with it, and proven gone.`);
  if (!(await confirmed("Clear the sample data?", body, { act: "Erase the sample", danger: true }))) return;
  try {
    const gone = await api.post("sample/clear", {}, { scope: null });
    session.whoami = await api.get("whoami", {}, { scope: null });
    session.scope = await chooseFirstScope();
    dialog(
      "The sample is gone",
      (close) => [
        facts([
          ["Memories", number(gone.memories)],
          ["Conversations", number(gone.conversations)],
          ["Traces found", number(gone.found)],
          ["Files that somebody changed, and that stay", gone.left.length ? said(gone.left.join(", ")) : null],
        ]),
        h("div", { class: "acts" }, button("Close", close)),
      ],
      { onClose: () => go(address("search", { scope: session.scope })) },
    );
  } catch (error) {
    notify(`${error.detail ?? error.message}. ${error.hint ?? ""}`, { bad: true });
  }
}

function openScopes() {
  scopeDialog((scope) => {
    session.scope = scope;
    const { page } = parse(location.hash);
    go(address(PAGES[page]?.within ?? page, { scope }));
  });
}

// -- one page --

function onHash() {
  // A token may arrive while the page is open already.
  if (location.hash.startsWith("#token=")) {
    arrive();
    enter();
  } else if (location.hash === "#main") {
    history.replaceState(null, "", before || address("search", { scope: session.scope }));
    document.getElementById("main")?.querySelector("h1")?.focus();
  } else if (frame && !closedDialog()) {
    render();
  }
}

// Going back with a dialog open closes it, and stays on the page that it belongs to.
function closedDialog() {
  const open = [...document.querySelectorAll("dialog[open]")].at(-1);
  if (!open) return false;
  history.pushState(null, "", before || location.pathname + location.search);
  open.close();
  return true;
}

async function render() {
  turn += 1;
  const mine = turn;
  leaving.abort();
  leaving = new AbortController();
  onPageKeys({});
  const { page, rest, params } = parse(location.hash);
  const scope = params.get("in");
  if (scope) session.scope = scope;
  const known = PAGES[page];
  const first = before === null;
  const same = !first && parse(before).page === page;
  const focused = same ? document.activeElement?.id : "";
  before = location.hash;
  navigate(known?.under ?? page);
  if (!same) replace(frame.main, loading());
  frame.main.setAttribute("aria-busy", "true");
  let made;
  try {
    made = await content(known, view({ page, rest, params, signal: leaving.signal, current: () => mine === turn }));
  } catch (error) {
    if (mine !== turn || error.name === "AbortError") return;
    made = [heading(known?.title ?? "Not found"), wrong(error, button("Try again", render))];
  }
  if (mine !== turn || !frame) return;
  replace(frame.main, made);
  frame.main.removeAttribute("aria-busy");
  document.title = `${known?.title ?? "Not found"} · Memoranda`;
  const back = focused ? document.getElementById(focused) : null;
  if (back) back.focus();
  else if (!same && !first) frame.main.querySelector("h1")?.focus();
}

async function content(known, given) {
  if (!known) throw new Problem(404, { detail: "there is no such page", hint: "Choose one at the side." });
  if (known.scoped !== false && !session.scope) {
    return [
      heading(known.title),
      h(
        "div",
        { class: "empty" },
        h("p", { class: "empty-title" }, "Which scope?"),
        h("p", null, "Nothing is kept in this store yet. Choose the scope to begin with, such as home/anna."),
        button("Choose a scope", openScopes, { class: "main" }),
      ),
    ];
  }
  const { page } = await known.load();
  return page(given);
}

// What a page is given.
function view({ page, rest, params, signal, current }) {
  return {
    rest,
    params,
    signal,
    current,
    scope: session.scope,
    may: (role, options) => session.may(role, options),
    href: (name, asked = {}, more = "") => address(name, { rest: more, params: asked, scope: session.scope }),
    go: (name, asked = {}, more = "") => go(address(name, { rest: more, params: asked, scope: session.scope })),
    // The same page with other parameters.
    stay: (asked = {}) => go(address(page, { rest, params: asked, scope: session.scope })),
    again: () => render(),
    keys: onPageKeys,
  };
}

function open(page) {
  if (frame && PAGES[page]) go(address(page, { scope: session.scope }));
}

function openSearch() {
  const box = document.querySelector("main [data-search]");
  if (box) box.focus();
  else if (frame) open("search");
}

start();

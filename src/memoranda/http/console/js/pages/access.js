// Access: who one is, the tokens that open this store, and how a program uses one.

import { api, Problem, session } from "../api.js";
import { h, said } from "../dom.js";
import { icon } from "../icons.js";
import {
  button,
  confirmed,
  copy,
  dialog,
  doing,
  empty,
  facts,
  field,
  form,
  heading,
  input,
  notify,
  select,
  table,
  tick,
} from "../parts.js";
import { count, exact, plain, ROLES, when } from "../words.js";

const GIVEN = "mem_…";
const ROLE_WORDS = [
  ["reader", "reader: asks"],
  ["writer", "writer: also keeps and hides"],
  ["admin", "admin: also decides, erases, lets others in"],
];

export async function page(view) {
  const me = session.whoami;
  const mayGive = view.may("admin");
  return [
    heading(
      "Access",
      mayGive ? button([icon("plus"), "Make a token"], () => makeDialog(view), { class: "main" }) : null,
    ),
    h(
      "section",
      { class: "panel" },
      h("h2", null, "You"),
      facts([
        ["Name", said(me.name || "somebody")],
        ["Role", plain(me.role)],
        ["Reaches", me.everywhere ? "every scope of the store" : said(`${me.scope} and below`)],
        ["Sees above it", me.everywhere ? null : me.above ? "yes, without changing it" : "no"],
        ["Version", me.version],
      ]),
    ),
    mayGive ? await tokensPanel(view) : h("p", { class: "help why-absent" }, "Tokens are seen and made by admins."),
    snippets(GIVEN, view.scope || me.scope || "home/anna"),
  ];
}

// -- tokens --

async function tokensPanel(view) {
  const { items } = await api.get("tokens", {}, { scope: null, signal: view.signal });
  return h(
    "section",
    { class: "tokens" },
    h("h2", null, "Tokens"),
    items.length
      ? table(
          "Tokens",
          ["Name", "Role", "Reaches", "Made", "Used last", "Good until", ""],
          [...items].reverse().map((each) => row(each, view)),
        )
      : empty(
          "No token was made yet",
          "Each program gets its own: bound to a scope and a role, and revoked by itself.",
        ),
  );
}

function row(token, view) {
  const expired = Boolean(token.expires_at) && Date.parse(token.expires_at) <= Date.now();
  return [
    h("span", null, said(token.name || "without a name"), h("br"), h("code", { class: "help" }, `mem_${token.id}_…`)),
    plain(token.role),
    h(
      "span",
      null,
      token.scope ? said(token.scope) : "every scope",
      token.above ? h("span", { class: "help" }, " and sees above") : null,
    ),
    when(token.created_at),
    token.last_used_at ? when(token.last_used_at) : h("span", { class: "nothing" }, "never"),
    goodUntil(token, expired),
    token.revoked_at || expired
      ? null
      : button("Revoke", () => revoke(token, view), { class: "quiet", label: `Revoke ${token.name || token.id}` }),
  ];
}

function goodUntil(token, expired) {
  if (token.revoked_at) return h("span", { class: "chip bad" }, "revoked");
  if (expired) return h("span", { class: "chip warn" }, "expired");
  if (!token.expires_at) return "it is revoked";
  return [exact(token.expires_at).slice(0, 10), h("br"), h("span", { class: "help" }, when(token.expires_at))];
}

async function revoke(token, view) {
  const body = h(
    "p",
    null,
    "Whoever holds ",
    said(token.name || token.id),
    " (",
    h("code", null, `mem_${token.id}_…`),
    ") is no longer let in, nor is who holds a token that was made with it. ",
    "This cannot be taken back; another can be made.",
  );
  if (!(await confirmed("Revoke this token", body, { act: "Revoke", danger: true }))) return;
  try {
    const { others } = await api.post(`tokens/${encodeURIComponent(token.id)}/revoke`, {}, { scope: null });
    notify(others.length ? `Revoked, with ${count(others.length, "token")} that it had made.` : "Revoked.");
  } catch (error) {
    notify(`${error.detail} ${error.hint}`, { bad: true });
  }
  view.again();
}

function makeDialog(view) {
  const me = session.whoami;
  const scope = input("scope", view.scope || me.scope, { id: "token-scope", spellcheck: false, required: true });
  const everywhere = tick("everywhere", "It reaches the whole store", false);
  everywhere.addEventListener("change", ({ target }) => {
    scope.disabled = target.checked;
  });
  dialog("Make a token", (close) =>
    form(
      [
        field("Name", input("name", "", { placeholder: "living room speaker" }), {
          help: "By which you know it later.",
        }),
        h(
          "div",
          { class: "fields" },
          field(
            "Role",
            select(
              "role",
              ROLE_WORDS.filter(([role]) => ROLES.indexOf(role) <= ROLES.indexOf(me.role)),
              "writer",
            ),
          ),
          field("Scope", scope, {
            help: me.everywhere ? "It reaches this scope and those below." : `${me.scope} or below.`,
          }),
          field("Good for days", input("days", "90", { type: "number", min: "1", max: "3650" }), {
            help: "Empty: until it is revoked.",
          }),
        ),
        me.everywhere ? everywhere : null,
        me.above || me.everywhere
          ? tick("above", "It also sees, and never changes, what is kept above its scope", false)
          : null,
        h(
          "div",
          { class: "acts" },
          button("Make it", null, { type: "submit", class: "main" }),
          button("Cancel", close),
        ),
      ],
      async ({ name, role, scope: written = "", everywhere: all, days, above }) => {
        if (all !== "true" && !written.trim())
          throw new Problem(422, {
            detail: "a scope is needed",
            hint: "Write the scope that it is for: one that is missing is never a wider one.",
          });
        const made = await api.post(
          "tokens",
          {
            name: name.trim(),
            role,
            scope: all === "true" ? "" : written.trim(),
            days: days ? Number(days) : null,
            above: above === "true",
          },
          { scope: null },
        );
        close();
        showSecret(made, view);
      },
      { label: "Make a token" },
    ),
  );
}

// The secret is in this dialog and nowhere else: not in the address, not in the log of receipts.
function showSecret({ token, secret }, view) {
  const box = h("input", {
    type: "text",
    readOnly: true,
    value: secret,
    class: "secret mono",
    aria: { label: "The token" },
    on: { focus: () => box.select() },
  });
  dialog(
    "Here is the token",
    (close) => [
      h(
        "p",
        { class: "warned" },
        "It is shown now and never again: only its hash is kept. Copy it to where it is used.",
      ),
      h(
        "div",
        { class: "search-line" },
        box,
        button("Copy", () => copy(secret, "Token"), { class: "main" }),
      ),
      facts([
        ["Name", said(token.name || "without a name")],
        ["Role", plain(token.role)],
        ["Reaches", token.scope ? said(`${token.scope} and below`) : "every scope"],
      ]),
      h(
        "details",
        null,
        h("summary", null, "How a program uses it"),
        snippets(secret, token.scope || view.scope || "home/anna"),
      ),
      h("div", { class: "acts" }, button("Done", close)),
    ],
    { class: "wide", onClose: () => view.again() },
  );
}

// -- snippets --

function snippets(token, scope) {
  const base = new URL(".", location.href).href.replace(/\/$/, "");
  const inside = encodeURIComponent(scope).replaceAll("%2F", "/");
  const shown = [
    [
      "Python",
      `import memoranda\n\nmemory = memoranda.connect("${base}", token="${token}", scope="${scope}")\nmemory.remember("Anna prefers short answers.", kind="preference")\nfor hit in memory.recall("how long should answers be?"):\n    print(hit.memory.text)`,
    ],
    [
      "curl",
      `curl -s "${base}/v1/recall?scope=${inside}" \\\n  -H "Authorization: Bearer ${token}" -H "Content-Type: application/json" \\\n  -d '{"query": "how long should answers be?"}'`,
    ],
    [
      "MCP, for Claude Code",
      `claude mcp add --transport http memoranda "${base}/mcp?scope=${inside}" \\\n  --header "Authorization: Bearer ${token}"`,
    ],
    [
      "MCP, for a configuration file",
      JSON.stringify(
        {
          mcpServers: {
            memoranda: {
              type: "http",
              url: `${base}/mcp?scope=${inside}`,
              headers: { Authorization: `Bearer ${token}` },
            },
          },
        },
        null,
        2,
      ),
    ],
  ];
  return h(
    "section",
    { class: "snippets" },
    h("h2", null, "How a program connects"),
    token === GIVEN
      ? h(
          "p",
          { class: "help" },
          `Put the token of the program in the place of ${GIVEN}; it is better kept in the variable MEMORANDA_TOKEN.`,
        )
      : null,
    shown.map(([name, text]) =>
      h(
        "div",
        { class: "snippet-box" },
        h(
          "div",
          { class: "panel-head" },
          h("h3", null, name),
          button("Copy", () => copy(text, name), { class: "quiet", label: `Copy: ${name}` }),
        ),
        h("pre", { class: "json", tabIndex: 0, aria: { label: name } }, said(text)),
      ),
    ),
  );
}

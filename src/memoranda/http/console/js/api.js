// The server: one function for each way of asking, errors as `Problem`, long work with its progress.

import { note } from "./log.js";
import { decoded } from "./router.js";

const TOKEN = "memoranda.token";
const WRITES = new Set(["POST", "PUT", "PATCH", "DELETE"]);
const ROLES = ["reader", "writer", "admin"];

export const session = {
  token: "",
  whoami: null,
  scope: "",
  // Whether the token's role is enough; `everywhere` asks for one that is bound to no scope.
  may(role, { everywhere = false } = {}) {
    const me = this.whoami;
    return Boolean(me) && ROLES.indexOf(me.role) >= ROLES.indexOf(role) && (!everywhere || Boolean(me.everywhere));
  },
};

// What the server answers when it does not do what was asked.
export class Problem extends Error {
  constructor(status, told) {
    super(told?.detail || told?.title || `the server answered ${status}`);
    this.status = status;
    this.title = told?.title ?? "";
    this.detail = this.message;
    this.hint = told?.hint ?? "";
    this.candidates = told?.candidates ?? [];
  }
}

// -- the token --

// A token in the address is taken over and at once removed from there, so that it is not copied or bookmarked.
export function arrive() {
  const given = /^#token=([^&]+)/.exec(location.hash);
  if (given) {
    keepToken(decoded(given[1]));
    history.replaceState(null, "", location.pathname + location.search);
  } else {
    session.token = stored((tab) => tab.getItem(TOKEN)) ?? "";
  }
}

export function keepToken(token) {
  session.token = token.trim();
  stored((tab) => tab.setItem(TOKEN, session.token));
}

export function dropToken() {
  session.token = "";
  session.whoami = null;
  stored((tab) => tab.removeItem(TOKEN));
}

// Where a browser keeps nothing, the token lives as long as the page.
function stored(use) {
  try {
    return use(sessionStorage);
  } catch {
    return null;
  }
}

// -- asking --

export const api = {
  get: (path, query, options) => ask("GET", path, { ...options, query }),
  post: (path, body, options) => ask("POST", path, { ...options, body }),
  put: (path, body, options) => ask("PUT", path, { ...options, body }),
  patch: (path, body, options) => ask("PATCH", path, { ...options, body }),
  stream,
};

// `scope: null` asks without one; otherwise the scope that is looked at goes along.
async function ask(method, path, { query, body, scope, signal } = {}) {
  const response = await reach(method, path, { query, body, scope, signal, accept: "application/json" });
  if (response.status === 204) return null;
  const answer = await read(response);
  if (!response.ok) throw problem(response.status, answer);
  if (answer?.receipt) note(method, path, answer.receipt, session.scope);
  return answer;
}

// Long work: `progress({done, total})` is called as it goes on; the result is what it comes to.
async function stream(path, body, { query, scope, signal, progress = () => {} } = {}) {
  const response = await reach("POST", path, { query, body: body ?? {}, scope, signal, accept: "text/event-stream" });
  if (!response.ok) throw problem(response.status, await read(response));
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return read(response);
  for await (const { event, data } of events(response.body)) {
    if (event === "progress") progress(data);
    if (event === "problem") throw problem(data?.status ?? 500, data);
    if (event === "result") {
      if (data?.receipt) note("POST", path, data.receipt, session.scope);
      return data;
    }
  }
  throw new Problem(502, { detail: "the work ended without a result", hint: "Look at Health, then try again." });
}

async function reach(method, path, { query, body, scope, signal, accept }) {
  const headers = { Accept: accept };
  if (session.token) headers.Authorization = `Bearer ${session.token}`;
  if (WRITES.has(method)) headers["Idempotency-Key"] = randomKey();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    return await fetch(target(path, query, scope), {
      method,
      headers,
      signal,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: "the server cannot be reached", hint: "Check that it runs, then try again." });
  }
}

function target(path, query, scope) {
  const asked = new URLSearchParams();
  const where = scope === undefined ? session.scope : scope;
  if (where) asked.set("scope", where);
  for (const [name, given] of Object.entries(query ?? {})) {
    for (const each of [given].flat()) {
      if (each !== "" && each !== null && each !== undefined) asked.append(name, String(each));
    }
  }
  const sent = asked.toString();
  return `v1/${path}${sent ? `?${sent}` : ""}`;
}

async function read(response) {
  try {
    return await response.json();
  } catch {
    return null;
  }
}

function problem(status, told) {
  if (status === 401) dispatchEvent(new CustomEvent("memoranda:signed-out", { detail: told?.detail ?? "" }));
  return new Problem(status, told);
}

function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// -- server-sent events --

async function* events(body) {
  let waiting = "";
  for await (const piece of pieces(body.pipeThrough(new TextDecoderStream()))) {
    waiting += piece.replaceAll("\r\n", "\n");
    let end;
    while ((end = waiting.indexOf("\n\n")) >= 0) {
      const block = waiting.slice(0, end);
      waiting = waiting.slice(end + 2);
      const found = event(block);
      if (found) yield found;
    }
  }
}

// Not every browser can iterate a stream by itself.
async function* pieces(stream) {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function event(block) {
  let name = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
  }
  if (!data.length) return null;
  return { event: name, data: JSON.parse(data.join("\n")) };
}

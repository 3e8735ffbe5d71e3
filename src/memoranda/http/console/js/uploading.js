// A file that somebody chose, sent as it is to the one door that takes files.

import { note } from "./log.js";
import { Problem, session } from "./api.js";

const MOST_BYTES = 64 * 1024 * 1024;

export async function upload(path, file, query) {
  if (file.size > MOST_BYTES)
    throw new Problem(413, { detail: "the file is larger than 64 MiB", hint: "Cut it into parts." });
  const asked = new URLSearchParams({ scope: session.scope });
  for (const [name, given] of Object.entries(query)) if (given) asked.set(name, given);
  const headers = { Accept: "application/json", "Content-Type": "application/octet-stream" };
  if (session.token) headers.Authorization = `Bearer ${session.token}`;
  let response;
  try {
    response = await fetch(`v1/${path}?${asked}`, {
      method: "POST",
      headers,
      body: file,
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
    });
  } catch {
    throw new Problem(0, { detail: "the file could not be sent", hint: "Check that the server runs, then try again." });
  }
  const answer = await response.json().catch(() => null);
  if (!response.ok) throw new Problem(response.status, answer);
  note("POST", path, { ...answer, conversations: answer.conversations.length, bad: answer.bad_total }, session.scope);
  return answer;
}

// What a correction replaced, and what took its place.

import { api } from "./api.js";

const PAGE = 200;
const MOST_PAGES = 5;

// The versions before this one, as far as they are still kept: those it replaced, those that they replaced, and so on.
export async function earlier(memory, { signal } = {}) {
  const replaced = Map.groupBy(await superseded(signal), (each) => each.superseded_by);
  const found = new Map();
  for (let now = [memory]; now.length; ) {
    now = now.flatMap((each) => replaced.get(each.id) ?? []).filter((each) => !found.has(each.id));
    for (const each of now) found.set(each.id, each);
  }
  return [...found.values()];
}

async function superseded(signal) {
  const found = [];
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const asked = { states: "superseded", limit: PAGE, offset: page * PAGE };
    const { memories, total } = await api.get("memories", asked, { signal });
    found.push(...memories);
    if (!memories.length || found.length >= total) break;
  }
  return found;
}

// What took its place; null when that is no longer kept.
export async function successor(memory, { signal } = {}) {
  try {
    return await api.get(`memories/${encodeURIComponent(memory.superseded_by)}`, {}, { signal });
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

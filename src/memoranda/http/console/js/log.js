// The last operations of this session with their receipts. They live as long as the page does.

const MOST = 100;
const kept = [];

export function note(method, path, receipt, scope) {
  kept.unshift({ at: new Date().toISOString(), method, path, receipt, scope });
  kept.length = Math.min(kept.length, MOST);
}

export function noted() {
  return [...kept];
}

export function clearNotes() {
  kept.length = 0;
}

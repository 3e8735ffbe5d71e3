// Light, dark, or as the system has it. What was chosen is kept in this browser.

const KEY = "memoranda.theme";
const NAMES = { "": "System", light: "Light", dark: "Dark" };
const ORDER = ["", "light", "dark"];

export function themeName() {
  return NAMES[chosen()];
}

// Goes to the next one and tells its name.
export function nextTheme() {
  const next = ORDER[(ORDER.indexOf(chosen()) + 1) % ORDER.length];
  if (next) document.documentElement.dataset.theme = next;
  else delete document.documentElement.dataset.theme;
  try {
    if (next) localStorage.setItem(KEY, next);
    else localStorage.removeItem(KEY);
  } catch {
    // It then holds for this page only.
  }
  return NAMES[next];
}

function chosen() {
  return document.documentElement.dataset.theme ?? "";
}

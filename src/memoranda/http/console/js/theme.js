// Before the first paint: the theme that was chosen, if any. Otherwise the system's.
try {
  const chosen = localStorage.getItem("memoranda.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Storage may be switched off; the system's theme is then used.
}

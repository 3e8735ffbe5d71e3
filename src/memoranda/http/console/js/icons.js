// Small drawings of our own, in the colour of the text around them. They say nothing that a word beside does not say.

import { svg } from "./dom.js";

const PATHS = {
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14Zm5 12 4 4",
  browse: "M4 6h16M4 12h16M4 18h10",
  profile: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM5 20c1-4 4-5.500 7-5.500s6 1.500 7 5.500",
  facts: "M6 4h9l4 4v12H6ZM9 11h7M9 15h7",
  preferences: "M5 7h8m4 0h2M5 17h2m4 0h8M15 5v4M9 15v4",
  review: "M4 5h16v11H9l-5 4ZM9 10l2 2 4-4",
  conversations: "M4 5h12v8H9l-5 4ZM9 16v1h6l5 3v-9h-4",
  documents: "M7 3h7l4 4v14H7ZM14 3v4h4",
  timeline: "M6 4v16M6 7h8M6 12h12M6 17h6",
  receipts: "M6 3h12v18l-3-2-3 2-3-2-3 2ZM9 8h6M9 12h6",
  health: "M3 12h4l3-7 4 14 3-7h4",
  access: "M8 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8Zm4 4h9v4m-4-4v3",
  scope: "M5 5h6v5H5ZM13 14h6v5h-6ZM8 10v6.500h5",
  theme: "M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9Z",
  keys: "M3 7h18v10H3ZM7 11h.1M11 11h.1M15 11h.1M8 14h8",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6 6 18",
  out: "M10 4H5v16h5M14 8l4 4-4 4M18 12H9",
  fact: "M6 4h9l4 4v12H6ZM9 12h7",
  preference: "M12 19C6 15 4 12 4 9a4 4 0 0 1 8-1 4 4 0 0 1 8 1c0 3-2 6-8 10Z",
  decision: "M12 3v6M12 9l-6 6v6M12 9l6 6v6",
  entity: "M12 3l8 4.500v9L12 21l-8-4.500v-9ZM4 7.500l8 4.500 8-4.500M12 12v9",
  episode: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16Zm0 4v4l3 2",
  note: "M5 4h14v10l-5 6H5ZM19 14h-5v6",
  tick: "M5 12l5 5L20 7",
  cross: "M6 6l12 12M18 6 6 18",
  warning: "M12 4 2.500 20h19ZM12 10v5M12 17.500v.1",
  download: "M12 4v11m-5-5 5 5 5-5M5 20h14",
  plus: "M12 5v14M5 12h14",
};

export function icon(name) {
  return svg(
    "svg",
    { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: PATHS[name] ?? PATHS.note }),
  );
}

// The pages: what they are called, how they are reached, who may see them.

const anybody = () => true;

// `key` follows g; `under` marks another page as the current one; `within` is where a change of scope leads.
export const PAGES = {
  search: { title: "Search", key: "s", may: anybody, load: () => import("./pages/search.js") },
  browse: { title: "Browse", key: "b", may: anybody, load: () => import("./pages/browse.js") },
  memory: { title: "Memory", may: anybody, under: "browse", within: "browse", load: () => import("./pages/memory.js") },
  profile: { title: "Profile", key: "p", may: anybody, load: () => import("./pages/profile.js") },
  facts: { title: "Facts", key: "f", may: anybody, load: () => import("./pages/facts.js") },
  preferences: { title: "Preferences", key: "e", may: anybody, load: () => import("./pages/preferences.js") },
  review: { title: "Review", key: "r", may: anybody, load: () => import("./pages/review.js") },
  conversations: { title: "Conversations", key: "c", may: anybody, load: () => import("./pages/conversations.js") },
  conversation: {
    title: "Conversation",
    may: anybody,
    under: "conversations",
    within: "conversations",
    load: () => import("./pages/conversation.js"),
  },
  documents: { title: "Documents", key: "d", may: anybody, load: () => import("./pages/documents.js") },
  document: {
    title: "Document",
    may: anybody,
    under: "documents",
    within: "documents",
    load: () => import("./pages/document.js"),
  },
  timeline: { title: "Timeline", key: "t", may: anybody, load: () => import("./pages/timeline.js") },
  receipts: { title: "Receipts", key: "k", may: anybody, scoped: false, load: () => import("./pages/receipts.js") },
  health: { title: "Health", key: "h", may: anybody, load: () => import("./pages/health.js") },
  access: { title: "Access", key: "a", may: anybody, scoped: false, load: () => import("./pages/access.js") },
};

export const GROUPS = [
  ["Ask", ["search", "browse"]],
  ["Known", ["profile", "facts", "preferences", "review"]],
  ["Said and written", ["conversations", "documents"]],
  ["Looked after", ["timeline", "receipts", "health", "access"]],
];

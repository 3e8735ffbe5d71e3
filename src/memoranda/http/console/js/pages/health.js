// Health: how what is kept grows and drifts, how recalls go, and whether the store is well.

import { api } from "../api.js";
import { bars, lines, shares } from "../charts.js";
import { h, replace } from "../dom.js";
import { empty, field, form, heading, loading, select, table, tick, wrong } from "../parts.js";
import { upkeep } from "../upkeep.js";
import { count, GRADES, KINDS, number, percent, plain, STATES, TRUSTS } from "../words.js";

const DAYS = [
  ["7", "7 days"],
  ["30", "30 days"],
  ["90", "90 days"],
  ["365", "one year"],
];
const MINUTES = [
  ["60", "the last hour"],
  ["360", "6 hours"],
  ["1440", "one day"],
];
const POINTS = 12;
const TIMED = ["recall", "remember", "pack", "capture"];

export async function page(view) {
  const days = view.params.get("days") || "30";
  const minutes = view.params.get("minutes") || "60";
  const below = view.params.get("below") === "true";
  const [stats, growth] = await Promise.all([
    api.get("stats", {}, { signal: view.signal }),
    api.get("growth", { days, below }, { signal: view.signal }),
  ]);
  return [
    heading("Health"),
    choosing({ days, minutes, below }, view),
    stats.total
      ? [kept(stats), grown(growth.items), labels(stats, growth.items), captured(stats.capture)]
      : empty(
          "Nothing is kept in this scope yet",
          "As soon as something is remembered, its growth and its labels stand here.",
        ),
    activity(minutes, view),
    view.may("admin", { everywhere: true })
      ? upkeep(view)
      : h(
          "p",
          { class: "help why-absent" },
          "Checks, upkeep and the index concern the whole store: they are shown to an admin's token that reaches every scope.",
        ),
  ];
}

function choosing({ days, minutes, below }, view) {
  const made = form(
    h(
      "div",
      { class: "fields" },
      field("Growth over", select("days", DAYS, days)),
      field("Requests of", select("minutes", MINUTES, minutes)),
      h("div", { class: "at-end" }, tick("below", "With the scopes below", below)),
    ),
    (values) => view.stay({ days: values.days, minutes: values.minutes, below: values.below === "true" ? "true" : "" }),
    { label: "What is shown", class: "panel filters" },
  );
  made.addEventListener("change", () => made.requestSubmit());
  return made;
}

function panel(...children) {
  return h("section", { class: "panel" }, children);
}

// -- what is kept --

function kept(stats) {
  const unknown = stats.by_grade.unknown ?? 0;
  const figure = (value, label) => h("div", { class: "figure" }, h("b", null, value), h("span", null, label));
  return h(
    "div",
    { class: "figures" },
    figure(number(stats.total), "memories in view"),
    figure(number(stats.by_state.live ?? 0), "live"),
    figure(stats.total ? percent(unknown / stats.total) : "–", "without a grade"),
    figure(number(stats.by_trust.quarantined ?? 0), "wait for a review"),
    figure(number(stats.sequence), "events so far"),
  );
}

function grown(days) {
  const labels = days.map((each) => each.day.slice(5));
  const series = (name) => ({ label: name, values: days.map((each) => each[name]) });
  const happened = ["created", "reinforced", "superseded", "forgotten", "erased"].filter((name) =>
    days.some((each) => each[name]),
  );
  return h(
    "div",
    { class: "pairs" },
    panel(lines("Live memories", labels, [series("live")], { area: true })),
    panel(
      happened.length
        ? lines("What happened each day", labels, happened.map(series))
        : h("p", { class: "help" }, "Nothing happened in these days."),
    ),
  );
}

// -- labels and their drift --

function labels(stats, days) {
  const items = (words, counts) => words.map((word) => ({ label: plain(word), value: counts[word] ?? 0 }));
  const drift = drifted(days);
  return h(
    "div",
    { class: "pairs" },
    panel(
      shares("Grades", items(GRADES, stats.by_grade)),
      h("p", { class: "help" }, "Grades follow from the importance; what has none is unknown."),
    ),
    panel(
      drift.length > 1
        ? lines(
            "Without a grade, of what was created",
            drift.map((each) => each.from),
            [{ label: "share", values: drift.map((each) => each.share) }],
            { format: percent, area: true },
          )
        : h(
            "p",
            { class: "help" },
            "The share without a grade is drawn as soon as something was created on several days.",
          ),
    ),
    panel(
      bars(
        "Kinds",
        items(KINDS, stats.by_kind).filter((each) => each.value),
        { unit: "memories" },
      ),
    ),
    panel(shares("States", items(STATES, stats.by_state)), shares("Trust", items(TRUSTS, stats.by_trust))),
  );
}

// Single days jump between nothing and all: days are taken together, so that the share tells something.
function drifted(days) {
  const together = Math.max(1, Math.ceil(days.length / POINTS));
  const points = [];
  for (let at = 0; at < days.length; at += together) {
    const those = days.slice(at, at + together).filter((each) => each.unknown_share !== null);
    const created = those.reduce((sum, each) => sum + each.created, 0);
    const unknown = those.reduce((sum, each) => sum + each.created * each.unknown_share, 0);
    if (created) points.push({ from: days[at].day.slice(5), share: unknown / created });
  }
  return points;
}

function captured({ messages = 0, ...reasons }) {
  const items = Object.entries(reasons)
    .sort((one, other) => other[1] - one[1])
    .map(([label, value]) => ({ label: plain(label), value }));
  return panel(
    items.length
      ? bars("What capture did with messages", items, { unit: "times" })
      : h("h2", null, "What capture did with messages"),
    h(
      "p",
      { class: "help" },
      messages
        ? `${count(messages, "message")} seen since the store was made.`
        : "No message was seen yet: “capture” after a turn keeps what is worth keeping.",
    ),
  );
}

// -- requests --

function activity(minutes, view) {
  const place = h("section", { class: "panel", aria: { label: "Requests" } }, loading());
  api.get("activity", { minutes }, { scope: null, signal: view.signal }).then(
    (seen) => view.current() && replace(place, requests(seen)),
    (error) => view.current() && error.name !== "AbortError" && replace(place, wrong(error)),
  );
  return place;
}

function requests(seen) {
  const timed = TIMED.filter((door) => seen.times[door]?.count);
  const recalled = seen.series.filter((each) => each.recalls);
  const answered = seen.series.filter((each) => each.recall_p50 !== null);
  const clock = (rows) => rows.map((each) => each.at.slice(11, 16));
  const reasons = Object.entries(seen.abstained.reasons).map(([label, value]) => ({
    label: plain(label),
    value,
    hue: 5,
  }));
  return [
    h("h2", null, "How requests went"),
    h(
      "p",
      { class: "help" },
      `${count(seen.requests, "request")}, ${count(seen.errors, "error")} of this server in the last ${number(seen.minutes)} minutes, in all scopes that the token reaches.`,
      seen.complete ? "" : " Earlier ones are no longer known.",
    ),
    timed.length
      ? table(
          "Milliseconds",
          ["Milliseconds", "Times", "p50", "p95", "p99"],
          timed.map((door) => {
            const { count: many, p50, p95, p99 } = seen.times[door];
            return [plain(door), number(many), ...[p50, p95, p99].map((each) => number(each))];
          }),
        )
      : h("p", { class: "help" }, "No recall and no remember in this time: ask something in Search."),
    recalled.length > 1
      ? h(
          "div",
          { class: "pairs" },
          lines(
            "Recall, in milliseconds",
            clock(answered),
            ["p50", "p95"].map((name) => ({ label: name, values: answered.map((each) => each[`recall_${name}`]) })),
          ),
          lines(
            "Recalls that found nothing",
            clock(recalled),
            [{ label: "share", values: recalled.map((each) => each.abstained / each.recalls) }],
            { format: percent, area: true },
          ),
        )
      : null,
    seen.abstained.recalls
      ? h(
          "p",
          null,
          `${percent(seen.abstained.share)} of ${count(seen.abstained.recalls, "recall")} abstained: nothing relevant is an answer.`,
        )
      : null,
    reasons.length ? bars("Why recalls abstained", reasons, { unit: "recalls" }) : null,
  ];
}

// Charts of our own, drawn as SVG, each with a table for those who do not see it.
//
//   bars("Captured by reason", [{label: "kept", value: 12}, …], {unit: "messages"})
//   shares("Grades", [{label: "unknown", value: 30}, …])
//   lines("Growth", ["2026-03-01", …], [{label: "live", values: [1, 2, …]}, …])

import { h, replace, svg } from "./dom.js";
import { number, percent } from "./words.js";

const HEIGHT = 200;
const LEFT = 48;
const RIGHT = 8;
const BOTTOM = 26;
const TOP = 10;
const HUES = 6;

// Horizontal bars, the longest filling the width.
export function bars(title, items, { unit = "", format = number } = {}) {
  const most = Math.max(...items.map((each) => each.value), 0) || 1;
  return figure(
    title,
    h(
      "div",
      { class: "bars", aria: { hidden: true } },
      items.map((each) =>
        h(
          "div",
          { class: "bar-row" },
          h("span", { class: "bar-label" }, each.label),
          h("span", { class: `bar hue-${(each.hue ?? 0) % HUES}`, share: each.value / most }),
          h("span", { class: "bar-value" }, format(each.value)),
        ),
      ),
    ),
    ["", unit || "value"],
    items.map((each) => [each.label, format(each.value)]),
  );
}

// One bar of parts that add up to the whole.
export function shares(title, items) {
  const whole = items.reduce((sum, each) => sum + each.value, 0);
  const there = items.filter((each) => each.value > 0);
  return figure(
    title,
    h(
      "div",
      { aria: { hidden: true } },
      h(
        "div",
        { class: "shares" },
        there.map((each) => h("span", { class: `share hue-${hue(items, each)}`, share: each.value / (whole || 1) })),
      ),
      h(
        "ul",
        { class: "key" },
        items.map((each) =>
          h(
            "li",
            null,
            h("span", { class: `dot hue-${hue(items, each)}` }),
            each.label,
            " ",
            h("b", null, number(each.value)),
            ` ${whole ? percent(each.value / whole) : ""}`,
          ),
        ),
      ),
    ),
    ["", "number", "share"],
    items.map((each) => [each.label, number(each.value), percent(each.value / (whole || 1))]),
  );
}

function hue(items, each) {
  return items.indexOf(each) % HUES;
}

// One line for each series over the same labels. Drawn anew when its width changes, so that its words stay legible.
export function lines(title, labels, series, { format = number, area = false } = {}) {
  const place = h("div", { class: "lines-place", aria: { hidden: true } });
  let drawn = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.round(entry.contentRect.width);
    if (width && width !== drawn) replace(place, drawing(width, labels, series, format, area));
    drawn = width;
  }).observe(place);
  const key = h(
    "ul",
    { class: "key", aria: { hidden: true } },
    series.map((each, at) => h("li", null, h("span", { class: `dot hue-${at % HUES}` }), each.label)),
  );
  return figure(
    title,
    [place, series.length > 1 && key],
    ["", ...series.map((each) => each.label)],
    labels.map((label, at) => [label, ...series.map((each) => format(each.values[at] ?? 0))]),
  );
}

function drawing(width, labels, series, format, area) {
  const most = niceMost(Math.max(...series.flatMap((each) => each.values), 0));
  const last = labels.length - 1;
  const x = (at) => LEFT + (last < 1 ? 0 : (at * (width - LEFT - RIGHT)) / last);
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / most);
  const anchor = (at) => (at === 0 ? "start" : at === last ? "end" : "middle");
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${HEIGHT}`, class: "lines", focusable: "false" },
    [0, 0.5, 1].map((part) => [
      svg("line", { x1: LEFT, x2: width - RIGHT, y1: y(part * most), y2: y(part * most), class: "grid" }),
      svg(
        "text",
        { x: LEFT - 8, y: y(part * most) + 4, class: "tick-label", "text-anchor": "end" },
        format(part * most),
      ),
    ]),
    spread(labels).map((at) =>
      svg("text", { x: x(at), y: HEIGHT - 6, class: "tick-label", "text-anchor": anchor(at) }, labels[at]),
    ),
    series.map((each, at) => [
      area &&
        svg("path", {
          d: `${path(each.values, x, y)}L${x(last)} ${y(0)}L${x(0)} ${y(0)}Z`,
          class: `fill hue-${at % HUES}`,
        }),
      svg("path", { d: path(each.values, x, y), class: `stroke hue-${at % HUES}` }),
    ]),
  );
}

function path(values, x, y) {
  return values.map((value, at) => `${at ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("");
}

function spread(labels) {
  const last = labels.length - 1;
  return last < 1 ? [0].slice(0, labels.length) : [...new Set([0, Math.round(last / 2), last])];
}

function niceMost(value) {
  if (value <= 1) return value > 0 ? value : 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 5, 10].map((each) => each * power).find((each) => each >= value) ?? value;
}

function figure(title, drawing, columns, rows) {
  return h(
    "figure",
    { class: "chart" },
    h("figcaption", null, title),
    drawing,
    h(
      "details",
      { class: "chart-table" },
      h("summary", null, "As a table"),
      h(
        "div",
        { class: "table-frame", tabIndex: 0, role: "region", aria: { label: title } },
        h(
          "table",
          null,
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              columns.map((each) => h("th", { scope: "col" }, each)),
            ),
          ),
          h(
            "tbody",
            null,
            rows.map(([first, ...rest]) =>
              h(
                "tr",
                null,
                h("th", { scope: "row" }, first),
                rest.map((each, at) => h("td", { data: { label: columns[at + 1] } }, each)),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

// A small number from 0 to 1 as a bar beside its value.
export function meter(label, value, { text } = {}) {
  const bounded = Math.min(1, Math.max(0, Number(value) || 0));
  return h(
    "div",
    { class: "meter" },
    h("span", { class: "meter-label" }, label),
    h("span", { class: "meter-track", aria: { hidden: true } }, h("span", { class: "meter-fill", share: bounded })),
    h("span", { class: "meter-value" }, text ?? Number(value).toFixed(2)),
  );
}

/** The tail: the values of two runs, each from its own worst query to its own best one. */

import { NONE, counted, cut, grouped, number, percent } from "./text.js";
import { exact } from "./save.js";
import { h, name, note, num, put, svg, table, td, th, writtenAs } from "./elements.js";
import { D, direction, indices } from "./data.js";
import { shown, state } from "./state.js";
import { A, B, queryLink } from "./links.js";
import { FONT, LETTER, chart, roundTicks, showTip, tickTexts, words } from "./charts.js";

/** @typedef {{ q: number, value: number }} Valued a query and the value of a run on it */
/** @typedef {{ s: number, ink: string, dash: string | null, rows: Valued[] }} Line the values of one run */

const TAIL_HEIGHT = 220;

/**
 * The queries among some on which a run has a value, the worst first; equal ones in the order given.
 * @param {number} k
 * @param {number} s
 * @param {number[]} queries
 * @returns {Valued[]}
 */
export function worstFirst(k, s, queries) {
  const values = D.values[k][s];
  const rows = queries.flatMap((q) => (values?.[q] == null ? [] : [{ q, value: values[q] }]));
  return rows.sort((x, y) => direction(k) * (x.value - y.value) || x.q - y.q);
}

/** @param {number} k */
const valueText = (k) => (/** @type {number | null} */ value) => number(value, D.measures[k].decimals ?? 4);

/**
 * What is drawn at a share of the queries, in words.
 * @param {number} k
 * @param {Line[]} lines
 * @param {number} share
 */
function tipAt(k, lines, share) {
  const told = lines.map(({ s, rows }) => {
    const place = Math.min(rows.length - 1, Math.floor(share * rows.length));
    const { q, value } = rows[place];
    return `${cut(D.runs[s], 30)}: ${valueText(k)(value)}, query ${cut(D.queries[q], 20)} (${place + 1} of ${rows.length})`;
  });
  return told.join("; ");
}

/**
 * Steps from the worst query to the best, each as wide as its share.
 * @param {Line} line
 * @param {(share: number) => number} x
 * @param {(value: number) => number} y
 */
function stepsOf({ ink, dash, rows }, x, y) {
  const parts = rows.map(
    ({ value }, i) => `${i ? "V" : `M${x(0).toFixed(1)} `}${y(value).toFixed(1)}H${x((i + 1) / rows.length).toFixed(1)}`,
  );
  return svg("path", { class: "steps", d: parts.join(""), fill: "none", stroke: ink, "stroke-width": 2, "stroke-dasharray": dash });
}

/**
 * The two lines by name, below each other.
 * @param {Line[]} lines
 * @param {number} width
 */
function tailLegend(lines, width) {
  const most = Math.max(8, Math.floor((width - 40) / LETTER));
  return lines.map(({ s, ink, dash }, i) => [
    svg("path", { d: `M0 ${8 + 18 * i}H26`, stroke: ink, "stroke-width": 2, "stroke-dasharray": dash }),
    words(cut(D.runs[s], most), { x: 34, y: FONT + 18 * i }),
  ]);
}

/**
 * @param {number} k
 * @param {Line[]} lines
 * @param {string} label
 * @param {number} width
 */
function tailDrawing(k, lines, label, width) {
  const values = lines.flatMap(({ rows }) => rows.map(({ value }) => value));
  const lowest = values.reduce((low, value) => Math.min(low, value), 0);
  const marks = roundTicks(lowest, values.reduce((high, value) => Math.max(high, value), lowest));
  const texts = tickTexts(marks);
  const [top, left, right] = [52, 26 + LETTER * Math.max(...texts.map((text) => text.length)), width - 18];
  const bottom = top + TAIL_HEIGHT;
  const x = (/** @type {number} */ share) => left + (right - left) * share;
  const y = (/** @type {number} */ value) => bottom - (TAIL_HEIGHT * (value - marks[0])) / (marks[marks.length - 1] - marks[0]);
  const muted = { fill: "var(--muted)" };
  const upright = { x: FONT, y: top + TAIL_HEIGHT / 2, transform: `rotate(-90 ${FONT} ${top + TAIL_HEIGHT / 2})` };
  const shares = [0, 0.25, 0.5, 0.75, 1];
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${width} ${bottom + 40}`, width, height: bottom + 40, role: "img", "aria-label": label, "font-family": "system-ui, sans-serif" },
    tailLegend(lines, width),
    svg("rect", { class: "tail", x: left, y: top, width: x(D.tail.share) - left, height: TAIL_HEIGHT, fill: "var(--chosen)" }),
    marks.map((tick, i) => [
      svg("path", { d: `M${left} ${y(tick).toFixed(1)}H${right}`, stroke: "var(--line)" }),
      words(texts[i], { x: left - 6, y: (y(tick) + 4).toFixed(1), "text-anchor": "end", ...muted }),
    ]),
    shares.map((share) => words(percent(share, 0), { x: x(share).toFixed(1), y: bottom + 16, "text-anchor": "middle", ...muted })),
    words(`worst ${percent(D.tail.share, 0)}`, { x: x(D.tail.share) + 4, y: top + FONT, ...muted }),
    words(cut(D.measures[k].name, 30), { ...upright, "text-anchor": "middle" }),
    words("share of queries, from worst to best", { x: (left + right) / 2, y: bottom + 34, "text-anchor": "middle" }),
    lines.map((line) => stepsOf(line, x, y)),
  );
  drawing.addEventListener("mousemove", (event) => {
    const box = drawing.getBoundingClientRect();
    const share = (((event.clientX - box.left) / box.width) * width - left) / (right - left);
    showTip(event, share >= 0 && share <= 1 ? tipAt(k, lines, share) : "");
  });
  drawing.addEventListener("mouseleave", (event) => showTip(event, ""));
  return drawing;
}

/**
 * The means of both tails, over all queries.
 * @param {number} k
 */
function tailSentence(k) {
  const { share, means, sizes } = D.tail;
  const of = (/** @type {number} */ s) => `${valueText(k)(means[s][k])} (${counted(sizes[s][k], "query")})`;
  return note(
    "Each line has its own order: the queries of a run from its worst to its best. ",
    `Over its own worst ${percent(share, 0)}, `,
    h("span", { class: "side-a" }, A()),
    ` has a mean of ${of(state.a)} and `,
    h("span", { class: "side-b" }, B()),
    ` of ${of(state.b)}. `,
    D.measures[k].is_preference && "The value of a preference is the win rate against all other runs. ",
    shown.queries.length < D.queries.length && "The lines follow the filter; the means cover all queries.",
  );
}

/**
 * The numbers that are drawn.
 * @param {number} k
 * @param {Line[]} lines
 */
function tailTable(k, lines) {
  const cells = (/** @type {Line} */ { rows }, /** @type {number} */ place) => {
    const row = rows[place];
    return row
      ? [td(queryLink(row.q)), writtenAs(num(valueText(k)(row.value)), exact(row.value))]
      : [td(NONE), num(NONE)];
  };
  return table({
    caption: h("span", null, `${cut(D.measures[k].name)} of each query, the worst of `, A(), " and of ", B(), " first"),
    head: h(
      "tr",
      null,
      th("place", { class: "num" }),
      lines.map(({ s }) => [
        th(["query of ", name(D.runs[s])]),
        writtenAs(th("value", { class: "num" }), `value of ${D.runs[s]}`),
      ]),
    ),
    rows: indices(Math.max(...lines.map(({ rows }) => rows.length))),
    row: (place) => h("tr", null, num(grouped(place + 1)), lines.map((line) => cells(line, place))),
    first: 12,
  });
}

/**
 * Draw where the tail of two runs differs under a measure; nothing if the page does not hold their values.
 * @param {HTMLElement} element
 * @param {number} k
 */
export function drawTail(element, k) {
  /** @type {Line[]} */
  const lines = [
    { s: state.a, ink: "var(--side-a)", dash: null, rows: worstFirst(k, state.a, shown.queries) },
    { s: state.b, ink: "var(--side-b)", dash: "6 3", rows: worstFirst(k, state.b, shown.queries) },
  ];
  const measure = cut(D.measures[k].name);
  element.hidden = !D.tail || lines.some(({ rows }) => !rows.length);
  if (element.hidden) return;
  const ends = lines.map(({ s, rows }) => {
    const [worst, best] = [rows[0], rows[rows.length - 1]].map(({ value }) => valueText(k)(value));
    return `${cut(D.runs[s])} from ${worst} to ${best}`;
  });
  const label = `${measure} of each query, from worst to best: ${ends.join("; ")}`;
  const space = h("div");
  put(
    element,
    h("h3", null, "Where the tail differs in ", measure),
    tailSentence(k),
    space,
    h("details", null, h("summary", null, "The values that are drawn"), tailTable(k, lines)),
  );
  chart(space, `${measure} sorted ${D.runs[state.a]} and ${D.runs[state.b]}`, (width) => tailDrawing(k, lines, label, width));
}

/** Groups: runs from best to worst under a measure, joined by bars where no two of them differ significantly. */

import { counted, cut, grouped, number } from "./text.js";
import { h, name, note, num, rowHead, svg, table, td, th } from "./elements.js";
import { D, indices } from "./data.js";
import { shown } from "./state.js";
import { LETTER, chart, rove, showTip, words } from "./charts.js";

/** @typedef {[number, number]} Group the first and the last place */
/** @typedef {{ k: number, order: number[], groups: Group[], width: number }} Grouping what is drawn, and how wide */
/** @typedef {{ width: number, height: number, marks: SVGElement[], others: any }} Drawn */

const MOST_ROWS = 30; // one row for each run up to here, above that one column
const ROW_HEIGHT = 22;
const BAR_STEP = 9;
const PLOT_HEIGHT = 150; // of the means above columns

/**
 * @param {number} k
 * @param {number} s
 */
const shownMean = (k, s) => number(D.means[s][k], D.measures[k].decimals ?? 4);

/**
 * Lanes that keep bars from covering each other: [lane, first, last] for each group of two or more.
 * @param {Group[]} groups
 * @returns {[number, number, number][]}
 */
export function lanesOf(groups) {
  /** @type {number[]} */
  const ends = [];
  return groups
    .filter(([first, last]) => last > first)
    .map(([first, last]) => {
      const free = ends.findIndex((end) => end < first);
      const lane = free < 0 ? ends.length : free;
      ends[lane] = last;
      return [lane, first, last];
    });
}

/**
 * The lowest and the highest mean, and from a mean to a length between 0 and `size`; null for an undefined one.
 * @param {Grouping} grouping
 * @param {number} size
 */
function meanScale({ k, order }, size) {
  const means = order.map((s) => D.means[s][k]).filter((mean) => mean != null);
  const [low, high] = [Math.min(...means), Math.max(...means)];
  const at = (/** @type {number} */ s) =>
    D.means[s][k] == null ? null : ((D.means[s][k] - low) / (high - low || 1)) * size;
  return { low, high, at };
}

/**
 * The label of one run: its place, its mean, and the runs from which it does not differ.
 * @param {Grouping} grouping
 * @param {number} place
 */
function markLabel({ k, order, groups }, place) {
  const own = groups.filter(([first, last]) => first <= place && place <= last);
  const [first, last] = [own[0][0], own[own.length - 1][1]];
  const joined =
    first === last ? "differs from its neighbours" : `does not differ from places ${first + 1} to ${last + 1}`;
  return `${place + 1}. ${cut(D.runs[order[place]])}: ${shownMean(k, order[place])}, ${joined}`;
}

/**
 * The mark of one run, with an area over its whole row or column that reacts to the pointer.
 * @param {Grouping} grouping
 * @param {number} place
 * @param {Record<string, number>} area
 * @param {any[]} children
 */
function groupMark(grouping, place, area, ...children) {
  const s = grouping.order[place];
  const attributes = {
    class: "mark",
    opacity: shown.runs.includes(s) ? null : 0.2,
    role: "img",
    tabindex: place ? -1 : 0,
    "aria-label": markLabel(grouping, place),
    "data-place": place,
    "data-run": s,
  };
  return svg("g", attributes, svg("rect", { class: "area", fill: "transparent", ...area }), ...children);
}

/**
 * A bar that joins the members of a group.
 * @param {Record<string, number>} ends
 * @param {number} [thick]
 */
const joining = (ends, thick = 4) => svg("line", { class: "joined", stroke: "var(--ink)", "stroke-width": thick, ...ends });

/**
 * One row for each run: its name, its mean on a scale, and upright bars beside it.
 * @param {Grouping} grouping
 * @returns {Drawn}
 */
function rowsDrawing(grouping) {
  const { k, order, groups } = grouping;
  const lanes = lanesOf(groups);
  const beside = 24 + BAR_STEP * (1 + Math.max(-1, ...lanes.map(([lane]) => lane)));
  const names = order.map((s) => `${D.labels[s]} ${cut(D.runs[s], grouping.width < 560 ? 14 : 30)}`);
  const left = 16 + LETTER * Math.max(...names.map((text) => text.length));
  const right = Math.max(left + 120, Math.min(grouping.width, 900) - beside);
  const scale = meanScale(grouping, right - left - 80);
  const middle = (/** @type {number} */ place) => (place + 0.5) * ROW_HEIGHT;
  const marks = order.map((s, place) => {
    const [x, y] = [scale.at(s), middle(place)];
    return groupMark(
      grouping,
      place,
      { x: 0, y: place * ROW_HEIGHT, width: right + beside, height: ROW_HEIGHT },
      svg("line", { stroke: "var(--line)", x1: left, x2: right, y1: y, y2: y }),
      words(names[place], { x: 4, y: y + 4 }),
      x != null && svg("circle", { cx: left + 12 + x, cy: y, r: 4.5, fill: "var(--side-a)" }),
      words(x == null ? "undefined" : shownMean(k, s), { x: left + 22 + (x ?? 0), y: y + 4, fill: "var(--muted)" }),
    );
  });
  const others = lanes.map(([lane, first, last]) => {
    const x = right + 14 + lane * BAR_STEP;
    return joining({ x1: x, x2: x, y1: middle(first) - 6, y2: middle(last) + 6 });
  });
  return { width: right + beside, height: order.length * ROW_HEIGHT, marks, others };
}

/**
 * One column for each run: its mean as a height, and bars below.
 * @param {Grouping} grouping
 * @returns {Drawn}
 */
function columnsDrawing(grouping) {
  const { k, order, groups } = grouping;
  const lanes = lanesOf(groups);
  const numLanes = 1 + Math.max(-1, ...lanes.map(([lane]) => lane));
  const pitch = Math.max(3, Math.min(8, 240 / Math.max(1, numLanes)));
  const left = 70;
  const step = Math.max(7, Math.min(24, (grouping.width - left) / order.length));
  const [width, below] = [left + step * order.length, PLOT_HEIGHT + 18];
  const height = below + 8 + numLanes * pitch;
  const scale = meanScale(grouping, PLOT_HEIGHT - 16);
  const middle = (/** @type {number} */ place) => left + (place + 0.5) * step;
  const marks = order.map((s, place) => {
    const mean = scale.at(s);
    const area = { x: left + place * step, y: 0, width: step, height };
    const dot = { cx: middle(place), cy: PLOT_HEIGHT - 8 - (mean ?? 0), r: Math.min(4, step / 2 - 0.5) };
    return groupMark(grouping, place, area, mean != null && svg("circle", { ...dot, fill: "var(--side-a)" }));
  });
  const bars = lanes.map(([lane, first, last]) => {
    const y = below + 6 + lane * pitch;
    const ends = { x1: middle(first) - step / 3, x2: middle(last) + step / 3, y1: y, y2: y };
    return joining(ends, Math.max(2, pitch * 0.55));
  });
  return { width, height, marks, others: [bars, axesOf(k, scale, order.length, left, middle)] };
}

/**
 * Places below the columns, and the range of the means beside them.
 * @param {number} k
 * @param {{ low: number, high: number }} scale
 * @param {number} count
 * @param {number} left
 * @param {(place: number) => number} middle
 */
function axesOf(k, { low, high }, count, left, middle) {
  const muted = { fill: "var(--muted)" };
  const places = indices(count).filter((place) => place === 0 || (place + 1) % 10 === 0);
  const ends = Number.isFinite(low) ? [high, low] : [];
  return [
    svg("line", { stroke: "var(--line)", x1: left, x2: middle(count - 0.5), y1: PLOT_HEIGHT, y2: PLOT_HEIGHT }),
    places.map((place) =>
      words(String(place + 1), { ...muted, x: middle(place), y: PLOT_HEIGHT + 13, "text-anchor": "middle" }),
    ),
    ends.map((mean, i) =>
      words(number(mean, D.measures[k].decimals ?? 4), {
        ...muted,
        x: left - 8,
        y: i ? PLOT_HEIGHT - 4 : 12,
        "text-anchor": "end",
      }),
    ),
  ];
}

/**
 * The groups in words, for those who do not see the drawing.
 * @param {number} k
 * @param {number[]} order
 * @param {Group[]} groups
 */
function groupsTable(k, order, groups) {
  const member = (/** @type {number} */ place) => td(name(D.runs[order[place]], 40));
  const heads = [th("places", { class: "num" }), th("runs", { class: "num" }), th("from"), th("to")];
  return table({
    caption: `Groups under ${cut(D.measures[k].name)}, best first: no two runs in a group differ significantly`,
    head: h("tr", null, th("group"), heads),
    rows: groups.map(([first, last], index) => ({ index, first, last })),
    row: ({ index, first, last }) =>
      h(
        "tr",
        null,
        rowHead(String(index + 1)),
        num(first === last ? String(first + 1) : `${first + 1} to ${last + 1}`),
        num(grouped(last - first + 1)),
        member(first),
        member(last),
      ),
    first: 30,
  });
}

/**
 * @param {number} k
 * @param {number[]} order
 * @param {Group[]} groups
 */
function groupsLabel(k, order, groups) {
  const last = groups[0][1];
  const best = last
    ? `the first joins places 1 to ${last + 1}`
    : `${cut(D.runs[order[0]])} differs significantly from the next`;
  return `${counted(order.length, "run")} from best to worst under ${cut(D.measures[k].name)}, in ${counted(groups.length, "group")}; ${best}`;
}

/**
 * @param {string} label
 * @param {Grouping} grouping
 * @returns {SVGSVGElement}
 */
function groupsDrawing(label, grouping) {
  const isRows = grouping.order.length <= MOST_ROWS;
  const { width, height, marks, others } = (isRows ? rowsDrawing : columnsDrawing)(grouping);
  const size = { viewBox: `0 0 ${width.toFixed(0)} ${height.toFixed(0)}`, width: width.toFixed(0) };
  const attributes = { class: "groups", role: "group", "aria-label": label, "font-family": "system-ui, sans-serif" };
  const drawing = svg("svg", { ...size, ...attributes }, others, marks);
  const labelOf = (/** @type {any} */ target) => target.closest("[data-place]")?.getAttribute("aria-label") ?? "";
  drawing.addEventListener("mousemove", (event) => showTip(event, labelOf(event.target)));
  drawing.addEventListener("mouseleave", (event) => showTip(event, ""));
  rove(drawing, marks);
  return drawing;
}

/**
 * What the drawing means.
 * @param {Grouping} grouping
 */
function groupsNote({ order, groups }) {
  const isRows = order.length <= MOST_ROWS;
  return note(
    lanesOf(groups).length
      ? `${isRows ? "Bars beside the rows" : "Bars below the dots"} join runs that do not differ significantly from each other. `
      : "Each run differs significantly from the next, so no bar joins them. ",
    !isRows && "One column for each run, the best on the left; point at one, or use the arrow keys, to see its name.",
  );
}

/**
 * The groups under a measure, as nodes: a drawing, what it means, and a table of the same.
 * @param {number} k
 * @returns {HTMLElement[]}
 */
export function groupsOf(k) {
  const [groups, order] = [D.groups?.[k], D.group_order?.[k]];
  if (D.runs.length < 2) return [];
  if (!groups || !order)
    return [
      note(
        D.baseline == null
          ? "No two runs could be tested under this measure."
          : "With a baseline, only pairs that include it are tested, so there are no groups.",
      ),
    ];
  const element = h("div");
  const label = groupsLabel(k, order, groups);
  const file = `Groups under ${cut(D.measures[k].name)}`;
  chart(element, file, (width) => groupsDrawing(label, { k, order, groups, width }));
  const folded = h("summary", null, `${counted(groups.length, "group")} as a table`);
  return [
    element,
    groupsNote({ k, order, groups, width: 0 }),
    h("details", null, folded, groupsTable(k, order, groups)),
  ];
}

/** Bars: one value for each query, drawn for what the reader chose. */

import { counted, cut } from "./text.js";
import { svg } from "./elements.js";
import { D } from "./data.js";
import { change } from "./state.js";
import { FONT, LETTER, chart, roundTicks, rove, showTip, tickTexts, words } from "./charts.js";

/** @typedef {{ q: number, value: number, tip: string, fill: string, opacity?: number }} Bar */
/** @typedef {{ title: string, entries: { text: string, opacity: number }[] }} Legend */
/** @typedef {{ title: string, file: string, height?: number, ticks?: number[], isPercent?: boolean, legend?: Legend }} BarOptions */

export const MOST_BARS = 2000;

/**
 * The entries of a legend, beside each other where there is room.
 * @param {Legend} legend
 * @param {number} width
 * @returns {{ nodes: SVGElement[], height: number }}
 */
function legendOf({ title, entries }, width) {
  const line = 18;
  /** @type {SVGElement[]} */
  const nodes = [words(title, { x: 0, y: FONT, fill: "var(--muted)" })];
  let [x, y] = [0, line];
  for (const { text, opacity } of entries) {
    const size = 22 + LETTER * text.length + 18;
    if (x > 0 && x + size > width) [x, y] = [0, y + line];
    nodes.push(
      svg("rect", { x, y: y + 2, width: 12, height: 12, fill: "var(--side-a)", opacity }),
      words(text, { x: x + 18, y: y + FONT }),
    );
    x += size;
  }
  return { nodes, height: y + line + 8 };
}

/**
 * Bars of one value for each query, in the given order; each bar links to its query.
 * @param {HTMLElement} element
 * @param {string} label says in words what is shown
 * @param {Bar[]} rows
 * @param {BarOptions} options
 */
export function sortedBars(element, label, rows, options) {
  chart(element, options.file, (width) => {
    const drawing = barDrawing(label, rows, options, width);
    operateBars(drawing, rows);
    return drawing;
  });
}

/**
 * @param {string} label
 * @param {Bar[]} rows
 * @param {BarOptions} options
 * @param {number} width
 * @returns {SVGSVGElement}
 */
function barDrawing(label, rows, { title, height = 200, ticks, isPercent, legend }, width) {
  const values = rows.map((row) => row.value);
  const marks = ticks ?? roundTicks(Math.min(0, ...values), Math.max(0, ...values));
  const texts = tickTexts(marks, isPercent);
  const left = 26 + LETTER * Math.max(...texts.map((text) => text.length));
  const key = legend ? legendOf(legend, width) : { nodes: [], height: 8 };
  const band = (width - left) / rows.length;
  const names = band > 13 ? rows.map(({ q }) => cut(D.queries[q], 14)) : []; // where they can be read
  const whole = key.height + height + 28 + LETTER * Math.max(0, ...names.map((name) => name.length));
  const [lowest, highest] = [marks[0], marks[marks.length - 1]];
  const y = (/** @type {number} */ value) => key.height + (height * (highest - value)) / (highest - lowest);
  const grid = marks.map((tick, i) => [
    svg("path", { d: `M${left} ${y(tick).toFixed(1)}H${width}`, stroke: "var(--line)" }),
    words(texts[i], { x: left - 6, y: (y(tick) + 4).toFixed(1), "text-anchor": "end", fill: "var(--muted)" }),
  ]);
  const middle = key.height + height / 2;
  const upright = `rotate(-90 ${FONT} ${middle})`;
  return /** @type {SVGSVGElement} */ (
    svg(
      "svg",
      {
        viewBox: `0 0 ${width} ${whole}`,
        width,
        height: whole,
        role: "group",
        "aria-label": label,
        "font-family": "system-ui, sans-serif",
        "data-left": left,
      },
      key.nodes,
      grid,
      words(title, { x: FONT, y: middle, transform: upright, "text-anchor": "middle" }),
      bars(rows, left, band, y),
      barNames(names, left, band, key.height + height),
      words(`${counted(rows.length, "query")}, sorted`, {
        x: (left + width) / 2,
        y: whole - 6,
        "text-anchor": "middle",
      }),
    )
  );
}

/**
 * @param {Bar[]} rows
 * @param {number} left
 * @param {number} band
 * @param {(value: number) => number} y
 */
function bars(rows, left, band, y) {
  const thick = Math.max(0.7, band * (rows.length > 150 ? 1 : 0.85));
  return rows.map(({ value, fill, opacity, tip: text }, i) => {
    const [from, to] = value ? [y(Math.max(0, value)), y(Math.min(0, value))] : [y(0) - 1, y(0) + 1];
    return svg("rect", {
      class: "bar",
      x: (left + i * band + (band - thick) / 2).toFixed(2),
      y: from.toFixed(1),
      width: thick.toFixed(2),
      height: Math.max(1, to - from).toFixed(1),
      fill,
      opacity,
      role: "link",
      tabindex: i ? -1 : 0,
      "aria-label": text,
    });
  });
}

/**
 * @param {string[]} names
 * @param {number} left
 * @param {number} band
 * @param {number} top
 */
function barNames(names, left, band, top) {
  return names.map((name, i) => {
    const x = (left + (i + 0.5) * band + 4).toFixed(1);
    const turned = { x, y: top + 6, transform: `rotate(-90 ${x} ${top + 6})`, "text-anchor": "end" };
    return words(name, { ...turned, fill: "var(--muted)" });
  });
}

/**
 * One Tab stop for all bars, arrow keys within; the pointer picks the bar in its column, however small.
 * @param {SVGSVGElement} drawing
 * @param {Bar[]} rows
 */
function operateBars(drawing, rows) {
  const all = /** @type {SVGElement[]} */ ([...drawing.querySelectorAll(".bar")]);
  const last = all.length - 1;
  const open = (/** @type {number} */ i) => change({ q: rows[i].q }, { go: "query" });
  const under = (/** @type {MouseEvent} */ event) => {
    const box = drawing.getBoundingClientRect();
    const [left, width] = [Number(drawing.dataset.left), drawing.viewBox.baseVal.width];
    const x = ((event.clientX - box.left) / box.width) * width;
    return x < left ? -1 : Math.min(last, Math.floor(((x - left) / (width - left)) * all.length));
  };
  drawing.addEventListener("mousemove", (event) => showTip(event, rows[under(event)]?.tip ?? ""));
  drawing.addEventListener("mouseleave", (event) => showTip(event, ""));
  drawing.addEventListener("click", (event) => under(event) >= 0 && open(under(event)));
  rove(drawing, all, open);
}

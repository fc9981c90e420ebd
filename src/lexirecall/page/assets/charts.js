/** Charts: drawings that depend on what the reader chose. */

import { counted, cut } from "./text.js";
import { h } from "./elements.js";
import { D, indices } from "./data.js";
import { change } from "./state.js";

export const drawing = new Map(); // by element: a promise of what stands there
export const SERIES = indices(10).map((i) => `var(--series-${i})`);

export const DASHES = [
  [1, 0],
  [6, 3],
  [2, 2],
  [8, 3, 2, 3],
  [4, 1],
  [1, 3],
  [10, 4],
  [3, 6],
  [6, 2, 1, 2],
  [12, 2],
];

export const tip = h("div", { class: "tip", "aria-hidden": "true", hidden: true });

export function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = !text;
  if (!text) return;
  const { innerWidth: width, innerHeight: height } = window;
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 12, width - tip.offsetWidth - 8))}px`;
  tip.style.top = `${event.clientY + 16 + tip.offsetHeight > height ? event.clientY - tip.offsetHeight - 8 : event.clientY + 16}px`;
}

const CONFIG = {
  background: null,
  font: "system-ui, sans-serif",
  view: { stroke: null },
  axis: {
    labelColor: "var(--muted)",
    titleColor: "var(--ink)",
    gridColor: "var(--line)",
    tickColor: "var(--line)",
    domainColor: "var(--line)",
    labelFontSize: 12,
    titleFontSize: 12,
    titleFontWeight: "normal",
    labelLimit: 160,
  },
  legend: {
    labelColor: "var(--ink)",
    titleColor: "var(--muted)",
    labelFontSize: 12,
    titleFontSize: 12,
    titleFontWeight: "normal",
    labelLimit: 180,
  },
  text: { fill: "var(--ink)", fontSize: 12 },
  mark: { aria: false },
  bar: { aria: false },
  aria: false,
};

const OPTIONS = {
  renderer: "svg",
  actions: false,
  ast: true, // expressions are interpreted, so that the page needs no right to evaluate text
  defaultStyle: false,
  mode: "vega-lite",
  tooltip: (_, event, item, value) => showTip(event, value == null ? "" : String(value)),
};

/** Draw a chart into an element; `label` says in words what it shows, and `onpick` gets the datum that is clicked. */
export function chart(element, label, spec, onpick = null) {
  element.classList.add("chart");
  element.style.minHeight = `${spec.height + 40}px`; // what stands below is not to jump when the chart arrives
  drawing.set(element, embed(drawing.get(element), element, label, spec, onpick));
}

async function embed(before, element, label, spec, onpick) {
  (await before)?.finalize();
  const sized = { config: CONFIG, autosize: { type: "fit-x", contains: "padding" }, width: "container" };
  const result = await vegaEmbed(element, { ...spec, ...sized }, OPTIONS);
  element.setAttribute("role", "img"); // one picture with a text, not a tree of marks
  element.setAttribute("aria-label", label);
  element.removeAttribute("aria-roledescription");
  if (onpick) result.view.addEventListener("click", (_, item) => item?.datum && onpick(item.datum));
  return result;
}

/** Gives texts as Vega takes them, which uses them as keys of objects: one that is taken, or that every object has by
 * inheritance (constructor, toString), gets a blank behind it, which no drawing shows. */
export function uniqueKeys() {
  const taken = new Set();
  const key = (text) => (taken.has(text) || text in Object.prototype ? key(`${text} `) : (taken.add(text), text));
  return key;
}

/** Bars of one value for each request, from the highest to the lowest, coloured by its sign. */
export function sortedBars(
  element,
  label,
  rows,
  { title, field = "value", color, opacity = null, ticks = null, format = null, height = 200 },
) {
  const isNamed = rows.length * 13 < element.clientWidth;
  const keys = uniqueKeys();
  const values = rows.map((row) => ({ ...row, request: keys(cut(D.requests[row.q], 200)) }));
  const spec = {
    data: { values },
    height,
    layer: [
      {
        mark: {
          type: "bar",
          cursor: "pointer",
          tooltip: true,
          minBandSize: 1,
        },
        encoding: {
          x: {
            field: "request",
            type: "nominal",
            sort: null,
            axis: {
              labels: isNamed,
              labelAngle: -90,
              labelLimit: 90,
              ticks: false,
              grid: false,
              title: `${counted(rows.length, "request")}, sorted`,
            },
            scale: { paddingInner: rows.length > 150 ? 0 : 0.15 },
          },
          y: {
            field,
            type: "quantitative",
            title,
            axis: { format, tickCount: 5, ...(ticks ? { values: ticks } : {}) },
          },
          color,
          ...(opacity ? { opacity } : {}),
          tooltip: { field: "tip", type: "nominal" },
        },
      },
    ],
  };
  chart(element, label, spec, (datum) => datum.q !== undefined && change({ q: datum.q }, { go: "request" }));
}

export const MOST_BARS = 2000;

/** Every pair: a matrix of all runs against each other. */

import { brief, cut, number, probability, signed, visible } from "./text.js";
import { csv, download, exact, fileName } from "./save.js";
import { chooser, h, note, put, saveButton, scrollable } from "./elements.js";
import { D, compared, isSignificant } from "./data.js";
import { change, sections, shown, state } from "./state.js";
import { alone, measureOptions, run } from "./links.js";
import { showTip } from "./charts.js";

/**
 * @param {number} k
 * @param {number} a
 * @param {number} b
 * @param {import("./data.js").Compared} pair
 */
function pairLabel(k, a, b, pair) {
  if (!pair) return `${cut(D.runs[a])} and ${cut(D.runs[b])}: not compared`;
  const verdict = isSignificant(pair) ? "significant" : "not significant";
  return `${cut(D.runs[a])} against ${cut(D.runs[b])}: ${D.measures[k].name} ${signed(pair.mean, (x) => number(x, 4))}, p ${probability(pair.p)}, ${verdict}`;
}

/**
 * @param {number} k
 * @param {number} a
 * @param {number} b
 * @param {number} highest
 * @param {boolean} isTerse
 */
function matrixCell(k, a, b, highest, isTerse) {
  if (a === b) return h("td", { class: "self", role: "gridcell", tabindex: "-1", "aria-label": "the same run" });
  const pair = compared(k, a, b);
  const text = pair && !isTerse ? brief(pair.mean) + (isSignificant(pair) ? "*" : "") : "";
  const label = pairLabel(k, a, b, pair);
  const isChosen = state.a === a && state.b === b;
  const attributes = {
    role: "gridcell",
    tabindex: "-1",
    [text ? "aria-description" : "aria-label"]: label, // the text of a cell is its name, if it has one
    "aria-selected": isChosen ? "true" : null,
  };
  if (!pair) return h("td", { ...attributes, class: "empty" });
  const side = pair.mean > 0 ? "for-a" : pair.mean < 0 ? "for-b" : "even";
  const weight = highest ? Math.min(1, Math.abs(pair.mean) / highest) : 0;
  const cell = h("td", {
    ...attributes,
    class: `${side}${isSignificant(pair) ? " significant" : ""}`,
    "--weight": weight.toFixed(3),
  });
  cell.append(text);
  return cell;
}

const MOST_LEGIBLE = 24; // up to this many runs, there is room for numbers
const LEGIBLE = 38; // pixels of a cell that has room for a number
const ZOOMS = [1, 1.5, 2.25, 3.5, 5.5];
let zoom = 0; // index of the one in use

const cellSize = () => Math.max(7, Math.min(14, 1120 / shown.runs.length)) * ZOOMS[zoom];

/**
 * @param {number} index
 * @param {HTMLElement[]} buttons
 */
function zoomTo(index, buttons) {
  zoom = Math.max(0, Math.min(ZOOMS.length - 1, index));
  drawPairs();
  buttons.forEach((button, i) => button.setAttribute("aria-disabled", String(i ? zoom === ZOOMS.length - 1 : !zoom)));
}

/** Buttons for a matrix that is too large for numbers. */
function zoomButtons() {
  const make = (text, label, step) =>
    h("button", { type: "button", "aria-label": label, onclick: () => zoomTo(zoom + step, buttons) }, text);
  const buttons = [make("−", "Make the matrix smaller", -1), make("+", "Make the matrix larger", 1)];
  buttons[0].setAttribute("aria-disabled", "true");
  return h("div", { class: "zoom", role: "group", "aria-label": "Size of the matrix" }, buttons);
}

/**
 * @param {number} k
 * @param {number[]} runs
 */
function matrix(k, runs) {
  const isTerse = runs.length > MOST_LEGIBLE && cellSize() < LEGIBLE;
  const means = D.pairs.by_measure[k].mean.filter((mean) => mean != null);
  const highest = means.reduce((most, mean) => Math.max(most, Math.abs(mean)), 0);
  const head = h(
    "tr",
    { role: "row" },
    h("th", { class: "corner", scope: "col", role: "columnheader" }, h("span", { class: "unseen" }, "run")),
    runs.map((s) => h("th", { scope: "col", role: "columnheader", title: visible(D.runs[s]) }, D.labels[s])),
  );
  const rows = runs.map((a) =>
    h(
      "tr",
      { role: "row" },
      h("th", { scope: "row", role: "rowheader" }, run(a, 24)),
      runs.map((b) => matrixCell(k, a, b, highest, isTerse)),
    ),
  );
  const grid = h(
    "table",
    {
      class: `matrix${isTerse ? " terse" : ""}`,
      role: "grid",
      "--count": runs.length,
      "--cell": `${cellSize().toFixed(1)}px`,
      "aria-label": `Pairs of runs under ${D.measures[k].name}`,
    },
    h(
      "caption",
      null,
      h(
        "span",
        null,
        "The run in each row against the run in each column, by letter. Arrow keys move, Enter opens the pair.",
      ),
    ),
    h("thead", null, head),
    h("tbody", null, rows),
  );
  operate(grid, runs);
  return grid;
}

const STEPS = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
  PageUp: [-10, 0],
  PageDown: [10, 0],
};

/**
 * One Tab stop for the whole grid, arrow keys within it.
 * @param {HTMLTableElement} grid
 * @param {number[]} runs
 */
function operate(grid, runs) {
  const rows = grid.tBodies[0].rows;
  const clamp = (index) => Math.max(0, Math.min(runs.length - 1, index));
  const cell = (r, c) => rows[clamp(r)].cells[clamp(c) + 1];
  let current = cell(Math.max(0, runs.indexOf(state.a)), Math.max(0, runs.indexOf(state.b)));
  current.tabIndex = 0;
  const place = (element) => [element.parentElement.sectionRowIndex, element.cellIndex - 1];
  const open = (element) => {
    const [r, c] = place(element);
    if (r !== c && c >= 0) change({ a: runs[r], b: runs[c] }, { go: "pair" });
  };
  const cellOf = (/** @type {Event} */ event) => /** @type {HTMLTableCellElement} */ (event.target);
  grid.addEventListener("focusin", (event) => {
    const target = cellOf(event);
    if (target.tagName !== "TD") return;
    current.tabIndex = -1;
    current = target;
    current.tabIndex = 0;
  });
  const label = ({ target }) =>
    target.tagName === "TD" ? (target.getAttribute("aria-label") ?? target.getAttribute("aria-description") ?? "") : "";
  grid.addEventListener("mousemove", (event) => showTip(event, label(event)));
  grid.addEventListener("mouseleave", (event) => showTip(event, ""));
  grid.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") open(current);
    else if (Object.hasOwn(STEPS, event.key)) {
      const [r, c] = place(current);
      cell(r + STEPS[event.key][0], c + STEPS[event.key][1]).focus();
    } else return;
    event.preventDefault();
  });
  grid.addEventListener("click", (event) => {
    const target = cellOf(event);
    if (target.tagName === "TD" && target.parentElement.parentElement === grid.tBodies[0]) open(target);
  });
}

/** @param {HTMLElement} body */
export function setUpPairs(body) {
  const choice = chooser("Measure", (m) => change({ m }));
  const legend = h(
    "div",
    { class: "legend", "aria-hidden": "true" },
    "column better",
    h("span", { class: "ramp" }),
    "row better",
    h("span", { class: "pale" }),
    "pale: not significant",
  );
  const space = h("div");
  const zoomable = zoomButtons();
  body.append(h("div", { class: "controls needs-pair" }, choice.element, zoomable, legend), space);
  return { choice, space, zoomable };
}

const PAIR_COLUMNS = ["mean", "low", "high", "p", "wins", "ties", "losses"];

/**
 * The pairs of a matrix as rows of a file, each run against every other.
 * @param {number} k
 * @param {number[]} runs
 */
function pairRowsOf(k, runs) {
  const head = ["row", "column", "difference", ...PAIR_COLUMNS.slice(1)];
  const pairs = runs.flatMap((a) => runs.filter((b) => b !== a).map((b) => ({ a, b, pair: compared(k, a, b) })));
  const rows = pairs
    .filter(({ pair }) => pair)
    .map(({ a, b, pair }) => [
      visible(D.runs[a]),
      visible(D.runs[b]),
      ...PAIR_COLUMNS.map((column) => exact(pair[column])),
    ]);
  return [head, ...rows];
}

/**
 * @param {number} k
 * @param {number[]} runs
 */
function saveMatrix(k, runs) {
  const title = `Pairs of runs under ${D.measures[k].name}`;
  return saveButton("CSV", title, () => download(fileName(title, "csv"), "text/csv", csv(pairRowsOf(k, runs))));
}

export function drawPairs() {
  const { choice, space, zoomable } = sections.get("pairs").parts;
  zoomable.hidden = shown.runs.length <= MOST_LEGIBLE;
  choice.set(measureOptions(), state.m);
  if (D.runs.length < 2) return put(space, alone());
  if (!shown.runs.length) return put(space, note("No run matches the filter."));
  const measure = D.measures[state.m];
  put(
    space,
    scrollable(`Pairs of runs under ${measure.name}`, matrix(state.m, shown.runs)),
    saveMatrix(state.m, shown.runs),
    note(
      measure.is_preference
        ? "Each cell shows the mean preference for the row over the column, from −1 to +1"
        : "Each cell shows the mean difference, row less column",
      measure.better === "lower" ? ", with the sign reversed so that + is better" : "",
      `; * is p < ${D.alpha}`,
      measure.test
        ? ` (${measure.test}${measure.correction && measure.correction !== "none" ? `, ${measure.correction}` : ""})`
        : "",
      ". Choose a cell to see the pair below.",
    ),
  );
}

/** Groups: systems from best to worst under a measure, joined by bars where no two of them differ significantly. */

import { counted, cut, grouped, number } from "./text.js";
import { h, name, note, num, rowHead, svg, table, th } from "./elements.js";
import { D, indices } from "./data.js";
import { shown } from "./state.js";
import { showTip, svgButton } from "./charts.js";

const MOST_ROWS = 30; // one row for each system up to here, above that one column
const ROW = { height: 22, names: 230, values: 420, lane: 9 };
const COLUMN = { width: 1100, least: 7, most: 24, height: 150, left: 60 };

/**
 * @param {number} k
 * @param {number} s
 */
const groupMean = (k, s) => D.means[s][k];
const shownMean = (k, s) => number(groupMean(k, s), D.measures[k].decimals ?? 4);

/**
 * Lanes for bars, so that none covers another: for each group of two and more [lane, first, last].
 * @param {[number, number][]} groups
 */
function lanesOf(groups) {
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
 * From a mean to a length between 0 and `size`; undefined means have none.
 * @param {number} k
 * @param {number[]} order
 * @param {number} size
 */
function meanScale(k, order, size) {
  const means = order.map((s) => groupMean(k, s)).filter((mean) => mean != null);
  const [low, high] = [Math.min(...means), Math.max(...means)];
  return {
    low,
    high,
    at: (s) => (groupMean(k, s) == null ? null : ((groupMean(k, s) - low) / (high - low || 1)) * size),
  };
}

/**
 * What is said of one system: its place, its mean, and with how many neighbours it is joined.
 * @param {number} k
 * @param {number[]} order
 * @param {[number, number][]} groups
 * @param {number} place
 */
function markLabel(k, order, groups, place) {
  const own = groups.filter(([first, last]) => first <= place && place <= last);
  const [first, last] = [own[0][0], own.at(-1)[1]];
  const joined =
    first === last ? "differs from its neighbours" : `does not differ from places ${first + 1} to ${last + 1}`;
  return `${place + 1}. ${cut(D.systems[order[place]])}: ${shownMean(k, order[place])}, ${joined}`;
}

/**
 * The marks are one stop of the Tab key; arrow keys go from one to the next, and what has the focus names itself.
 * @param {SVGSVGElement} drawing
 * @param {SVGElement[]} marks
 */
function operateMarks(drawing, marks) {
  const labelOf = (target) => target.closest?.("[data-place]")?.getAttribute("aria-label") ?? "";
  drawing.addEventListener("mousemove", (event) => showTip(event, labelOf(event.target)));
  drawing.addEventListener("mouseleave", (event) => showTip(event, ""));
  drawing.addEventListener("focusin", (event) => {
    const target = /** @type {SVGElement} */ (event.target);
    const box = target.getBoundingClientRect();
    showTip({ clientX: box.left, clientY: box.top + Math.min(box.height, 20) }, labelOf(target));
    for (const mark of marks) mark.setAttribute("tabindex", mark === target ? "0" : "-1");
  });
  drawing.addEventListener("focusout", () => showTip({ clientX: 0, clientY: 0 }, ""));
  drawing.addEventListener("keydown", (event) => {
    const place = marks.indexOf(/** @type {any} */ (document.activeElement));
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    const ends = { Home: 0, End: marks.length - 1 };
    const step = Object.hasOwn(steps, event.key) ? place + steps[event.key] : null;
    const next = Object.hasOwn(ends, event.key) ? ends[event.key] : step;
    if (place < 0 || next == null) return;
    event.preventDefault();
    marks[Math.max(0, Math.min(marks.length - 1, next))].focus();
  });
}

/** A mark of one system, with a shape over its whole row or column that takes the mouse. */
function groupMark({ k, order, groups, place }, area, ...children) {
  const isDim = !shown.systems.includes(order[place]);
  return svg(
    "g",
    {
      class: `mark${isDim ? " dim" : ""}`,
      role: "img",
      tabindex: place === 0 ? "0" : "-1",
      "aria-label": markLabel(k, order, groups, place),
      "data-place": place,
      "data-system": order[place],
    },
    svg("rect", { class: "area", ...area }),
    ...children,
  );
}

/**
 * One row for each system: its name, its mean on a scale, and upright bars beside it.
 * @param {number} k
 * @param {number[]} order
 * @param {[number, number][]} groups
 */
function rowsDrawing(k, order, groups) {
  const lanes = lanesOf(groups);
  const scale = meanScale(k, order, ROW.values - 100);
  const bars = ROW.names + ROW.values;
  const width = bars + 20 + ROW.lane * (1 + Math.max(-1, ...lanes.map(([lane]) => lane)));
  const middle = (place) => (place + 0.5) * ROW.height;
  const marks = order.map((s, place) => {
    const [x, y] = [scale.at(s), middle(place)];
    return groupMark(
      { k, order, groups, place },
      { x: 0, y: place * ROW.height, width, height: ROW.height },
      svg("line", { class: "rule", x1: ROW.names, x2: bars, y1: y, y2: y }),
      svg("text", { x: 0, y: y + 4 }, `${D.labels[s]} ${cut(D.systems[s], 28)}`),
      x == null
        ? svg("text", { class: "muted", x: ROW.names + 6, y: y + 4 }, "undefined")
        : [
            svg("circle", { cx: ROW.names + 20 + x, cy: y, r: 4.5 }),
            svg("text", { class: "muted", x: ROW.names + 30 + x, y: y + 4 }, shownMean(k, s)),
          ],
    );
  });
  const joined = lanes.map(([lane, first, last]) => {
    const x = bars + 12 + lane * ROW.lane;
    return svg("line", { class: "joined", x1: x, x2: x, y1: middle(first) - 6, y2: middle(last) + 6 });
  });
  return { width, height: order.length * ROW.height, marks, joined, rest: [] };
}

/**
 * One column for each system: its mean as a height, and bars below.
 * @param {number} k
 * @param {number[]} order
 * @param {[number, number][]} groups
 */
function columnsDrawing(k, order, groups) {
  const lanes = lanesOf(groups);
  const numLanes = 1 + Math.max(-1, ...lanes.map(([lane]) => lane));
  const pitch = Math.max(3, Math.min(8, 240 / Math.max(1, numLanes)));
  const step = Math.max(COLUMN.least, Math.min(COLUMN.most, (COLUMN.width - COLUMN.left) / order.length));
  const scale = meanScale(k, order, COLUMN.height - 16);
  const [below, width] = [COLUMN.height + 18, COLUMN.left + step * order.length + 6];
  const height = below + 8 + numLanes * pitch;
  const middle = (place) => COLUMN.left + (place + 0.5) * step;
  const marks = order.map((s, place) =>
    groupMark(
      { k, order, groups, place },
      { x: COLUMN.left + place * step, y: 0, width: step, height },
      scale.at(s) == null
        ? svg("text", { class: "muted", x: middle(place) - 3, y: COLUMN.height - 4 }, "–")
        : svg("circle", { cx: middle(place), cy: COLUMN.height - 8 - scale.at(s), r: Math.min(4, step / 2 - 0.5) }),
    ),
  );
  const joined = lanes.map(([lane, first, last]) => {
    const y = below + 6 + lane * pitch;
    const ends = { x1: middle(first) - step / 3, x2: middle(last) + step / 3 };
    return svg("line", { class: "joined", ...ends, y1: y, y2: y, "stroke-width": Math.max(2, pitch * 0.55) });
  });
  const ticks = indices(order.length).filter((place) => place === 0 || (place + 1) % 10 === 0);
  const rest = [
    svg("line", { class: "rule", x1: COLUMN.left, x2: width, y1: COLUMN.height, y2: COLUMN.height }),
    ticks.map((place) =>
      svg(
        "text",
        { class: "muted", x: middle(place), y: COLUMN.height + 13, "text-anchor": "middle" },
        String(place + 1),
      ),
    ),
    [scale.high, scale.low].map((mean, i) =>
      svg(
        "text",
        { class: "muted", x: COLUMN.left - 8, y: i ? COLUMN.height - 4 : 12, "text-anchor": "end" },
        number(Number.isFinite(mean) ? mean : null, D.measures[k].decimals ?? 4),
      ),
    ),
  ];
  return { width, height, marks, joined, rest };
}

/**
 * The groups in words, for those who do not see the drawing.
 * @param {number} k
 * @param {number[]} order
 * @param {[number, number][]} groups
 */
function groupsTable(k, order, groups) {
  const system = (place) => name(D.systems[order[place]], 40);
  return table({
    caption: `Groups under ${cut(D.measures[k].name)}, from the best on: no two systems of a group differ significantly`,
    head: h(
      "tr",
      null,
      th("group"),
      th("places", { class: "num" }),
      th("systems", { class: "num" }),
      th("from"),
      th("to"),
    ),
    rows: groups.map(([first, last], index) => ({ index, first, last })),
    row: ({ index, first, last }) =>
      h(
        "tr",
        null,
        rowHead(String(index + 1)),
        num(first === last ? String(first + 1) : `${first + 1} to ${last + 1}`),
        num(grouped(last - first + 1)),
        h("td", null, system(first)),
        h("td", null, system(last)),
      ),
    first: 30,
  });
}

/**
 * @param {number} k
 * @param {number[]} order
 * @param {[number, number][]} groups
 */
function groupsLabel(k, order, groups) {
  const [first, last] = groups[0];
  const best =
    first === last
      ? `${cut(D.systems[order[0]])} differs significantly from the next`
      : `the first joins places 1 to ${last + 1}`;
  return `${counted(order.length, "system")} from best to worst under ${cut(D.measures[k].name)}, in ${counted(groups.length, "group")}; ${best}`;
}

/**
 * The groups under a measure, as nodes: a drawing, what it means, and a table of the same.
 * @param {number} k
 */
export function groupsOf(k) {
  const [groups, order] = [D.groups?.[k], D.group_order?.[k]];
  if (D.systems.length < 2) return [];
  if (!groups || !order)
    return [
      note(
        D.baseline == null
          ? "No two systems could be tested under this measure."
          : "With a baseline, only pairs with it are tested: there are no groups.",
      ),
    ];
  const isRows = order.length <= MOST_ROWS;
  const { width, height, marks, joined, rest } = (isRows ? rowsDrawing : columnsDrawing)(k, order, groups);
  const size = { viewBox: `0 0 ${width.toFixed(1)} ${height.toFixed(1)}`, width: width.toFixed(0) };
  const label = groupsLabel(k, order, groups);
  const drawing = svg("svg", { ...size, class: "groups", role: "group", "aria-label": label }, rest, joined, marks);
  operateMarks(drawing, marks);
  const diagram = h("div", { class: "diagram" }, drawing);
  return [
    diagram,
    svgButton(diagram, `groups under ${D.measures[k].name}`),
    note(
      joined.length
        ? `${isRows ? "Bars beside the rows" : "Bars below the dots"} join systems of which no two differ significantly. `
        : "Each system differs significantly from the next, so that no bar joins them. ",
      isRows
        ? ""
        : "One column for each system, the best on the left; point at one, or use the arrow keys, to see its name.",
    ),
    h(
      "details",
      null,
      h("summary", null, `${counted(groups.length, "group")} as a table`),
      groupsTable(k, order, groups),
    ),
  ];
}

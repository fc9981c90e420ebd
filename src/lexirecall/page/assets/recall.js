/** Recall by depth: how much is found down to each depth. */

import { NONE, grouped, percent } from "./text.js";
import { h, note, num, put, rowHead, table, th } from "./elements.js";
import { D, thing } from "./data.js";
import { sections, shown } from "./state.js";
import { system } from "./links.js";
import { placeDrawing } from "./charts.js";

/** @param {HTMLElement} body */
export function setUpRecall(body) {
  const [lines, space] = [h("div"), h("div")];
  body.append(
    note(
      `The share of the relevant ${thing()}s found down to each depth, as a mean over queries.`,
    ),
    h("div", { class: "columns wide-first" }, lines, space),
  );
  return { lines, space };
}

export function drawRecall() {
  const { lines, space } = sections.get("recall").parts;
  const systems = shown.systems.filter((s) => D.recall.mean[s]);
  lines.hidden = !systems.length || !placeDrawing(lines, "recall", "recall by depth", systems);
  if (!systems.length) return put(space, note("No run matches the filter."));
  put(space, depthTable(systems), h("details", null, h("summary", null, "Recall at each depth"), recallTable(systems)));
}

/**
 * The numbers that are drawn.
 * @param {number[]} systems
 */
function recallTable(systems) {
  const { depths, mean } = D.recall;
  return table({
    caption: `The mean share of the relevant ${thing()}s found within each depth`,
    head: h(
      "tr",
      null,
      th("run"),
      depths.map((depth) => th(grouped(depth), { class: "num" })),
    ),
    rows: systems,
    row: (s) =>
      h(
        "tr",
        null,
        rowHead(system(s, 24)),
        mean[s].map((share) => num(percent(share))),
      ),
    first: 20,
  });
}

/** @param {number[]} systems */
function depthTable(systems) {
  const needs = D.depth_needed;
  const cell = ({ median, reached }, s) =>
    num(
      median[s] == null ? NONE : grouped(median[s]),
      " ",
      h("span", { class: "small" }, `(${percent(reached[s], 0)})`),
    );
  const row = (s) =>
    h(
      "tr",
      null,
      rowHead(system(s, 24)),
      needs.map((need) => cell(need, s)),
    );
  const head = h(
    "tr",
    null,
    th("run"),
    needs.map((need) => th(`for ${percent(need.recall, 0)} recall`, { class: "num" })),
  );
  return table({
    caption: `Depth needed: the median over queries (${NONE} if half of the rankings end sooner) and, in brackets, the share of queries on which it is reached`,
    head,
    rows: systems,
    row,
    first: 20,
  });
}

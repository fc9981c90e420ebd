/** Breakdown: numbers over queries other than the mean, and the numbers of each group of queries. */

import { counted, cut, grouped, number, percent, visible } from "./text.js";
import { exact } from "./save.js";
import { chooser, h, name, note, num, put, rowHead, table, td, th, writtenAs } from "./elements.js";
import { D } from "./data.js";
import { change, sections, shown, state } from "./state.js";
import { measureOptions, run } from "./links.js";

/** @typedef {import("./payload.js").Part} Part */

const MOST_RUNS = 12; // beside each other, as many as can be compared
let chosenOver = 0; // by the reader, for as long as the page is open

/**
 * A way of aggregating, in words.
 * @param {string} text as on the command line
 * @returns {string}
 */
export function overWords(text) {
  const [kind, share] = text.split(":");
  const words = /** @type {Record<string, string>} */ ({
    mean: "mean",
    median: "median",
    min: "lowest value",
    quantile: `quantile ${share}`,
    tail: `mean of the worst ${percent(Number(share), Number.isInteger(100 * Number(share)) ? 0 : 1)}`,
  });
  return Object.hasOwn(words, kind) ? words[kind] : visible(text);
}

/**
 * A number with its interval, if the queries were resampled.
 * @param {Part} part
 * @param {number} o
 * @param {number} s
 * @param {number} k
 */
function numberCell(part, o, s, k) {
  const isFraction = /^(median|tail)/.test(D.breakdown.overs[o]); // also of what is counted
  const digits = (D.measures[k].decimals ?? 4) || Number(isFraction);
  const value = part.numbers[o][s][k];
  const ends = part.low && part.high ? [part.low[o][s][k], part.high[o][s][k]] : [];
  const cell = num(number(value, digits));
  if (ends.some((end) => end != null)) {
    const [low, high] = ends.map((end) => (end == null ? "open" : number(end, digits)));
    cell.append(h("span", { class: "interval" }, `[${low}, ${high}]`));
  }
  return writtenAs(cell, exact(value), ...ends.map(exact));
}

/**
 * A heading; in a file, the ends of intervals have their own columns.
 * @param {any} shownText
 * @param {string} text
 */
function numberHead(shownText, text) {
  const isResampled = D.breakdown.parts[0].low != null;
  return writtenAs(th(shownText, { class: "num" }), text, ...(isResampled ? [`${text} low`, `${text} high`] : []));
}

/**
 * What the leaderboard has beside the means: one row for each run and each way of aggregating that was asked for.
 * @param {number[]} runs
 */
export function overTable(runs) {
  const { overs, parts } = D.breakdown;
  return table({
    caption: `Numbers over all ${counted(parts[0].queries, "query")}`,
    head: h(
      "tr",
      null,
      th("over queries"),
      th("run"),
      D.measures.map((measure) => numberHead(cut(measure.name, 40), measure.name)),
    ),
    rows: overs.flatMap((over, o) => (over === "mean" ? [] : runs.map((s) => ({ over, o, s })))),
    row: ({ over, o, s }) =>
      h(
        "tr",
        null,
        rowHead(overWords(over)),
        td(run(s)),
        D.measures.map((_, k) => numberCell(parts[0], o, s, k)),
      ),
    first: 40,
  });
}

/** @param {HTMLElement} body */
export function setUpBreakdown(body) {
  const measure = chooser("Measure", (m) => change({ m }));
  const over = chooser("Over queries", (o) => {
    chosenOver = o;
    drawBreakdown();
  });
  const space = h("div");
  const isChoice = D.breakdown.overs.length > 1;
  body.append(h("div", { class: "controls" }, measure.element, isChoice && over.element), space);
  return { measure, over, space };
}

export function drawBreakdown() {
  const { measure, over, space } = sections.get("by").parts;
  const { overs, parts, orders } = D.breakdown;
  measure.set(measureOptions(), state.m);
  over.set(
    overs.map((text, o) => [o, overWords(text)]),
    chosenOver,
  );
  if (!shown.runs.length) return put(space, note("No run matches the filter."));
  const order = orders[chosenOver][state.m];
  put(space, breakdownNote(), groupTable([parts[0], ...order.map((place) => parts[place])], state.m));
}

function breakdownNote() {
  const { by, min_queries, withheld, without } = D.breakdown;
  const isRate = D.measures[state.m].is_preference;
  return note(
    "The queries in groups, as ",
    name(by ?? ""),
    " has them. ",
    isRate
      ? "Win rates add up to the same in every group, so they do not tell which group is worse. "
      : "The group in which the runs do worst comes first. ",
    withheld.groups > 0 &&
      `${counted(withheld.groups, "group")} with fewer than ${counted(min_queries, "query")} (${counted(withheld.queries, "query")} together) ${withheld.groups === 1 ? "is" : "are"} not shown. `,
    without > 0 && `${counted(without, "query")} without a group ${without === 1 ? "is" : "are"} in none of them. `,
    shown.runs.length > MOST_RUNS &&
      `The first ${MOST_RUNS} of ${counted(shown.runs.length, "run")} are shown; the filter chooses others.`,
  );
}

/**
 * @param {Part[]} parts
 * @param {number} k
 */
function groupTable(parts, k) {
  const runs = shown.runs.slice(0, MOST_RUNS);
  return table({
    caption: `${cut(D.measures[k].name)}, ${overWords(D.breakdown.overs[chosenOver])} over the queries of each group`,
    head: h(
      "tr",
      null,
      th("group"),
      th("queries", { class: "num" }),
      runs.map((s) => numberHead(run(s, 24), D.runs[s])),
    ),
    rows: parts,
    row: (part) =>
      h(
        "tr",
        null,
        rowHead(part.group == null ? "all queries" : name(part.group, 40)),
        num(grouped(part.queries)),
        runs.map((s) => numberCell(part, chosenOver, s, k)),
      ),
    first: 50,
  });
}

/** Deciding: the difference of two runs on each query, and what decides it. */

import { NONE, counted, cut, grouped, number, signed } from "./text.js";
import { h, num, put, rowHead, table, td, th } from "./elements.js";
import { D, REASONS, REASON_ORDER, byWeight, decide, difference, isHeadToHead, numRelevant } from "./data.js";
import { sections, shown, state } from "./state.js";
import { A, B, place, queryLink } from "./links.js";
import { MOST_BARS, sortedBars } from "./bars.js";
import { queryTextCell, queryTextHead } from "./words.js";

/** @typedef {{ q: number, value: number, decided: import("./data.js").Decided | null }} PairRow */

/**
 * The difference on each query that is shown, with what decides it.
 * @param {number} k
 */
export function pairRows(k) {
  return shown.queries
    .map((q) => ({ q, value: difference(k, state.a, state.b, q), decided: decide(state.a, state.b, q) }))
    .filter((row) => row.value != null);
}

/**
 * @param {number} k
 * @param {import("./deciding.js").PairRow} row
 */
function pairTip(k, row) {
  const values = D.measures[k].is_preference
    ? ""
    : ` (${[state.a, state.b].map((s) => number(D.values[k][s][row.q], 4)).join(" and ")})`;
  const why =
    row.decided && D.measures[k].name === "LexiRecall"
      ? `: ${row.decided.sign ? cut(D.runs[row.decided.sign > 0 ? state.a : state.b], 40) + " " : ""}${REASONS[row.decided.reason]}`
      : "";
  return `query ${cut(D.queries[row.q], 40)}: ${signed(row.value, (x) => number(x, 4))}${values}${why}`;
}

const STRENGTHS = { found: 1, last: 0.62, earlier: 0.34 }; // of the colour, by what decides

/**
 * @param {number} k
 * @param {any[]} rows
 */
export function drawPairBars(k, rows) {
  const { bars, above } = sections.get("pair").parts;
  bars.hidden = above.hidden = !rows.length;
  if (!rows.length) return;
  const measure = D.measures[k];
  const isLexiRecall = measure.name === "LexiRecall";
  const sorted = rows.toSorted(
    (x, y) =>
      y.value - x.value ||
      (isLexiRecall && x.decided && y.decided ? Math.sign(x.value || 1) * byWeight(x.decided, y.decided) : 0) ||
      x.q - y.q,
  );
  const every = Math.ceil(sorted.length / MOST_BARS);
  const kept = sorted
    .filter((_, index) => index % every === 0)
    .map((row) => ({
      q: row.q,
      value: row.value,
      fill: row.value > 0 ? "var(--side-a)" : row.value < 0 ? "var(--side-b)" : "var(--muted)",
      opacity: isLexiRecall && row.decided?.sign ? STRENGTHS[row.decided.reason] : 1,
      tip: pairTip(k, row),
    }));
  const counts = [1, 0, -1].map((sign) => rows.filter((row) => Math.sign(row.value) === sign).length);
  const [top, bottom] = [sorted[0], sorted.at(-1)];
  const label = `${measure.name} per query, sorted: ${cut(D.runs[state.a])} is better on ${counts[0]}, equal on ${counts[1]}, worse on ${counts[2]}; from ${number(top.value)} on query ${cut(D.queries[top.q])} to ${number(bottom.value)} on query ${cut(D.queries[bottom.q])}`;
  put(
    above,
    "Difference per query in ",
    cut(measure.name),
    ", ",
    A(),
    " less ",
    B(),
    every > 1 ? ` (one in ${every} of ${counted(sorted.length, "query")})` : "",
  );
  const entries = Object.entries(STRENGTHS).map(([reason, opacity]) => ({ text: REASONS[reason], opacity }));
  const legend = { title: "decided because the winner", entries };
  sortedBars(bars, label, kept, {
    title: isHeadToHead(k) ? (measure.is_preference ? "preference" : "difference") : "difference of win rates",
    file: `${measure.name} ${D.runs[state.a]} less ${D.runs[state.b]}`,
    ticks: isLexiRecall ? [-1, 0, 1] : undefined,
    legend: isLexiRecall ? legend : undefined,
  });
}

/** @param {any[]} rows */
export function reasonTable(rows) {
  const of = (reason, sign) => rows.filter((row) => row.decided.reason === reason && row.decided.sign === sign).length;
  return table({
    caption: "What decides under LexiRecall, and on how many queries",
    head: h("tr", null, th("the winner"), th(["for ", A()], { class: "num" }), th(["for ", B()], { class: "num" })),
    className: "reasons",
    rows: REASON_ORDER.slice(0, 3),
    row: (reason) => h("tr", null, rowHead(REASONS[reason]), num(grouped(of(reason, 1))), num(grouped(of(reason, -1)))),
  });
}

/**
 * @param {number} k
 * @param {any[]} rows
 */
export function decidingTable(k, rows) {
  const isLexiRecall = D.measures[k].name === "LexiRecall";
  const sorted = rows.toSorted(
    (x, y) => (isLexiRecall ? 0 : Math.abs(y.value) - Math.abs(x.value)) || byWeight(x.decided, y.decided),
  );
  return table({
    caption: isLexiRecall
      ? "The queries that decide, the clearest first"
      : `The queries that differ most in ${cut(D.measures[k].name)}, and what decides them under LexiRecall`,
    head: h(
      "tr",
      null,
      th("query"),
      queryTextHead(),
      !isLexiRecall && th(cut(D.measures[k].name), { class: "num" }),
      th("preferred"),
      th("because it"),
      th("relevant", { class: "num" }),
      th("A finds", { class: "num" }),
      th("B finds", { class: "num" }),
      th("at level", { class: "num" }),
      th("position in A", { class: "num" }),
      th("position in B", { class: "num" }),
    ),
    rows: sorted,
    row: ({ q, value, decided }) =>
      h(
        "tr",
        null,
        rowHead(queryLink(q)),
        queryTextCell(q),
        !isLexiRecall && num(signed(value, (x) => number(x, 4))),
        td(
          decided.sign === 0
            ? NONE
            : h("span", { class: decided.sign > 0 ? "side-a" : "side-b" }, decided.sign > 0 ? A() : B()),
        ),
        td(REASONS[decided.reason]),
        num(grouped(numRelevant(q))),
        decided.found.map((count) => num(grouped(count))),
        decided.level
          ? [num(grouped(decided.level)), decided.places.map((each) => num(place(each)))]
          : [num(NONE), num(NONE), num(NONE)],
      ),
    first: 12,
    className: "deciding",
  });
}

/** Worst-off queries: those with the least found. */

import { NONE, counted, cut, grouped, percent } from "./text.js";
import { chooser, h, name, note, num, put, rowHead, table, td, th } from "./elements.js";
import { D, indices, isHeld, numRelevant, takesPart, thing } from "./data.js";
import { change, sections, shown, state } from "./state.js";
import { queryLink, runOptions } from "./links.js";
import { MOST_BARS, sortedBars } from "./bars.js";
import { queryColumns, queryTextCell, queryTextHead } from "./words.js";

/** @param {HTMLElement} body */
export function setUpWorst(body) {
  const choice = chooser("For", (worst) => change({ worst }));
  const [bars, space] = [h("div"), h("div")];
  const beside = h("div", { class: queryColumns() }, space, bars);
  body.append(
    h("div", { class: "controls" }, choice.element),
    note(
      `Where do the runs find least? The queries with the smallest share of their relevant ${thing()}s found come first. If shares are equal, the query with the deepest last ${thing()} comes first.`,
    ),
    beside,
  );
  return { choice, bars, space };
}

/**
 * Recall and last position of a query, for one run or as the mean over the runs shown.
 * @param {number} q
 * @param {number[]} runs
 */
function recallOf(q, runs) {
  const packed = runs.filter((s) => takesPart(s, q)).map((s) => ({ s, list: D.found[s][q] }));
  if (!packed.length) return null;
  const m = numRelevant(q);
  const shares = packed.map(({ list }) => list.length / 2 / m);
  const lasts = packed.map(({ list }) => (list.length === 2 * m ? lastOf(list) : Infinity));
  const best = indices(packed.length).reduce((i, j) => (shares[j] > shares[i] ? j : i), 0);
  return {
    q,
    m,
    recall: shares.reduce((sum, share) => sum + share, 0) / shares.length,
    last: Math.max(...lasts),
    lastFound: Math.max(0, ...packed.map(({ list }) => lastOf(list))),
    best: packed[best].s,
    bestRecall: shares[best],
    complete: lasts.filter(Number.isFinite).length,
    count: packed.length,
  };
}

/** @param {number[]} list */
function lastOf(list) {
  let position = 0;
  for (let i = 0; i < list.length; i += 2) position += list[i];
  return position;
}

export function drawWorst() {
  const { choice, bars, space } = sections.get("worst").parts;
  const held = shown.runs.filter(isHeld);
  const everyone = held.length === 1 ? "the run shown" : `all ${counted(held.length, "run")} shown (mean)`;
  choice.set([[-1, everyone], ...runOptions().filter(([s]) => isHeld(s))], state.worst);
  const isOne = state.worst >= 0;
  const rows = shown.queries.map((q) => recallOf(q, isOne ? [state.worst] : held)).filter(Boolean);
  rows.sort(
    (x, y) => x.recall - y.recall || (y.last === x.last ? y.lastFound - x.lastFound : y.last - x.last) || x.q - y.q,
  );
  bars.hidden = !rows.length;
  if (!rows.length) return put(space, note("Nothing matches the filters."));
  const every = Math.ceil(rows.length / MOST_BARS);
  const kept = rows
    .filter((_, index) => index % every === 0)
    .map(({ q, recall, m }) => ({
      q,
      value: recall,
      fill: "var(--series-0)",
      tip: `query ${cut(D.queries[q], 40)}: ${percent(recall)} of ${counted(m, `relevant ${thing()}`)}`,
    }));
  const half = rows.filter((row) => row.recall < 0.5).length;
  sortedBars(
    bars,
    `Recall of each query, the lowest first: from ${percent(rows[0].recall)} to ${percent(rows.at(-1).recall)}; ${half} of ${rows.length} below 50 %`,
    kept,
    { title: "share found", file: "recall of each query", isPercent: true, height: 220 },
  );
  put(space, worstTable(rows, isOne));
}

/**
 * @param {any[]} rows
 * @param {boolean} isOne
 */
function worstTable(rows, isOne) {
  return table({
    caption: isOne
      ? h("span", null, "The worst-off queries of ", name(D.runs[state.worst]))
      : "The worst-off queries, over the runs shown",
    head: h(
      "tr",
      null,
      th("query"),
      queryTextHead(),
      th("relevant", { class: "num" }),
      th(isOne ? "found" : "found, mean", { class: "num" }),
      isOne
        ? [th("missing", { class: "num" }), th("last found at", { class: "num" })]
        : [th("complete in", { class: "num" }), th("best", { class: "num" }), th("by")],
    ),
    rows,
    row: (row) =>
      h(
        "tr",
        null,
        rowHead(queryLink(row.q)),
        queryTextCell(row.q),
        num(grouped(row.m)),
        h("td", { class: "num value", "--share": row.recall }, percent(row.recall)),
        isOne
          ? [num(grouped(Math.round(row.m * (1 - row.recall)))), num(row.lastFound ? grouped(row.lastFound) : NONE)]
          : [
              num(`${grouped(row.complete)} of ${grouped(row.count)}`),
              num(percent(row.bestRecall)),
              td(row.bestRecall > 0 ? name(D.runs[row.best], 40) : NONE),
            ],
      ),
    first: 10,
  });
}

/** Leaderboard: the mean of every measure, sorted as the reader likes. */

import { NONE, counted, cut, grouped, number, percent, visible } from "./text.js";
import { exact } from "./save.js";
import { chooser, h, name, note, num, put, rowHead, table, td, th, writtenAs } from "./elements.js";
import { D, direction, thing } from "./data.js";
import { change, sections, shown, state } from "./state.js";
import { measureOptions, run } from "./links.js";
import { groupsOf } from "./groups.js";
import { overTable } from "./breakdown.js";

const order = { column: -1, isDescending: false }; // -1 is the rank
const MOST_LETTERED = 26; // with more, letters are longer than the values beside them
let isLettered = false; // the reader asked for letters anyway

const isCrowded = () => D.runs.length > MOST_LETTERED && D.baseline == null;
const areLettersShown = () => !isCrowded() || isLettered;

function sortedRuns() {
  const sign = order.isDescending ? -1 : 1;
  const key = order.column < 0 ? (s) => D.ranks[s] : (s) => D.means[s][order.column];
  return shown.runs.toSorted((s, t) => {
    const [x, y] = [key(s), key(t)];
    if (x == null || y == null) return Number(x == null) - Number(y == null); // undefined ones last, whatever the order
    return sign * (x - y) || s - t;
  });
}

function leaderboardHead() {
  /** @type {[number, string, string][]} */
  const columns = [
    [-1, "rank", "place by the share of comparisons won"],
    ...D.measures.map((measure, k) => /** @type {[number, string, string]} */ ([k, measure.name, measure.title])),
  ];
  return h(
    "tr",
    null,
    columns.map(([k, text, title]) => {
      const isSorted = order.column === k;
      const arrow = isSorted ? (order.isDescending ? "▼" : "▲") : "↕";
      const button = h(
        "button",
        { type: "button", class: "sort", title, onclick: () => sortBy(k) },
        cut(text, 40),
        h("span", { class: "arrow", "aria-hidden": "true" }, arrow),
      );
      const kind =
        k >= 0 &&
        h(
          "span",
          { class: "kind" },
          D.measures[k].is_preference ? "win rate" : D.measures[k].better === "lower" ? "lower is better" : "mean",
        );
      const cell = th(button, {
        class: k < 0 ? "rank" : "num",
        "aria-sort": isSorted ? (order.isDescending ? "descending" : "ascending") : "none",
      });
      if (kind) cell.append(kind);
      const marks = D.baseline == null ? "significantly better than" : "against the baseline";
      const ends = D.intervals ? [`${text} low`, `${text} high`] : [];
      writtenAs(cell, text, ...(k < 0 ? [] : [`${text} ${marks}`, ...ends]));
      return k < 0 ? [cell, th("run")] : cell;
    }),
  );
}

/** @param {number} column */
function sortBy(column) {
  const descending = column >= 0 && direction(column) > 0; // the best first
  order.isDescending = order.column === column ? !order.isDescending : descending;
  order.column = column;
  drawLeaderboard();
  const { body } = sections.get("leaderboard");
  /** @type {NodeListOf<HTMLElement>} */ (body.querySelectorAll("button.sort"))[column + 1].focus();
}

/**
 * @param {number} s
 * @param {number} k
 * @param {number} highest
 * @param {number} longest
 */
function valueCell(s, k, highest, longest) {
  const value = D.means[s][k];
  const text = number(value, D.measures[k].decimals ?? 4);
  const isCount = D.baseline == null && !areLettersShown();
  const count = D.better_than?.[s][k];
  const mark = isCount ? (count ? `> ${grouped(count)}` : "") : D.marks[s][k];
  const label =
    D.baseline == null
      ? `significantly better than ${isCount ? counted(count, "run") : mark}`
      : mark === "+"
        ? "significantly better than the baseline"
        : "significantly worse than the baseline";
  const cell = h(
    "td",
    { class: "num value", "--share": value == null || !highest ? 0 : Math.max(0, value / highest) },
    D.best[s][k] ? h("strong", null, text) : text,
  );
  const className = isCount ? "count" : isCrowded() ? "wrapped" : null;
  const ends = D.intervals ? [D.intervals.low[s][k], D.intervals.high[s][k]] : [];
  writtenAs(cell, exact(value), D.marks[s][k], ...ends.map(exact));
  cell.append(h("sup", { title: mark ? label : null, class: className, "--length": longest }, mark));
  if (ends.some((end) => end != null)) {
    const [low, high] = ends.map((end) => (end == null ? "open" : number(end, D.measures[k].decimals ?? 4)));
    cell.append(h("span", { class: "interval" }, `[${low}, ${high}]`));
  }
  return cell;
}

/**
 * How often each run comes first, and which ranks it has, when the queries are resampled; and by the tests.
 * @param {number[]} runs
 */
function certaintyTable(runs) {
  const { first, ranks, tested } = D.certainty;
  const range = ([low, high]) => num(`${grouped(low)} to ${grouped(high)}`);
  const head = h(
    "tr",
    null,
    th("run"),
    th("first", { class: "num" }),
    th("resampling range", { class: "num" }),
    tested && th("ranks by tests", { class: "num" }),
  );
  return table({
    caption: `First: in how many resamples the run has the highest win rate under ${visible(D.measures[0].name)}. Resampling range: its ranks in the middle of them, not a confidence interval${tested ? ". Ranks by tests: 1 + the runs that are significantly better, to all but those that are worse" : ""}`,
    head,
    rows: runs,
    row: (s) =>
      h("tr", null, rowHead(run(s, 24)), num(percent(first[s])), range(ranks[s]), tested && range(tested[s])),
    first: 40,
  });
}

function footnote() {
  const tests = D.measures.flatMap((measure) => (measure.test ?? "").split(", ")); // of one measure they may be two
  const methods = [...new Set(tests.filter(Boolean))].join(", ");
  const corrections = [
    ...new Set(D.measures.map((measure) => measure.correction).filter((each) => each && each !== "none")),
  ].join(", ");
  const how = [methods, corrections && `correction: ${corrections}`, `α = ${D.alpha}`].filter(Boolean).join("; ");
  const raised = areLettersShown()
    ? "Raised letters: the runs that are significantly worse"
    : "> 12: significantly better than 12 other runs";
  return D.baseline == null
    ? `${raised} (${how}). Bold: the best value. The filter changes only what is shown: means and tests cover all queries.`
    : [
        `Raised + and −: significantly better or worse than the baseline, `,
        name(D.runs[D.baseline]),
        ` (${how}). Bold: the best value.`,
      ];
}

function toggleLetters() {
  isLettered = !isLettered;
  drawLeaderboard();
  /** @type {HTMLElement} */ (sections.get("leaderboard").body.querySelector("button.letters")).focus();
}

/** Go to the first run that the filter keeps. */
export function goToFirstRow() {
  const row = /** @type {HTMLElement} */ (sections.get("leaderboard").body.querySelector("tr[data-run]"));
  row?.scrollIntoView({ block: "center" });
  row?.focus({ preventScroll: true });
}

/** @param {HTMLElement} body */
export function setUpLeaderboard(body) {
  const choice = chooser("Measure", (m) => change({ m }));
  const [board, space] = [h("div"), h("div")];
  const above = h("h3", { class: "needs-pair" }, "Groups of runs that do not differ significantly");
  body.append(board, above, h("div", { class: "controls needs-pair" }, choice.element), space);
  return { board, choice, space };
}

export function drawLeaderboard() {
  const highest = D.measures.map((_, k) => Math.max(0, ...D.means.map((row) => row[k] ?? 0)));
  const longest = D.measures.map((_, k) => (isCrowded() ? 6 : Math.max(0, ...D.marks.map((row) => row[k].length))));
  const rows = sortedRuns();
  const { board, choice, space } = sections.get("leaderboard").parts;
  choice.set(measureOptions(), state.m);
  put(space, groupsOf(state.m));
  put(
    board,
    D.runs.length > 1 &&
      note(
        h("strong", null, "LexiRecall"),
        ` prefers the ranking that finds more of the relevant ${thing()}s. If both find equally many, it prefers the one that finds the last of them sooner; if that ties, it looks at the one before, and so on. The win rate is the share of comparisons with the other runs, query by query, that a run wins; a tie counts half.`,
      ),
    rows.length
      ? table({
          caption: "Means over queries, the best run first",
          head: leaderboardHead(),
          rows,
          row: (s) =>
            h(
              "tr",
              { class: D.baseline === s ? "baseline" : null, tabindex: "-1", "data-run": s },
              h("td", { class: "rank" }, String(D.ranks[s])),
              rowHead(run(s)),
              D.measures.map((_, k) => valueCell(s, k, highest[k], longest[k])),
            ),
          first: 40,
          className: "leaderboard",
          attributes: { "--columns": D.measures.length },
        })
      : note("No run matches the filter."),
    D.runs.length > 1 && note(footnote()),
    D.intervals && note(`${D.intervals.note}.`),
    D.certainty && rows.length && h("details", null, h("summary", null, "How certain is the order?"), certaintyTable(rows)),
    rows.length && D.breakdown?.overs.some((over) => over !== "mean")
      ? [h("h3", null, "Over queries, beside the mean"), overTable(rows)]
      : "",
    isCrowded() &&
      h(
        "button",
        { type: "button", class: "letters", "aria-pressed": String(isLettered), onclick: toggleLetters },
        "Show letters",
      ),
    h("details", null, h("summary", null, "What the measures are"), glossary()),
  );
}

function glossary() {
  return table({
    caption: `The measures: p are the positions of the m relevant ${thing()}s`,
    head: h("tr", null, th("measure"), th("what it is"), th("formula"), th("better"), th("test")),
    rows: D.measures,
    row: (measure) =>
      h(
        "tr",
        null,
        rowHead(name(measure.name)),
        td(visible(measure.title)),
        h("td", { class: "formula" }, visible(measure.formula)),
        td(measure.better),
        td(measure.test ?? NONE),
      ),
    className: "words",
    first: 50,
  });
}

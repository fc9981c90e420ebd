/** One pair: what the tests say of two runs, under every measure. */

import { NONE, counted, cut, grouped, number, percent, probability, signed } from "./text.js";
import { exact } from "./save.js";
import { chooser, h, name, note, num, put, rowHead, table, th, writtenAs } from "./elements.js";
import { D, compared, indices, isHeadToHead, isSignificant } from "./data.js";
import { change, sections, shown, state } from "./state.js";
import { A, B, alone, measureOptions, notHeld, pairChoosers } from "./links.js";
import { drawTail } from "./tail.js";
import { decidingTable, drawPairBars, pairRows, reasonTable } from "./deciding.js";

/** @param {HTMLElement} body */
export function setUpPair(body) {
  const pair = pairChoosers("pair");
  const measure = chooser("Measure", (m) => change({ m }));
  const [summary, bars, tail, details] = [h("div"), h("div"), h("div"), h("div")];
  const above = h("h3");
  const controls = h("div", { class: "controls needs-pair" }, pair.elements, measure.element);
  body.append(controls, summary, above, bars, tail, details);
  return { pair, measure, summary, bars, tail, details, above };
}

function balance({ wins, ties, losses }) {
  const total = Math.max(1, wins + ties + losses);
  const part = (className, count) =>
    count > 0 && h("span", { class: className, "--share": count / total }, grouped(count));
  return h(
    "div",
    { class: "balance", role: "img", "aria-label": `wins ${wins}, ties ${ties}, losses ${losses}` },
    part("wins", wins),
    part("ties", ties),
    part("losses", losses),
  );
}

/**
 * @param {number} k
 * @param {import("./data.js").Compared} pair
 */
function verdict(k, pair) {
  const measure = D.measures[k];
  if (pair.p == null) return D.baseline == null ? "There is no p-value." : "Only pairs with the baseline were tested.";
  const corrected = measure.correction && measure.correction !== "none" ? `, ${measure.correction} over all pairs` : "";
  const about =
    pair.response == null
      ? ""
      : ` This p is about the difference of responses, ${signed(pair.response, (x) => number(x, 4))}.`;
  return `The difference is ${isSignificant(pair) ? "" : "not "}significant: p\u00a0${pair.p < 0.001 ? "" : "=\u00a0"}${probability(pair.p)} (${measure.test ?? "test"}${corrected}; α = ${D.alpha}).${about}`;
}

/** @param {number} k */
function pairSummary(k) {
  const pair = compared(k, state.a, state.b);
  const measure = D.measures[k];
  if (!pair)
    return [
      note(
        "This page does not hold a test of ",
        A(),
        " against ",
        B(),
        D.baseline == null ? "." : ": only pairs with the baseline were tested.",
      ),
    ];
  const total = pair.wins + pair.ties + pair.losses;
  return [
    h(
      "p",
      { class: "lead" },
      "Under ",
      h("strong", null, cut(measure.name)),
      ", ",
      h("span", { class: "side-a" }, A()),
      ` is better on ${grouped(pair.wins)} of ${counted(total, "query")}, `,
      h("span", { class: "side-b" }, B()),
      ` on ${grouped(pair.losses)}, and ${grouped(pair.ties)} ${pair.ties === 1 ? "ties" : "tie"}. `,
      verdict(k, pair),
    ),
    balance(pair),
  ];
}

function measuresOfPair() {
  /** @type {[number, import("./data.js").Compared][]} */
  const all = indices(D.measures.length).map((k) => [k, compared(k, state.a, state.b)]);
  const rows = all.filter(([, pair]) => pair);
  const isOther = rows.some(([, pair]) => pair.response != null);
  const isCorrected = rows.some(([k, pair]) => (D.measures[k].correction || "none") !== "none" || pair.raw !== pair.p);
  const columns = ["difference", "interval", "p", isCorrected && "corrected p"].filter(Boolean);
  if (isOther) columns.push("response", "response interval");
  const ends = { interval: ["low", "high"], "response interval": ["response_low", "response_high"] };
  return table({
    caption: h(
      "span",
      null,
      "Every measure, ",
      A(),
      " against ",
      B(),
      `; + means that the first is better; ${percent(1 - D.alpha, 0)} intervals of all pairs`,
    ),
    head: h(
      "tr",
      null,
      th("measure"),
      [...columns, "wins", "ties", "losses"].map((text) =>
        writtenAs(th(text, { class: "num" }), ...(ends[text] ?? [text])),
      ),
    ),
    rows,
    row: ([k, pair]) => {
      const value = (x) => number(x, D.measures[k].decimals ?? 4);
      const interval = (low, high) =>
        writtenAs(
          num(low == null || high == null ? NONE : `${signed(low, value)} to ${signed(high, value)}`),
          exact(low),
          exact(high),
        );
      const difference = signed(pair.mean, value);
      return h(
        "tr",
        k === state.m ? { class: "chosen" } : null,
        rowHead(name(D.measures[k].name)),
        num(isSignificant(pair) ? h("strong", null, difference) : difference),
        interval(pair.low, pair.high),
        [isCorrected ? pair.raw : pair.p, ...(isCorrected ? [pair.p] : [])].map((p) =>
          writtenAs(num(probability(p)), exact(p)),
        ),
        isOther && num(pair.response == null ? NONE : signed(pair.response, value)),
        isOther && interval(pair.response_low, pair.response_high),
        [pair.wins, pair.ties, pair.losses].map((count) => num(grouped(count))),
      );
    },
  });
}

export function drawPair() {
  const { pair, measure, summary, bars, tail, details, above } = sections.get("pair").parts;
  if (D.runs.length < 2) {
    bars.hidden = above.hidden = tail.hidden = true;
    return put(summary, alone());
  }
  pair.update();
  measure.set(measureOptions(), state.m);
  put(summary, ...pairSummary(state.m));
  const rows = pairRows(state.m);
  drawPairBars(state.m, rows);
  drawTail(tail, state.m);
  const decided = rows.filter((row) => row.decided);
  put(
    details,
    !isHeadToHead(state.m) && rows.length
      ? note(
          "The bars are differences between win rates against all runs. The page does not hold which of the two this preference prefers on each query.",
        )
      : "",
    decided.length ? h("div", { class: "columns" }, measuresOfPair(), reasonTable(decided)) : measuresOfPair(),
    decided.length
      ? decidingTable(state.m, decided)
      : shown.queries.length
        ? notHeld()
        : note("No query matches the filter."),
  );
}

/** Unjudged: how sure the numbers are when labels are missing. */

import { NONE, grouped, number, percent, visible } from "./text.js";
import { h, name, note, num, put, rowHead, table, td, th } from "./elements.js";
import { D } from "./data.js";
import { sections } from "./state.js";

/** @param {string} text */
const labelHead = (text) => th(text, { class: "num" });
/** @param {number | null} count */
const labelCount = (count, digits = 0) => num(count == null ? NONE : digits ? number(count, digits) : grouped(count));

/**
 * A mean between the least and the most that labels can make of it, as a bar on the scale of all runs.
 * @param {(number | null)[]} bound
 * @param {[number, number]} scale
 */
function boundCell([value, low, high], [least, most]) {
  if (value == null || low == null || high == null) return num(NONE);
  const place = (/** @type {number} */ x) => (most > least ? (x - least) / (most - least) : 0.5);
  return num(
    `${number(value)} (${number(low)} to ${number(high)})`,
    h(
      "div",
      { class: "range", "aria-hidden": "true" },
      h("span", { class: "span", "--from": place(low), "--to": place(high) }),
      h("span", { class: "now", "--from": place(value) }),
    ),
  );
}

function labelledRuns() {
  const { measures, runs } = D.unjudged;
  /** @type {[number, number][]} */
  const scales = measures.map((_, m) => {
    const ends = runs.flatMap((run) => run.bounds[m]).filter((end) => end != null);
    return [Math.min(...ends), Math.max(...ends)];
  });
  return table({
    caption: "Each run: how much of it is judged, and its means with the least and the most that labels can make of them",
    head: h("tr", null, th("run"), ["retrieved", "unjudged", "judged", ...measures].map(labelHead)),
    rows: runs,
    row: (run) =>
      h(
        "tr",
        null,
        rowHead(name(run.name, 40)),
        [run.retrieved, run.unjudged].map((count) => labelCount(count)),
        num(percent(run.judged)),
        run.bounds.map((bound, m) => boundCell(bound, scales[m])),
      ),
    first: 20,
  });
}

function labelledPairs() {
  const { pairs, samples } = D.unjudged;
  const sampled = samples ? ["reversals", "same order", "significant", "stays so"] : [];
  return table({
    caption:
      "Each pair: queries on which one run is better (decided), those that no label can reverse (safe), and how many labels reverse the median decision (flip; – if most are safe)",
    head: h(
      "tr",
      null,
      th("a"),
      th("b"),
      th("measure"),
      ["decided", "tied", "safe", "flip", "of unjudged", ...sampled].map(labelHead),
    ),
    rows: pairs,
    row: (pair) =>
      h(
        "tr",
        null,
        rowHead(name(pair.a, 40)),
        td(name(pair.b, 40)),
        td(pair.measure),
        [pair.decided, pair.tied, pair.safe].map((count) => labelCount(count)),
        [pair.median_flip, pair.median_unjudged].map((count) => labelCount(count, 1)),
        samples > 0 && labelCount(pair.reversals, 2),
        samples > 0 && num(percent(pair.same_order)),
        samples > 0 && num(pair.significant ? "yes" : "no"),
        samples > 0 && num(percent(pair.survives)),
      ),
    first: 20,
  });
}

function labelledOrders() {
  return table({
    caption: "The order of all runs under sampled labels: how often the best run stays best, and Kendall's tau with the order now",
    head: h("tr", null, th("measure"), th("best run"), ["stays best", "tau", "lowest"].map(labelHead)),
    rows: D.unjudged.orders,
    row: (order) =>
      h(
        "tr",
        null,
        rowHead(order.measure),
        td(name(order.best, 40)),
        num(percent(order.stays_best)),
        [order.tau, order.tau_low].map((tau) => labelCount(tau, 4)),
      ),
  });
}

export function drawUnjudged() {
  const { sentences, samples, pairs, orders, total, runs } = D.unjudged;
  put(
    sections.get("unjudged").body,
    sentences.map((sentence) => h("p", null, visible(sentence))),
    samples > 0 && note(`Reversals, and shares of what stays as it is, are those of ${grouped(samples)} sampled labellings.`),
    labelledRuns(),
    pairs.length > 0 && labelledPairs(),
    pairs.length < total &&
      note(`The first ${grouped(pairs.length)} of ${grouped(total)} pairs are on this page; lexirecall unjudged -f jsonl has all.`),
    orders.length > 0 && runs.length > 2 && labelledOrders(),
  );
}

/** Recall by depth, or by share of the corpus: how much is found down to there. */

import { NONE, grouped, percent } from "./text.js";
import { h, note, num, put, rowHead, table, th } from "./elements.js";
import { D, thing } from "./data.js";
import { sections, shown } from "./state.js";
import { run } from "./links.js";
import { placeDrawing } from "./charts.js";

const WAYS = { depth: "Depth of the list", share: "Share of the corpus" };
/** @type {keyof typeof WAYS} */
let way = "depth"; // what recall is shown by

/** @param {HTMLElement} body */
export function setUpRecall(body) {
  const [lines, space] = [h("div"), h("div")];
  const random = D.recall.random ? " A random order finds, on average, the share of the corpus that is read." : "";
  body.append(
    note(
      `The share of the relevant ${thing()}s found down to each depth, as a mean over queries. The ideal ranking has all of them on top.${random}`,
    ),
    ...(D.recall.by_share ? [wayButtons()] : []),
    h("div", { class: "columns wide-first" }, lines, space),
  );
  return { lines, space };
}

function wayButtons() {
  /** @param {keyof typeof WAYS} each */
  const button = (each) =>
    h(
      "button",
      { type: "button", "aria-pressed": String(each === way), "data-way": each, onclick: () => choose(each) },
      WAYS[each],
    );
  return h("div", { class: "ways", role: "group", "aria-label": "Show recall by" }, button("depth"), button("share"));
}

/** @param {keyof typeof WAYS} chosen */
function choose(chosen) {
  way = chosen;
  for (const button of sections.get("recall").body.querySelectorAll("[data-way]"))
    button.setAttribute("aria-pressed", String(button.getAttribute("data-way") === way));
  drawRecall();
}

export function drawRecall() {
  const { lines, space } = sections.get("recall").parts;
  const runs = shown.runs.filter((s) => D.recall.mean[s]);
  const [key, file] = way === "depth" ? ["recall", "recall by depth"] : ["recall-by-share", "recall by share"];
  lines.hidden = !runs.length || !placeDrawing(lines, key, file, runs);
  if (!runs.length) return put(space, note("No run matches the filter."));
  const summary = way === "depth" ? "Recall at each depth" : "Recall at each share of the corpus";
  put(space, depthTable(runs), h("details", null, h("summary", null, summary), recallTable(runs)));
}

/**
 * The numbers that are drawn: of the runs, of the ideal ranking, and of a random order.
 * @param {number[]} runs
 */
function recallTable(runs) {
  const { by_share: shared, depths } = D.recall;
  const isShared = way === "share" && shared;
  const curves = isShared ? shared : D.recall;
  const heads = isShared ? shared.shares.map((share) => percent(share, 0)) : depths.map((depth) => grouped(depth));
  const beside = [
    { name: "ideal", means: curves.ideal },
    { name: "random order", means: curves.random },
  ].filter(({ means }) => means);
  return table({
    caption: `The mean share of the relevant ${thing()}s found within each ${isShared ? "share of the corpus" : "depth"}`,
    head: h(
      "tr",
      null,
      th("run"),
      heads.map((text) => th(text, { class: "num" })),
    ),
    rows: [...runs.map((s) => ({ name: run(s, 24), means: curves.mean[s] })), ...beside],
    row: ({ name, means }) =>
      h(
        "tr",
        null,
        rowHead(name),
        means.map((share) => num(percent(share))),
      ),
    first: 20,
  });
}

/** @param {number[]} runs */
function depthTable(runs) {
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
      rowHead(run(s, 24)),
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
    rows: runs,
    row,
    first: 20,
  });
}

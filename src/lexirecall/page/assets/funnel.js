/** Funnel: what each stage of a search hands on, and where each relevant document is lost. */

import { NONE, counted, grouped, number, signed } from "./text.js";
import { h, name, note, num, put, rowHead, table, td, th } from "./elements.js";
import { D } from "./data.js";
import { sections } from "./state.js";
import { queryLink } from "./links.js";
import { textCell } from "./words.js";

/** @typedef {import("./payload.js").OnTheWay} OnTheWay */

/** @param {string} text */
const stageHead = (text) => th(text, { class: "num" });
/** @param {number | null} count */
const stageCell = (count) => num(count == null ? NONE : grouped(count));

function stageCeilings() {
  const { stages } = D.funnel;
  return table({
    caption: "What a perfect later stage could still reach",
    head: h(
      "tr",
      null,
      th("stage"),
      ["R", "All", "LexiRecall", "better", "worse", "read", "distinct", "handed on"].map(stageHead),
    ),
    rows: stages,
    row: (stage) =>
      h(
        "tr",
        null,
        rowHead(name(stage.name)),
        [stage.recall, stage.all].map((share) => h("td", { class: "num value", "--share": share }, number(share))),
        num(stage.preference == null ? NONE : signed(stage.preference, (x) => number(x))),
        [stage.better, stage.worse].map(stageCell),
        stage.documents.map((mean) => num(number(mean, 1))),
      ),
  });
}

function stageLosses() {
  const { stages, kinds, noun } = D.funnel;
  return table({
    caption: `Where relevant ${noun}s are lost`,
    head: h("tr", null, th("stage"), [...kinds, "left", "from elsewhere"].map(stageHead)),
    rows: stages,
    row: ({ name: text, lost, found, entered }) =>
      h("tr", null, rowHead(name(text)), [...lost, found, entered].map(stageCell)),
  });
}

/**
 * Documents with their places in the list of each stage.
 * @param {string} caption
 * @param {OnTheWay[]} rows
 * @param {boolean} isLost
 */
function onTheWayTable(caption, rows, isLost) {
  const { stages, kinds, noun } = D.funnel;
  const hasTexts = rows.some(({ text }) => text != null);
  return table({
    caption,
    head: h(
      "tr",
      null,
      th("query"),
      th(noun),
      isLost && th("lost"),
      th("at"),
      stages.map((stage) => th(h("span", null, "in ", name(stage.name, 24)), { class: "num" })),
      hasTexts && th("text"),
    ),
    rows,
    row: (each) =>
      h(
        "tr",
        null,
        rowHead(each.place < 0 ? name(each.query, 40) : queryLink(each.place)),
        td(name(each.document)),
        isLost && td(kinds[each.how ?? 0]),
        td(each.stage < 0 ? NONE : name(stages[each.stage].name, 24)),
        each.positions.map(stageCell),
        hasTexts && textCell(each.text),
      ),
    first: 20,
  });
}

/**
 * How many documents are not on the page.
 * @param {OnTheWay[]} rows
 * @param {number} total
 */
const notOnThePage = (rows, total) =>
  rows.length < total &&
  note(`The first ${grouped(rows.length)} of ${grouped(total)} are on this page; lexirecall funnel -f jsonl has all.`);

export function drawFunnel() {
  const { body } = sections.get("funnel");
  const { queries, relevant, noun, losses, entries, totals } = D.funnel;
  put(
    body,
    note(
      `${counted(queries, "query")}, ${counted(relevant, `relevant ${noun}`)}. A later stage can reorder what it is handed, and drop from it. So R and All of what a stage hands on are the best that is left. LexiRecall is the mean preference for a stage over the one before, each list in a perfect order. Documents read (with repeats), distinct and handed on are means over queries.`,
    ),
    stageCeilings(),
    stageLosses(),
    losses.length ? onTheWayTable(`Lost relevant ${noun}s, the worst query first`, losses, true) : note("Nothing is lost."),
    notOnThePage(losses, totals[0]),
    entries.length > 0 && onTheWayTable(`Relevant ${noun}s that the stage before did not hand on`, entries, false),
    notOnThePage(entries, totals[1]),
  );
}

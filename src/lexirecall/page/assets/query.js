/** One query: what decides it, in words and level by level. */

import { NONE, counted, grouped } from "./text.js";
import { chooser, h, listed, name, note, num, put, rowHead, table, td, th } from "./elements.js";
import { D, at, decide, indices, lacked, numRelevant, thing } from "./data.js";
import { change, sections, shown, state } from "./state.js";
import { A, B, notHeld, pairChoosers, place } from "./links.js";
import { firstServer, servedCell, serversOf } from "./serving.js";
import { byLexiRecall, rankings, stripTable } from "./strips.js";
import { documentColumns, documentTextCell, documentTextHead, queryText, queryWords } from "./words.js";

/** @param {HTMLElement} body */
export function setUpQuery(body) {
  const choice = chooser("Query", (q) => change({ q }));
  const step = (by) => () => {
    const near = shown.queries.includes(state.q) ? shown.queries : [...shown.queries, state.q].sort((x, y) => x - y);
    change({ q: near[(near.indexOf(state.q) + by + near.length) % near.length] });
  };
  const previous = h("button", { type: "button", "aria-label": "Previous query", onclick: step(-1) }, "‹ previous");
  const next = h("button", { type: "button", "aria-label": "Next query", onclick: step(1) }, "next ›");
  const pair = pairChoosers("query");
  const space = h("div");
  body.append(
    h("div", { class: "controls" }, choice.element, previous, next, D.runs.length > 1 ? pair.elements : []),
    space,
  );
  return { choice, pair, space };
}

const MOST_OPTIONS = 1000;

function queryOptions() {
  const near = new Set(shown.queries.slice(0, MOST_OPTIONS)).add(state.q);
  return [...near].sort((x, y) => x - y).map((q) => [q, optionOf(q)]);
}

/** @param {number} q */
function optionOf(q) {
  const text = queryText(q);
  return text ? `${D.queries[q]}: ${text}` : D.queries[q];
}

/**
 * What decides between two runs, in the words of `lexirecall explain`.
 * @param {import("./data.js").Decided} decided
 */
function sentence(decided) {
  const { q, sign, reason, level, found, sides } = decided;
  const m = counted(numRelevant(q), `relevant ${thing()}`);
  if (sign === 0)
    return [
      found[0]
        ? `A tie: both runs have ${grouped(found[0])} of the ${m}, at the same positions.`
        : `A tie: both runs find none of the ${m}.`,
    ];
  const [better, worse] = sign > 0 ? [0, 1] : [1, 0];
  const run = (side) => (side === 0 ? A() : B());
  if (reason === "found") {
    return [
      run(better),
      ` is preferred: it finds ${found[better]} of the ${m}, `,
      run(worse),
      ` ${found[worse]}; `,
      run(worse),
      " lacks ",
      listed(lacked(sides[better], sides[worse], q)),
      ".",
    ].flat();
  }
  const same = found[0] - level;
  const stands = (side) => [
    `at ${grouped(at(sides[side].positions, level))} in `,
    run(side),
    " (",
    name(D.relevant[q][sides[side].documents[level - 1]], 40),
    ")",
  ];
  const which = same ? `, the last ${same} at the same positions; the one before` : " and the last of them";
  return [
    run(better),
    ` is preferred: both find ${found[0]} of the ${m}${which} is `,
    stands(better),
    " and ",
    stands(worse),
    ".",
  ].flat();
}

/**
 * @param {import("./data.js").Decided} decided
 * @param {number} q
 */
function levelTable(decided, q) {
  const m = numRelevant(q);
  const rows = indices(m).map((i) => m - i);
  const most = 12;
  const start = Math.max(0, Math.min(m - (decided.level || m) - most / 2, m - most));
  const cell = (side, level) => [
    num(place(at(decided.sides[side].positions, level))),
    td(level <= decided.found[side] ? name(D.relevant[q][decided.sides[side].documents[level - 1]], 40) : NONE),
    D.serving && servedCell([state.a, state.b][side], q, level, decided.found[side]),
  ];
  return table({
    caption:
      start > 0
        ? `Level by level, from level ${rows[start]}, near the one that decides`
        : `Level by level, the last relevant ${thing()} first`,
    head: h(
      "tr",
      null,
      th("level", { class: "num" }),
      th(["position in ", A()], { class: "num" }),
      th(thing()),
      D.serving && th("served by"),
      th(["position in ", B()], { class: "num" }),
      th(thing()),
      D.serving && th("served by"),
      th("decides"),
    ),
    rows: [...rows.slice(start), ...rows.slice(0, start)],
    row: (level) =>
      h(
        "tr",
        level === decided.level ? { class: "chosen" } : null,
        num(grouped(level)),
        cell(0, level),
        cell(1, level),
        td(level === decided.level ? h("strong", null, "this level") : ""),
      ),
    first: most,
  });
}

/** @param {number} q */
function documentTable(q) {
  const found = D.relevant[q].map((text, unit) => ({ text, unit, count: 0, best: Infinity, by: -1 }));
  const all = rankings(q);
  for (const { s, own } of all) {
    own.documents.forEach((document, i) => {
      const each = found[document];
      each.count++;
      if (own.positions[i] < each.best) [each.best, each.by] = [own.positions[i], s];
    });
  }
  const sorted = found.toSorted((x, y) => x.count - y.count || (y.best === x.best ? 0 : y.best - x.best));
  return table({
    caption: `The relevant ${thing()}s, those found by the fewest of ${counted(all.length, "run")} first`,
    head: h("tr", null, th(thing()), D.serving && th("documents that serve it"), documentTextHead(), th("found by", { class: "num" }), th("best position", { class: "num" }), th("by")),
    rows: sorted,
    row: (each) =>
      h(
        "tr",
        null,
        rowHead(name(each.text, 60)),
        D.serving && td(serversOf(q, each.unit)),
        documentTextCell(q, D.serving ? firstServer(q, each.unit) : each.unit),
        num(grouped(each.count)),
        num(each.count ? grouped(each.best) : NONE),
        td(each.by < 0 ? NONE : name(D.runs[each.by], 40)),
      ),
    first: 10,
  });
}

/** @param {number} q */
function queryLead(q) {
  const all = rankings(q).sort(byLexiRecall);
  const m = counted(numRelevant(q), `relevant ${thing()}`);
  if (!all.length) return [`It has ${m}.`];
  const [best] = all;
  const count = best.own.positions.length;
  const nobody = numRelevant(q) - new Set(all.flatMap((each) => each.own.documents)).size;
  const last = count ? `, the last at ${grouped(best.own.positions.at(-1))}` : "";
  return [
    `It has ${m}. `,
    all.length > 1 ? ["LexiRecall puts ", name(D.runs[best.s]), " first: it"] : [name(D.runs[best.s])],
    ` finds ${count ? grouped(count) : "none"}${last}. `,
    nobody
      ? `${counted(nobody, thing())} ${nobody === 1 ? "is" : "are"} found by no run${all.length < D.runs.length ? " shown" : ""}.`
      : "Each is found by at least one run.",
  ].flat();
}

export function drawQuery() {
  const { choice, pair, space } = sections.get("query").parts;
  if (!D.queries.length) return put(space, note("No query has a relevant document."));
  const { q } = state;
  choice.set(queryOptions(), q);
  pair.update();
  const decided = D.runs.length > 1 ? decide(state.a, state.b, q) : null;
  put(
    space,
    h("h3", null, "Query ", name(D.queries[q], 80)),
    queryWords(q),
    h("p", null, queryLead(q)),
    decided ? h("p", { class: "lead sentence" }, sentence(decided)) : D.runs.length > 1 && notHeld(),
    stripTable(q, decided),
    h("div", { class: documentColumns() }, decided && numRelevant(q) ? levelTable(decided, q) : "", documentTable(q)),
  );
}

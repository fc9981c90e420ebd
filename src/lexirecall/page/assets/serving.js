/** Serving: which document puts a unit where it is, and which others would have served it. */

import { NONE, counted, grouped } from "./text.js";
import { h, name, td } from "./elements.js";
import { D, indices } from "./data.js";

/**
 * What else serves a unit, or is needed for it: the first few documents by name, the rest as a count.
 * @param {number} q
 * @param {number} unit
 * @param {number} [by] the document that served it, as an index
 * @returns {{ names: string[], more: number, needsAll: boolean }}
 */
export function othersOf(q, unit, by = -1) {
  const [count, needsAll, ...first] = D.serving.units[q][unit];
  const others = first.filter((document) => document !== by);
  const total = by < 0 ? count : count - 1;
  return {
    names: others.map((document) => D.serving.documents[q][document]),
    more: total - others.length,
    needsAll: needsAll === 1,
  };
}

/**
 * @param {{ names: string[], more: number }} others
 * @returns {any[]}
 */
const listedOthers = ({ names, more }) => [
  names.map((text, i) => [i ? ", " : "", name(text, 30)]),
  more > 0 ? ` and ${grouped(more)} more` : "",
];

/**
 * The documents that serve a unit.
 * @param {number} q
 * @param {number} unit
 */
export function serversOf(q, unit) {
  const all = othersOf(q, unit);
  return [listedOthers(all), all.needsAll && all.names.length > 1 ? " (all needed)" : ""];
}

/**
 * The first document that serves a unit, as an index; -1 if there is none.
 * @param {number} q
 * @param {number} unit
 * @returns {number}
 */
export const firstServer = (q, unit) => D.serving.units[q][unit][2] ?? -1;

/**
 * The document that puts the unit at a recall level where it is, and what else would have.
 * @param {number} s
 * @param {number} q
 * @param {number} level
 * @param {number} found how many units are
 */
export function servedCell(s, q, level, found) {
  if (level > found) return td(NONE);
  const by = D.serving.by[s][q][level - 1];
  const unit = D.found[s][q][2 * level - 1];
  const others = othersOf(q, unit, by);
  const beside = others.names.length + others.more > 0;
  return td(
    name(D.serving.documents[q][by], 40),
    beside && h("span", { class: "small" }, others.needsAll ? " with " : " or ", listedOthers(others)),
  );
}

/** What must be found, and how it is counted. */
export function unitSentence() {
  const { conventions, qrels } = D.manifest;
  const rule =
    conventions.unit_rule === "all"
      ? "with the last of its documents, all of which are needed"
      : "with the first document that serves it";
  const total = indices(D.queries.length).reduce((sum, q) => sum + D.relevant[q].length, 0);
  return h(
    "p",
    { class: "units" },
    `What must be found are units: ${counted(total, "relevant unit")}. The map `,
    name(qrels.unit_map ?? ""),
    ` says which documents serve them. A unit is found ${rule}, unless the map says otherwise. Positions count ${conventions.count === "units" ? "units" : "documents"}.`,
  );
}

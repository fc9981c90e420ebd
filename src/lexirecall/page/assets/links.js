/** Links: how a run, a query and a pair are named and chosen on the page. */

import { grouped } from "./text.js";
import { chooser, h, name, note } from "./elements.js";
import { D, indices, isHeld } from "./data.js";
import { address, change, chosenState, state } from "./state.js";

export const alone = () => note("There is only one run, so there is nothing to compare it with.");

/**
 * Let the browser follow a link only if it opens elsewhere; otherwise go there and keep what it does not name.
 * @param {Partial<import("./state.js").State>} changes
 * @param {string} go
 * @param {any[]} children
 */
export function link(changes, go, ...children) {
  const follow = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    change(changes, { go });
  };
  return h("a", { href: address({ ...chosenState(), ...changes }, go), onclick: follow }, ...children);
}

/** @param {number} q */
export const queryLink = (q) => link({ q }, "query", name(D.queries[q], 40));

/**
 * @param {number} s
 * @param {number} [most]
 */
export function run(s, most = 40) {
  return [h("span", { class: "letter" }, D.labels[s]), " ", name(D.runs[s], most)];
}

/** @returns {[number, string][]} */
export const measureOptions = () => D.measures.map((measure, k) => [k, measure.name]);
/** @returns {[number, string][]} */
export const runOptions = () => indices(D.runs.length).map((s) => [s, `${D.labels[s]} ${D.runs[s]}`]);

/**
 * The choice of two runs, kept in step wherever it appears.
 * @param {string} last
 */
export function pairChoosers(last) {
  const first = chooser("Run A", (a) => change({ a }, { last }));
  const second = chooser("Run B", (b) => change({ b }, { last }));
  const turn = () => change({ a: state.b, b: state.a }, { last });
  const swap = h("button", { type: "button", title: "Swap A and B", onclick: turn }, "⇄ swap");
  const update = () => {
    first.set(runOptions(), state.a);
    second.set(runOptions(), state.b);
  };
  return {
    elements: [h("span", { class: "side-a" }, first.element), swap, h("span", { class: "side-b" }, second.element)],
    update,
  };
}

export const A = () => name(D.runs[state.a]);
export const B = () => name(D.runs[state.b]);

/** Why the pair cannot be explained. */
export const notHeld = () =>
  note(
    isHeld(state.a) && isHeld(state.b)
      ? "The two runs are not compared here, because one of them does not answer."
      : "The page does not hold the rankings of both runs: the list at the top says what was left out.",
  );

/** @param {number} position */
export const place = (position) => (Number.isFinite(position) ? grouped(position) : "missing");

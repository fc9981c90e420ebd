// What the page computes from positions, on cases worked out by hand.
import assert from "node:assert/strict";
import { test } from "node:test";

import { PREFERENCES, decide, difference, ranking, setData } from "../../src/lexirecall/page/assets/data.js";

const measure = (name, others = {}) => ({ name, is_preference: true, better: "higher", ...others });

/** A payload of two runs, from the positions of each on each query; document i is the i-th found. */
function load(first, second, relevant) {
  const packed = (positions) => positions.flatMap((position, i) => [position - (positions[i - 1] ?? 0), i]);
  setData({
    runs: ["constructor", "__proto__"],
    queries: first.map((_, q) => `q${q}`),
    relevant: relevant.map((count) => Array.from({ length: count }, (_, i) => `d${i}`)),
    found: [first.map(packed), second.map(packed)],
    absent: [[], []],
    measures: [
      measure("LexiRecall"), measure("LexiPrecision"), measure("RPP"), measure("toString"),
      measure("LastRel", { is_preference: false, better: "lower" }),
    ],
    values: [null, null, null, [[0.75], [0.5]], [[10], [4]]],
    pairs: { a: [0], b: [1], by_measure: [] },
  });
}

test("positions and documents unpack", () => {
  load([[2, 5, 9]], [[]], [4]);
  assert.deepEqual(ranking(0, 0), { positions: [2, 5, 9], documents: [0, 1, 2] });
  assert.deepEqual(ranking(1, 0), { positions: [], documents: [] });
});

test("who finds more is preferred, then who finds the last one sooner, then an earlier one", () => {
  load([[7, 9], [1, 9], [2, 9], [3, 9]], [[1], [1, 10], [1, 9], [3, 9]], [3, 2, 2, 2]);
  const told = [0, 1, 2, 3].map((q) => decide(0, 1, q)).map(({ sign, reason, level }) => [sign, reason, level]);
  assert.deepEqual(told, [[1, "found", 2], [1, "last", 2], [-1, "earlier", 1], [0, "tie", 0]]);
  assert.deepEqual(decide(0, 1, 0).places, [9, Infinity]);
  assert.equal(decide(1, 0, 0).sign, -1);
});

test("the three preferences on one pair of rankings differ as they should", () => {
  load([[1, 8, 9]], [[2, 3, 10]], [4]);
  assert.equal(difference(0, 0, 1, 0), 1); // 9 before 10
  assert.equal(difference(1, 0, 1, 0), 1); // 1 before 2
  assert.equal(difference(2, 0, 1, 0), 1 / 4); // won at levels 1 and 3, lost at 2, of four relevant documents
  assert.equal(PREFERENCES.LexiPrecision([1, 3], [1, 4, 5]), 1);
  assert.equal(PREFERENCES.LexiRecall([1, 3], [1, 4, 5]), -1);
});

test("a measure may have the name of an inherited property, and lower may be better", () => {
  load([[1]], [[2]], [1]);
  assert.equal(difference(3, 0, 1, 0), 0.25);
  assert.equal(difference(4, 0, 1, 0), -6);
});

test("a run that does not take part is not compared", () => {
  load([[1]], [[2]], [1]);
  setData({ ...structuredClone({ runs: ["a", "b"], queries: ["q"], relevant: [["d"]], found: [[[1, 0]], [[2, 0]]] }),
    absent: [[], [0]], measures: [], values: [], pairs: { a: [], b: [], by_measure: [] } });
  assert.equal(decide(0, 1, 0), null);
});

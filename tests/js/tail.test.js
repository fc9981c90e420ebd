// The order in which the tail is drawn.
import assert from "node:assert/strict";
import { test } from "node:test";

import { setData } from "../../src/lexirecall/page/assets/data.js";
import { worstFirst } from "../../src/lexirecall/page/assets/tail.js";

const values = [[[0.5, null, 0.25, 0.5, 1], null]];

test("the worst value comes first, equal ones in the order of the page, undefined ones not at all", () => {
  setData({ runs: ["x", "y"], measures: [{ better: "higher" }], values, pairs: { a: [], b: [] } });
  assert.deepEqual(worstFirst(0, 0, [0, 1, 2, 3, 4]).map(({ q }) => q), [2, 0, 3, 4]);
  assert.deepEqual(worstFirst(0, 0, [4, 2]).map(({ value }) => value), [0.25, 1]);
  assert.deepEqual(worstFirst(0, 1, [0, 1]), []);
});

test("where lower is better, the highest value is the worst", () => {
  setData({ runs: ["x", "y"], measures: [{ better: "lower" }], values, pairs: { a: [], b: [] } });
  assert.deepEqual(worstFirst(0, 0, [0, 1, 2, 3, 4]).map(({ q }) => q), [4, 0, 3, 2]);
});

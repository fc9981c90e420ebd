// What else would have served a unit.
import assert from "node:assert/strict";
import { test } from "node:test";

import { setData } from "../../src/lexirecall/page/assets/data.js";
import { othersOf } from "../../src/lexirecall/page/assets/serving.js";

test("the document that served a unit is not one of the others, and those without a name are counted", () => {
  const documents = [["c0", "c1", "c2", "c3", "c9"]];
  const units = [[[6, 0, 0, 1, 2, 3], [1, 0, 2], [2, 1, 0, 2]]];
  setData({ runs: [], pairs: { a: [], b: [] }, serving: { documents, units, by: [] } });
  assert.deepEqual(othersOf(0, 0, 1), { names: ["c0", "c2", "c3"], more: 2, needsAll: false });
  assert.deepEqual(othersOf(0, 0, 4), { names: ["c0", "c1", "c2", "c3"], more: 1, needsAll: false });
  assert.deepEqual(othersOf(0, 0), { names: ["c0", "c1", "c2", "c3"], more: 2, needsAll: false });
  assert.deepEqual(othersOf(0, 1, 2), { names: [], more: 0, needsAll: false });
  assert.deepEqual(othersOf(0, 2, 2), { names: ["c0"], more: 0, needsAll: true });
});

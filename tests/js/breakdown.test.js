// What numbers over queries are called.
import assert from "node:assert/strict";
import { test } from "node:test";

import { overWords } from "../../src/lexirecall/page/assets/breakdown.js";

test("a way of aggregating is said in words", () => {
  assert.equal(overWords("mean"), "mean");
  assert.equal(overWords("min"), "lowest value");
  assert.equal(overWords("quantile:0.9"), "quantile 0.9");
  assert.equal(overWords("tail:0.1"), "mean of the worst 10 %");
  assert.equal(overWords("tail:0.125"), "mean of the worst 12.5 %");
  assert.equal(overWords("constructor"), "constructor");
});

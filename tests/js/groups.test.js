/** Groups: bars that overlap are in different lanes. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { lanesOf } from "../../src/lexirecall/page/assets/groups.js";

test("bars that share a place are in different lanes, and there are as few lanes as possible", () => {
  assert.deepEqual(
    lanesOf([
      [0, 2],
      [1, 3],
      [3, 4],
      [4, 6],
    ]),
    [
      [0, 0, 2],
      [1, 1, 3],
      [0, 3, 4],
      [1, 4, 6],
    ],
  );
});

test("a single run has no bar", () => {
  assert.deepEqual(
    lanesOf([
      [0, 0],
      [1, 2],
    ]),
    [[0, 1, 2]],
  );
});

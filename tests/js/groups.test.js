/** Groups: bars that overlap stand in different lanes. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { lanesOf } from "../../src/lexirecall/page/assets/groups.js";

test("bars that share a place stand in different lanes, and as few lanes as that takes are used", () => {
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

test("a system alone has no bar", () => {
  assert.deepEqual(
    lanesOf([
      [0, 0],
      [1, 2],
    ]),
    [[0, 1, 2]],
  );
});

// The texts of queries and documents.
import assert from "node:assert/strict";
import { test } from "node:test";

import { setData } from "../../src/lexirecall/page/assets/data.js";
import { documentText, queryText } from "../../src/lexirecall/page/assets/words.js";

const bare = { runs: [], pairs: { a: [], b: [] } };

test("texts are found by their index, and those that are missing are undefined", () => {
  setData({ ...bare, texts: { words: ["bears", "woods"], queries: [1, -1], documents: [[0, -1, 1], []] } });
  assert.deepEqual([queryText(0), queryText(1)], ["woods", undefined]);
  assert.deepEqual([documentText(0, 0), documentText(0, 1), documentText(0, -1)], ["bears", undefined, undefined]);
});

test("without texts there are none", () => {
  setData(bare);
  assert.deepEqual([queryText(0), documentText(0, 0)], [undefined, undefined]);
});

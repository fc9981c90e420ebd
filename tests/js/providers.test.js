// Which providers the table shows, and in which order.
import assert from "node:assert/strict";
import { test } from "node:test";

import { setData } from "../../src/lexirecall/page/assets/data.js";
import { providerRows } from "../../src/lexirecall/page/assets/providers.js";

const names = ["Ada", "Ben\u0007", "Cy", "Dee"];
const own = { provider: [3, 1, 0, 2], ratio: [0.5, 0.5, 1.5, null], exposure: [0.2, 0.4, 0.1, 0], merit: [1, 2, 3, 4] };
const asked = { wanted: "", column: "ratio", isDescending: false };
const shown = (wish) => providerRows(own, { ...asked, ...wish }).map((i) => names[own.provider[i]]);

setData({ runs: ["x"], providers: { names }, pairs: { a: [], b: [] } });

test("the lowest ratio comes first, equal ones as they come, undefined ones last whatever the order", () => {
  assert.deepEqual(shown({}), ["Dee", "Ben\u0007", "Ada", "Cy"]);
  assert.deepEqual(shown({ isDescending: true }), ["Ada", "Dee", "Ben\u0007", "Cy"]);
});

test("the least p comes first, and equal ones as they come", () => {
  const tested = { ...own, p_corrected: [0.2, 0.2, 0.01, null] };
  const rows = providerRows(tested, { ...asked, column: "p_corrected" });
  assert.deepEqual(rows.map((i) => names[own.provider[i]]), ["Ada", "Dee", "Ben\u0007", "Cy"]);
});

test("any column can be the order, also the names", () => {
  assert.deepEqual(shown({ column: "exposure" }), ["Cy", "Ada", "Dee", "Ben\u0007"]);
  assert.deepEqual(shown({ column: "provider" }), names);
});

test("a search is for what is seen, in small or capital letters", () => {
  assert.deepEqual(shown({ wanted: " dE" }), ["Dee"]);
  assert.deepEqual(shown({ wanted: "\\x07" }), ["Ben\u0007"]);
  assert.deepEqual(shown({ wanted: "nobody" }), []);
});

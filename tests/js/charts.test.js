// Ticks of the page's charts.
import assert from "node:assert/strict";
import { test } from "node:test";

import { roundTicks, tickTexts } from "../../src/lexirecall/page/assets/charts.js";

test("ticks are round, enclose the range and are few, whatever its size", () => {
  for (let power = -9; power <= 9; power++)
    for (const [from, to] of [[0, 1], [-1, 1], [-0.37, 0.04], [0, 7], [-9.9, 0]]) {
      const [low, high] = [from * 10 ** power, to * 10 ** power];
      const ticks = roundTicks(low, high);
      const slack = 1e-9 * (high - low);
      assert.ok(ticks[0] <= low + slack && ticks.at(-1) >= high - slack, `${low} to ${high}: ${ticks}`);
      assert.ok(ticks.length >= 2 && ticks.length <= 7, `${low} to ${high}: ${ticks}`);
      assert.equal(new Set(tickTexts(ticks)).size, ticks.length);
      const step = ticks[1] - ticks[0];
      const digits = step / 10 ** Math.floor(Math.log10(step) + 1e-9);
      assert.ok([1, 2, 5].some((round) => Math.abs(digits - round) < 1e-6), `a step of ${step}`);
    }
});

test("an empty range has ticks too", () => {
  assert.deepEqual(roundTicks(0, 0), [-1, -0.5, 0, 0.5, 1]);
});

test("ticks have as many digits as they need", () => {
  assert.deepEqual(tickTexts([-0.2, 0, 0.2]), ["−0.2", "0.0", "0.2"]);
  assert.deepEqual(tickTexts([0, 0.25, 0.5], true), ["0 %", "25 %", "50 %"]);
  assert.deepEqual(tickTexts([0, 500, 1000]), ["0", "500", "1000"]);
});

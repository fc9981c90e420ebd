// How the page writes words and numbers.
import assert from "node:assert/strict";
import { test } from "node:test";

import { brief, counted, cut, number, percent, probability, signed, visible } from "../../src/lexirecall/page/assets/text.js";

test("hidden characters in a text are shown as codes", () => {
  assert.equal(visible("a\tb\u202ec\u0000"), "a\\tb\\u202ec\\x00");
  assert.equal(visible("\u{e0001}"), "\\U000e0001");
  assert.equal(visible("é ß 漢"), "é ß 漢");
});

test("a long text is cut between letters, never within one", () => {
  assert.equal(cut("abcdef", 6), "abcdef");
  assert.equal(cut("abcdefg", 6), "abcde…");
  assert.equal(cut("😀".repeat(10), 4), "😀😀😀…");
});

test("thousands have marks, as on the command line", () => {
  assert.equal(number(35123.4567, 1), "35,123.5");
  assert.equal(number(-1234567, 0), "-1,234,567");
  assert.equal(number(999.99), "999.9900");
});

test("no small number is shown as zero", () => {
  assert.equal(number(0.00001), "1.0e-5");
  assert.equal(number(0), "0.0000");
  assert.equal(number(null), "–");
  assert.equal(probability(0.0001), "< 0.001");
  assert.equal(probability(0.0414), "0.041");
});

test("signs, shares and counts", () => {
  assert.equal(signed(-0.25, (x) => number(x, 2)), "−0.25");
  assert.equal(signed(0.25, (x) => number(x, 2)), "+0.25");
  assert.equal(percent(0.1234), "12.3 %");
  assert.equal(counted(1, "query"), "1 query");
  assert.equal(counted(12345, "query"), "12,345 queries");
  assert.equal(counted(0, "run"), "0 runs");
  assert.deepEqual([0, 0.123, -1.25, 12.5, -1234].map(brief), ["0", "+.12", "−1.3", "+13", "−1,234"]);
});

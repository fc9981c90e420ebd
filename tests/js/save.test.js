// Files that the page saves: CSV as in RFC 4180, with nothing in it that a spreadsheet would run.
import assert from "node:assert/strict";
import { test } from "node:test";

import { csv, exact, fileName, plain } from "../../src/lexirecall/page/assets/save.js";

test("fields with commas, quotes and line ends are quoted", () => {
  assert.equal(csv([["a", "b,c"], ['say "x"', "1\n2"]]), 'a,"b,c"\r\n"say ""x""","1\n2"\r\n');
  assert.equal(csv([]), "");
});

test("a text that a spreadsheet would run gets a leading apostrophe, a number does not", () => {
  assert.equal(csv([["=1+1", "@x", "+x", "-d", "'=1", "\uff1d1"]]), "'=1+1,'@x,'+x,'-d,''=1,'\uff1d1\r\n");
  assert.equal(csv([["-0.5", "-1.5e-7", "-", "="]]), "-0.5,-1.5e-7,-,=\r\n");
});

test("numbers for people become numbers for programs, and nothing else changes", () => {
  assert.deepEqual(["1,234", "−0.25", "+12,345,678", "–", "1.0e-5"].map(plain), ["1234", "-0.25", "12345678", "", "1.0e-5"]);
  assert.deepEqual(["3 of 5", "1,23", "12.3 %", "missing"].map(plain), ["3 of 5", "1,23", "12.3 %", "missing"]);
  assert.deepEqual([0.1, -3, null, undefined].map(exact), ["0.1", "-3", "", ""]);
});

test("a file is named after what is in it, in letters that every file run accepts", () => {
  assert.equal(fileName("The queries, that decide!", "csv"), "the-queries-that-decide.csv");
  assert.equal(fileName("../../etc/passwd", "svg"), "etc-passwd.svg");
  assert.equal(fileName("\u202e<>", "svg"), "lexirecall.svg");
  assert.ok(fileName("x".repeat(999), "csv").length < 70);
});

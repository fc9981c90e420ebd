/** Results: what Python answers, as tables, notes, commands and files. */

import { h, scrollable } from "../src/lexirecall/page/assets/elements.js";
import { download } from "../src/lexirecall/page/assets/save.js";

/**
 * @typedef {object} TableGiven
 * @property {string} title
 * @property {string[]} header
 * @property {string[][]} rows
 * @property {[number, number][]} best
 * @property {[number, number, string][]} marks
 * @property {boolean[]} numbers
 * @property {string} footnote
 */
/** @typedef {{ problem: string, remedy: string, swap: string | null }} Trouble */

const TYPES = { csv: "text/csv", tsv: "text/tab-separated-values" };

/**
 * A table as Python lays it out.
 * @param {TableGiven} given
 * @param {(row: string[], r: number) => void} [chosen] what a click on a row does
 */
export function table({ title, header, rows, best, marks, numbers, footnote }, chosen) {
  const key = (r, c) => `${r} ${c}`;
  const strong = new Set(best.map(([r, c]) => key(r, c)));
  const raised = new Map(marks.map(([r, c, mark]) => [key(r, c), mark]));
  const cell = (text, r, c) => {
    const mark = raised.get(key(r, c));
    const inside = strong.has(key(r, c)) ? h("strong", null, text) : h("bdi", null, text);
    const shown =
      c === 0 && chosen
        ? h("button", { type: "button", class: "plain link", onclick: () => chosen(rows[r], r) }, text)
        : inside;
    return h(
      c === 0 ? "th" : "td",
      { class: numbers[c] ? "number" : "", scope: c === 0 ? "row" : null },
      shown,
      mark && h("sup", null, mark),
    );
  };
  const head = h(
    "tr",
    null,
    header.map((text, c) => (text ? h("th", { class: numbers[c] ? "number" : "", scope: "col" }, text) : h("td"))),
  );
  const body = rows.map((row, r) =>
    h(
      "tr",
      null,
      row.map((text, c) => cell(text, r, c)),
    ),
  );
  const made = h(
    "table",
    { class: marks.length ? "marked" : "" },
    h("caption", null, title),
    h("thead", null, head),
    h("tbody", null, body),
  );
  return [scrollable(title, made), footnote && h("p", { class: "note" }, footnote)];
}

/**
 * The command that does the same, with a button that copies it.
 * @param {string} text
 */
export function command(text) {
  const button = h("button", { type: "button", class: "small" }, "Copy");
  button.onclick = () => navigator.clipboard.writeText(text).then(() => (button.textContent = "Copied"));
  const code = h("code", { tabindex: "0", "aria-label": "The same on your own machine" }, text);
  return h("div", { class: "command" }, h("span", null, "The same on your own machine"), code, button);
}

/**
 * @param {string} title
 * @param {Record<string, string>} files by ending
 */
export const saves = (title, files) =>
  h(
    "p",
    { class: "buttons" },
    Object.entries(files).map(([ending, text]) =>
      h(
        "button",
        { type: "button", class: "small", onclick: () => download(`${title}.${ending}`, TYPES[ending], text) },
        `Download ${ending.toUpperCase()}`,
      ),
    ),
  );

/** @param {string[]} notes */
export const remarks = (notes) =>
  notes.length > 0 &&
  h(
    "ul",
    { class: "remarks" },
    notes.map((text) => h("li", null, text)),
  );

/**
 * What is wrong, what to do about it, and a button if the page can do it.
 * @param {Trouble} trouble
 * @param {(qrels: string) => void} swap
 */
export function problem({ problem: text, remedy, swap: qrels }, swap) {
  const button = qrels && h("button", { type: "button", onclick: () => swap(qrels) }, `Use ${qrels} as the judgments`);
  return h(
    "div",
    { class: "trouble", role: "alert" },
    h("p", null, h("strong", null, text)),
    h("p", null, remedy),
    button,
  );
}

/**
 * The report in a frame of its own, which can neither ask the network nor this page for anything.
 * @param {string} html
 */
export function reportFrame(html) {
  const frame = h("iframe", { src: "frame.html", sandbox: "allow-scripts allow-downloads", title: "The report" });
  const hand = (event) => {
    if (event.source !== frame.contentWindow) return;
    window.removeEventListener("message", hand);
    frame.contentWindow.postMessage(html, "*"); // it has no origin to name
  };
  window.addEventListener("message", hand);
  return frame;
}

/** @param {string} html */
export const saveReport = (html) =>
  h(
    "p",
    { class: "buttons" },
    h(
      "button",
      { type: "button", class: "small", onclick: () => download("report.html", "text/html", html) },
      "Download the report",
    ),
  );

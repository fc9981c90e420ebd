/** Save: what the page shows, as files for the reader: tables as CSV, drawings as SVG. */

import { NONE } from "./text.js";

const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20][^]/; // what a spreadsheet would run
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/;

/**
 * A number written for people, as programs read it; any other text unchanged.
 * @param {string} text
 * @returns {string}
 */
export function plain(text) {
  if (text === NONE) return "";
  const bare = text
    .replaceAll("−", "-")
    .replace(/(?<=\d),(?=\d{3}(?!\d))/g, "")
    .replace(/^\+/, "");
  return NUMBER.test(bare) ? bare : text;
}

/**
 * A number with all its digits, or empty text if there is no number.
 * @param {number | null | undefined} value
 * @returns {string}
 */
export const exact = (value) => (value == null ? "" : String(value));

/**
 * A field of a CSV file: text that a spreadsheet would run gets a leading apostrophe, as on the command line.
 * @param {string} text
 * @returns {string}
 */
function field(text) {
  const tame = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(tame) ? `"${tame.replaceAll('"', '""')}"` : tame;
}

/**
 * Rows of texts as CSV (RFC 4180).
 * @param {string[][]} rows
 * @returns {string}
 */
export function csv(rows) {
  return rows.map((row) => row.map(field).join(",") + "\r\n").join("");
}

/**
 * The name of a file that says what is in it, in letters that every file run accepts.
 * @param {string} title
 * @param {string} ending
 * @returns {string}
 */
export function fileName(title, ending) {
  const words = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "");
  return `${Array.from(words).slice(0, 60).join("").replace(/-+$/, "") || "lexirecall"}.${ending}`;
}

/**
 * Give the reader a file.
 * @param {string} name
 * @param {string} type
 * @param {string} text
 */
export function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const anchor = document.createElement("a");
  anchor.href = address;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000); // the file is written by then
}

const SHAPE = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity"];
const LETTERS = ["fill", "opacity", "font-family", "font-size", "font-weight", "text-anchor"];

/**
 * A drawing of the page as a file of its own: styles from the style sheet are written into it, in the light colours.
 * @param {SVGSVGElement} drawing
 * @returns {string}
 */
export function standalone(drawing) {
  const root = document.documentElement;
  const theme = root.dataset.theme;
  root.dataset.theme = "light"; // it is restored before anything is painted
  const copy = /** @type {SVGSVGElement} */ (drawing.cloneNode(true));
  const copies = copy.querySelectorAll("*");
  drawing.querySelectorAll("*").forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const key of element.localName === "text" ? LETTERS : SHAPE)
      copies[i].setAttribute(key, style.getPropertyValue(key));
    for (const key of ["class", "style", "tabindex", "role"]) copies[i].removeAttribute(key);
  });
  root.dataset.theme = theme;
  const { width, height } = drawing.viewBox.baseVal;
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [key, value] of Object.entries({ width, height })) {
    copy.setAttribute(key, String(value));
    paper.setAttribute(key, String(value));
  }
  paper.setAttribute("fill", "#ffffff");
  copy.prepend(paper);
  copy.setAttribute("role", "img");
  copy.removeAttribute("class");
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
}

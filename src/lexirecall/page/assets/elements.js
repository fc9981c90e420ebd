/** Elements: the parts that make up sections, as nodes of the document.
 *
 * Whatever comes from the data enters the document as text: textContent and attributes, never markup. Runs, queries
 * and measures are indices everywhere except in the address, which names them.
 */

import { cut, grouped, visible } from "./text.js";
import { csv, download, fileName, plain } from "./save.js";

/** @typedef {Record<string, any> | null} Attributes names with `on` are listeners, those with `--` variables of style */
/** @typedef {any} Child a node or a text, a list of these, or null or false for nothing */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element of the template, which is there.
 * @param {string} id
 * @returns {any}
 */
export const byId = (id) => document.getElementById(id);

/**
 * Give an element attributes and children.
 * @template {HTMLElement | SVGElement} E
 * @param {E} element
 * @param {Attributes} attributes
 * @param {Child[]} children
 * @returns {E}
 */
function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value == null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key.startsWith("--")) element.style.setProperty(key, value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

/**
 * A new element of HTML.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {Child[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export const h = (tag, attributes = null, ...children) => fill(document.createElement(tag), attributes, children);

/**
 * A new element of SVG.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} attributes
 * @param {Child[]} children
 * @returns {SVGElementTagNameMap[K]}
 */
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/**
 * Let an element hold these children and nothing else.
 * @param {HTMLElement} element
 * @param {Child[]} children
 */
export function put(element, ...children) {
  element.replaceChildren();
  fill(element, null, children);
}

/**
 * An id or a name from the data, isolated: its writing direction does not affect its neighbours.
 * @param {string} text
 * @param {number} [most] letters to show
 */
export function name(text, most = 60) {
  const shown = cut(text, most);
  const full = visible(text);
  return h("bdi", { class: "id", title: shown === full ? null : full }, shown);
}

/**
 * Names from a list, the first few in full and the rest as a count.
 * @param {string[]} texts
 * @param {number} [most] names to show
 * @param {number} [length] letters of each
 * @returns {(HTMLElement | string)[]}
 */
export function listed(texts, most = 3, length = 40) {
  const nodes = texts.slice(0, most).flatMap((text, i) => (i ? [", ", name(text, length)] : [name(text, length)]));
  return texts.length > most ? [...nodes, ` and ${grouped(texts.length - most)} more`] : nodes;
}

/** @param {Child[]} children */
export const note = (...children) => h("p", { class: "note" }, ...children);

/**
 * A region that scrolls sideways if it is wider than the page.
 * @param {string} label
 * @param {Child[]} children
 */
export function scrollable(label, ...children) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, ...children);
}

/**
 * A button that gives the reader a file.
 * @param {"CSV" | "SVG"} kind
 * @param {string} title what is in it
 * @param {() => void} onclick
 */
export function saveButton(kind, title, onclick) {
  const label = `save ${kind}: ${cut(title, 80)}`;
  return h("button", { type: "button", class: "save", "aria-label": label, onclick }, `save ${kind}`);
}

const written = new WeakMap(); // by cell: its texts in a file, one for each column

/**
 * Give a cell different texts in a file than on the page; several texts make several columns, also in its heading.
 * @template {HTMLTableCellElement} C
 * @param {C} cell
 * @param {string[]} texts
 * @returns {C}
 */
export function writtenAs(cell, ...texts) {
  written.set(cell, texts);
  return cell;
}

/**
 * @param {HTMLTableCellElement} cell
 * @returns {string[]}
 */
function textsOf(cell) {
  const given = written.get(cell);
  if (given) return given;
  const copy = /** @type {HTMLElement} */ (cell.cloneNode(true));
  for (const each of copy.querySelectorAll("[aria-hidden=true]")) each.remove();
  for (const each of copy.querySelectorAll("[title].id")) each.textContent = each.getAttribute("title");
  const text = (copy.textContent ?? "").trim();
  return [cell.classList.contains("num") ? plain(text) : text];
}

/**
 * The texts of rows of a table, as a file has them.
 * @param {HTMLTableRowElement[]} rows
 * @returns {string[][]}
 */
export const textRows = (rows) => rows.map((row) => [...row.cells].flatMap(textsOf));

/**
 * A table that shows its first rows, and more on query; `row` makes a row from one of `rows`.
 * @template T
 * @param {{ caption: Child, head: HTMLTableRowElement, rows: T[], row: (each: T) => HTMLTableRowElement, first?: number,
 *   step?: number, className?: string, attributes?: Attributes }} options
 */
export function table({ caption, head, rows, row, first = 15, step = 50, className = "", attributes = {} }) {
  const body = h("tbody");
  const more = h("button", { type: "button", class: "more" });
  let shown = 0;
  const grow = (/** @type {number} */ count) => {
    body.append(...rows.slice(shown, shown + count).map(row));
    shown = Math.min(rows.length, shown + count);
    more.hidden = shown >= rows.length;
    more.textContent = `Show ${grouped(Math.min(step, rows.length - shown))} more of ${grouped(rows.length)}`;
  };
  more.addEventListener("click", () => {
    const next = shown;
    grow(step);
    if (more.hidden) /** @type {HTMLElement | null} */ (body.rows[next]?.querySelector("a, button"))?.focus();
  });
  more.addEventListener("grow", () => grow(Infinity)); // on paper nobody can ask
  grow(first);
  const whole = h("table", { class: className, ...attributes });
  whole.append(h("caption", null, h("span", null, caption)), h("thead", null, head), body);
  const title = whole.caption?.textContent ?? "";
  const save = () => download(fileName(title, "csv"), "text/csv", csv(textRows([head, ...rows.map(row)])));
  return h("div", { class: "table" }, scrollable(title, whole), more, saveButton("CSV", title, save));
}

/**
 * @param {Child} text
 * @param {Attributes} [attributes]
 */
export const th = (text, attributes) => h("th", { scope: "col", ...attributes }, text);
/** @param {Child[]} children */
export const rowHead = (...children) => h("th", { scope: "row" }, ...children);
/** @param {Child[]} children */
export const td = (...children) => h("td", null, ...children);
/** @param {Child[]} children */
export const num = (...children) => h("td", { class: "num" }, ...children);

/**
 * A choice of one of several; `set` changes what is offered and chosen.
 * @param {string} label
 * @param {(value: number) => void} onchange
 */
export function chooser(label, onchange) {
  const select = h("select", { onchange: () => onchange(Number(select.value)) });
  const set = (/** @type {[number, string][]} */ options, /** @type {number} */ chosen) => {
    select.replaceChildren(...options.map(([value, text]) => h("option", { value }, cut(text, 50))));
    select.value = String(chosen);
  };
  return { element: h("label", { class: "choice" }, h("span", null, label), select), set, select };
}

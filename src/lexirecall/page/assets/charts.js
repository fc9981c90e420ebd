/** Charts: what all drawings share, in plain SVG, and those that come drawn with the data. */

import { fileName, download, standalone } from "./save.js";
import { h, note, put, saveButton, svg } from "./elements.js";
import { D, indices } from "./data.js";

export const FONT = 12;
export const LETTER = 6.6; // of this font, about, in pixels

/** @type {HTMLElement | undefined} */
let tip;

/**
 * Show a text beside the pointer, or none.
 * @param {{ clientX: number, clientY: number }} event
 * @param {string} text
 */
export function showTip(event, text) {
  tip ??= document.body.appendChild(h("div", { class: "tip", "aria-hidden": "true", hidden: true }));
  tip.textContent = text;
  tip.hidden = !text;
  if (!text) return;
  const { innerWidth: width, innerHeight: height } = window;
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 12, width - tip.offsetWidth - 8))}px`;
  tip.style.top = `${event.clientY + 16 + tip.offsetHeight > height ? event.clientY - tip.offsetHeight - 8 : event.clientY + 16}px`;
}

/**
 * A few round numbers that enclose a range: steps of 1, 2 or 5 times a power of ten.
 * @param {number} low
 * @param {number} high
 * @param {number} [most] of steps
 * @returns {number[]}
 */
export function roundTicks(low, high, most = 5) {
  if (!(high > low)) return roundTicks(low - 1, low + 1, most);
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10);
  const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
  return indices(last - first + 1).map((i) => Number(((first + i) * step).toPrecision(12)));
}

/**
 * Ticks in as many digits as their step needs.
 * @param {number[]} ticks
 * @param {boolean} [isPercent]
 * @returns {string[]}
 */
export function tickTexts(ticks, isPercent = false) {
  const shown = ticks.map((tick) => (isPercent ? 100 * tick : tick));
  const step = Math.min(...shown.slice(1).map((tick, i) => tick - shown[i]));
  const decimals = Math.min(12, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  const texts = shown.map((tick) => (tick === 0 ? 0 : Math.abs(tick)).toFixed(decimals));
  return texts.map((text, i) => (ticks[i] < 0 ? "−" : "") + text + (isPercent ? " %" : ""));
}

const observed = new WeakMap(); // by element: the width it was drawn for, and how to draw it again

/** @type {ResizeObserver | undefined} */
let observer;

/**
 * Draw a chart into an element, and again whenever the width of the element changes.
 * @param {HTMLElement} element
 * @param {string} file what the saved file is called
 * @param {(width: number) => SVGSVGElement} drawn
 */
export function chart(element, file, drawn) {
  element.classList.add("chart");
  const redraw = () => {
    const width = Math.max(240, element.clientWidth || 640);
    observed.set(element, { width, redraw });
    put(element, drawn(width), svgButton(element, file));
  };
  observer ??= new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const last = observed.get(target);
      if (target.clientWidth && Math.max(240, target.clientWidth) !== last.width) last.redraw();
    }
  });
  redraw();
  observer.observe(element);
}

/**
 * A button that saves the drawing of an element.
 * @param {HTMLElement} element
 * @param {string} file
 */
function svgButton(element, file) {
  return saveButton("SVG", file, () => {
    const drawing = element.querySelector("svg");
    if (drawing) download(fileName(file, "svg"), "image/svg+xml", standalone(drawing));
  });
}

/**
 * Put a drawing that came with the data into an element; runs that the filter leaves out are pale.
 * @param {HTMLElement} element
 * @param {string} key
 * @param {string} file
 * @param {number[]} runs those to show
 * @returns {boolean} whether there is one
 */
export function placeDrawing(element, key, file, runs) {
  const text = D.charts && Object.hasOwn(D.charts, key) ? D.charts[key].svg : "";
  if (!text) return false;
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
  element.classList.add("chart");
  if (parsed.querySelector("parsererror")) {
    put(element, note("This drawing is damaged and cannot be shown."));
    return true;
  }
  const drawing = document.importNode(parsed.documentElement, true);
  for (const group of drawing.querySelectorAll("g[data-run]"))
    if (!runs.includes(Number(group.getAttribute("data-run")))) group.setAttribute("opacity", "0.12");
  put(element, drawing, svgButton(element, file));
  return true;
}

/**
 * Put the drawings that name a section at the end of it, each below its title.
 * @param {string} section
 * @param {HTMLElement} element
 */
export function appendDrawings(section, element) {
  const everyone = indices(D.runs.length);
  for (const [key, drawn] of Object.entries(D.charts ?? {})) {
    if (drawn.section !== section) continue;
    const space = h("div");
    element.append(h("h3", null, drawn.title), space);
    placeDrawing(space, key, drawn.title.toLowerCase(), everyone);
  }
}

/**
 * @param {string} text
 * @param {Record<string, any>} attributes
 */
export const words = (text, attributes) => svg("text", { "font-size": FONT, fill: "var(--ink)", ...attributes }, text);

const ROVING = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, PageUp: -10, PageDown: 10 };

/**
 * One Tab stop for all marks of a drawing, arrow keys within; the mark with the focus shows its label.
 * @param {SVGSVGElement} drawing
 * @param {SVGElement[]} marks
 * @param {((index: number) => void) | null} [open] what Enter does
 */
export function rove(drawing, marks, open = null) {
  const last = marks.length - 1;
  const ends = { Home: 0, End: last };
  const reached = (/** @type {string} */ key, /** @type {number} */ from) => {
    if (Object.hasOwn(ends, key)) return ends[/** @type {keyof typeof ends} */ (key)];
    if (!Object.hasOwn(ROVING, key)) return null;
    return Math.max(0, Math.min(last, from + ROVING[/** @type {keyof typeof ROVING} */ (key)]));
  };
  drawing.addEventListener("focusin", ({ target }) => {
    const mark = /** @type {SVGElement} */ (target);
    for (const each of marks) if (each.tabIndex === 0) each.tabIndex = -1;
    mark.tabIndex = 0;
    const box = mark.getBoundingClientRect();
    showTip({ clientX: box.left, clientY: box.bottom }, mark.getAttribute("aria-label") ?? "");
  });
  drawing.addEventListener("focusout", () => showTip({ clientX: 0, clientY: 0 }, ""));
  drawing.addEventListener("keydown", (event) => {
    const i = marks.indexOf(/** @type {SVGElement} */ (document.activeElement));
    const next = reached(event.key, i);
    if (next != null) marks[next].focus();
    else if (open && (event.key === "Enter" || event.key === " ")) open(i);
    else return;
    event.preventDefault();
  });
}

/** Elements: the parts of which sections are made, as nodes of the document.
 *
 * Whatever comes from the data enters the document as text: textContent and attributes, never markup. Systems, requests
 * and measures are indices everywhere but in the address, where they go by name.
 */

import { cut, grouped, visible } from "./text.js";

const SVG = "http://www.w3.org/2000/svg";
export const byId = (id) => document.getElementById(id);

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

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** Let an element hold these children and nothing else. */
export function put(element, ...children) {
  element.replaceChildren();
  fill(element, null, children);
}

/** An id or a name from the data: isolated, so that its direction of writing does not reach its neighbours. */
export function name(text, most = 60) {
  const shown = cut(text, most);
  const full = visible(text);
  return h("bdi", { class: "id", title: shown === full ? null : full }, shown);
}

/** Names of a list, the first few in full and the rest as a count. */
export function listed(texts, most = 3, length = 40) {
  const nodes = texts.slice(0, most).flatMap((text, i) => (i ? [", ", name(text, length)] : [name(text, length)]));
  return texts.length > most ? [...nodes, ` and ${grouped(texts.length - most)} more`] : nodes;
}

export const note = (...children) => h("p", { class: "note" }, ...children);

export function scrollable(label, ...children) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, ...children);
}

/** A table that shows its first rows, and more when asked; `row` makes a row from one of `rows`. */
export function table({ caption, head, rows, row, first = 15, step = 50, className = "", attributes = {} }) {
  const body = h("tbody");
  const more = h("button", { type: "button", class: "more" });
  let shown = 0;
  const grow = (count) => {
    body.append(...rows.slice(shown, shown + count).map(row));
    shown = Math.min(rows.length, shown + count);
    more.hidden = shown >= rows.length;
    more.textContent = `Show ${grouped(Math.min(step, rows.length - shown))} more of ${grouped(rows.length)}`;
  };
  more.addEventListener("click", () => {
    const next = shown;
    grow(step);
    if (more.hidden) body.rows[next]?.querySelector("a, button")?.focus();
  });
  grow(first);
  const whole = h(
    "table",
    { class: className, ...attributes },
    h("caption", null, h("span", null, caption)),
    h("thead", null, head),
    body,
  );
  return h("div", { class: "table" }, scrollable(whole.caption.textContent, whole), more);
}

export const th = (text, attributes) => h("th", { scope: "col", ...attributes }, text);
export const rowHead = (...children) => h("th", { scope: "row" }, ...children);
export const td = (...children) => h("td", null, ...children);
export const num = (...children) => h("td", { class: "num" }, ...children);

/** A choice of one of several; `set` changes what is offered and chosen. */
export function chooser(label, onchange) {
  const select = h("select", { onchange: () => onchange(Number(select.value)) });
  const set = (options, chosen) => {
    select.replaceChildren(...options.map(([value, text]) => h("option", { value }, cut(text, 50))));
    select.value = String(chosen);
  };
  return { element: h("label", { class: "choice" }, h("span", null, label), select), set, select };
}

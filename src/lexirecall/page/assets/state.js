/** State: what the reader chose, its address, and the sections that are drawn from it. */

import { counted, cut, grouped, visible } from "./text.js";
import { byId } from "./elements.js";
import { D, byWeight, decide, indices } from "./data.js";
import { queryText } from "./words.js";

// The address alone determines what is shown: what it does not name is as when the page opens.
/** @typedef {{ q: number, a: number, b: number, m: number, worst: number, runs: string, queries: string }} State */
/** @typedef {{ keys: string[], draw: () => void, setUp?: (body: HTMLElement) => any, body: HTMLElement, parts: any }} Section */

/** @type {State} */
export const state = { q: 0, a: 0, b: 1, m: 0, worst: -1, runs: "", queries: "" };

/** @type {Partial<State>} */
export const standard = {}; // q, a, b and m when the page opens
const chosen = new Set(); // which of q, a, b and m the reader chose
let focus = "pair"; // what was chosen last: the pair or the query
/** @type {{ runs: number[], queries: number[] }} */
export const shown = { runs: [], queries: [] };
/** @type {Map<string, Section>} */
export const sections = new Map(); // by id: what it depends on, how it is drawn
export const waiting = new Set(); // ids of sections to draw
export const seen = new Set(); // ids of sections in view

function readAddress() {
  const lists = { q: D.queries, a: D.runs, b: D.runs, m: D.measures.map((measure) => measure.name) };
  const asked = {};
  const unknown = [];
  for (const part of location.hash.slice(1).split("&")) {
    const [key, ...rest] = part.split("=");
    if (!Object.hasOwn(lists, key) || !rest.length) continue;
    const text = decoded(rest.join("="));
    const index = lists[key].indexOf(text);
    if (index >= 0) asked[key] = index;
    else unknown.push(text);
  }
  return { asked, unknown };
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a stray percent sign
  }
}

/** @param {string} text */
const encoded = (text) => encodeURIComponent(text.toWellFormed?.() ?? text);

/**
 * The part of the address after #; the page opens at what comes last in it.
 * @param {Partial<State>} named
 * @param {string} [last] pair or query
 */
export function address({ q, a, b, m }, last = focus) {
  const pair = a === undefined ? [] : [`a=${encoded(D.runs[a])}`, `b=${encoded(D.runs[b])}`];
  if (m !== undefined && m !== standard.m) pair.push(`m=${encoded(D.measures[m].name)}`);
  const query = q === undefined ? [] : [`q=${encoded(D.queries[q])}`];
  return "#" + (last === "pair" ? [...query, ...pair] : [...pair, ...query]).join("&");
}

export const chosenState = () => Object.fromEntries([...chosen].map((key) => [key, state[key]]));
export const currentAddress = () => address(chosenState());

/**
 * The query that decides most clearly between two runs.
 * @param {number} a
 * @param {number} b
 */
export function decisiveQuery(a, b) {
  const decided = indices(D.queries.length).map((q) => decide(a, b, q));
  return decided.filter(Boolean).sort(byWeight)[0]?.q ?? 0;
}

/**
 * Change the state, draw what depends on it, write it into the address, and go to a section if one is named.
 * @param {Partial<State>} changes
 * @param {{ go?: string | null, last?: string | null, isFromAddress?: boolean }} [how]
 */
export function change(changes, { go = null, last = null, isFromAddress = false } = {}) {
  const before = { ...state };
  if (isFromAddress) {
    chosen.clear();
    Object.assign(state, standard);
  }
  Object.assign(state, changes);
  for (const key of ["q", "m"]) if (key in changes) chosen.add(key);
  if ("a" in changes || "b" in changes) chosen.add("a").add("b");
  settle(changes, before, isFromAddress);
  if (["q", "a", "b", "m"].some((key) => key in changes)) focus = last ?? ("q" in changes ? "query" : "pair");
  const keys = Object.keys(state).filter((key) => state[key] !== before[key]);
  if (keys.includes("runs") || keys.includes("queries")) filter();
  for (const [id, section] of sections) if (keys.some((key) => section.keys.includes(key))) waiting.add(id);
  if (!isFromAddress && chosen.size && location.hash !== currentAddress()) location.hash = currentAddress();
  if (go) drawAll();
  draw();
  if (go) visit(go);
}

/**
 * Make sure that the two runs differ, and choose a query that tells them apart unless the reader chose one.
 * @param {Partial<import("./state.js").State>} changes
 * @param {import("./state.js").State} before
 * @param {boolean} isFromAddress
 */
function settle(changes, before, isFromAddress) {
  if (state.a === state.b && D.runs.length > 1) {
    const other = "a" in changes && !("b" in changes) ? "b" : "a"; // the one to change
    const free = other === "b" ? before.a : before.b;
    state[other] = free === state[other] ? (free === 0 ? 1 : 0) : free;
  }
  const isOther = state.a !== before.a || state.b !== before.b;
  if (!chosen.has("q") && (isOther || isFromAddress)) state.q = decisiveQuery(state.a, state.b);
}

/** @param {string} id */
export function visit(id) {
  byId(id).scrollIntoView();
  byId(`h-${id}`).focus({ preventScroll: true });
}

/** Follow the address: on opening the page, and when the reader goes back or types another one. */
export function followAddress() {
  const id = location.hash.slice(1);
  if (id && !id.includes("=")) {
    drawAll();
    draw();
    return sections.has(id) && visit(id); // a place on the page, which leaves the state as it is
  }
  const { asked, unknown } = readAddress();
  const order = Object.keys(asked);
  const go = order.length ? (order.at(-1) === "q" ? "query" : "pair") : null;
  change(asked, { go, last: go, isFromAddress: true });
  if (unknown.length) say(`This report has no ${listedText(unknown)}.`);
}

/** @param {string[]} texts */
const listedText = (texts) => texts.map((text) => `“${cut(text)}”`).join(", ");

/**
 * @param {string[]} texts
 * @param {string} wanted
 */
function matching(texts, wanted) {
  const terms = wanted
    .toLowerCase()
    .split(",")
    .map((term) => term.trim())
    .filter(Boolean);
  const holds = (text) =>
    terms.some((term) => text.toLowerCase().includes(term) || visible(text).toLowerCase().includes(term));
  return indices(texts.length).filter((index) => !terms.length || holds(texts[index]));
}

export function filter() {
  shown.runs = matching(D.runs, state.runs);
  const asked = D.queries.map((text, q) => `${text} ${queryText(q) ?? ""}`); // by their words too
  shown.queries = matching(asked, state.queries);
  /** @type {[string, number[], string[]][]} */
  const kinds = [
    ["run", shown.runs, D.runs],
    ["query", shown.queries, D.queries],
  ];
  const parts = kinds
    .filter(([, some, all]) => some.length < all.length)
    .map(([noun, some, all]) => `${grouped(some.length)} of ${counted(all.length, noun)}`);
  say(parts.length ? `${parts.join(", ")} shown` : "");
}

/** @param {string} text */
const say = (text) => {
  byId("filter-status").textContent = text;
};

/** @param {string} id */
function drawOne(id) {
  waiting.delete(id);
  sections.get(id).draw();
}

export const drawAll = () => [...waiting].forEach(drawOne);

/** Draw what is in view now, the rest when the browser has time. */
export function draw() {
  [...waiting].filter((id) => seen.has(id)).forEach(drawOne);
  document.documentElement.dataset.state = "drawing";
  if (waiting.size) whenIdle(drawNext);
  else document.documentElement.dataset.state = "complete";
}

function drawNext() {
  const [next] = [...sections.keys()].filter((id) => waiting.has(id));
  if (next) drawOne(next);
  draw();
}

/** @param {() => void} work */
const whenIdle = (work) =>
  window.requestIdleCallback ? requestIdleCallback(work, { timeout: 200 }) : setTimeout(work, 1);

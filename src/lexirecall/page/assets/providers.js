/** Providers: what each of them gets from a run, beside how many relevant documents it has. */

import { counted, grouped, number, visible } from "./text.js";
import { exact } from "./save.js";
import { chooser, h, name, note, num, put, rowHead, table, th, writtenAs } from "./elements.js";
import { D, indices } from "./data.js";
import { sections } from "./state.js";
import { runOptions } from "./links.js";

/** @typedef {"provider" | "exposure" | "merit" | "ratio" | "queries" | "p_corrected"} ProviderColumn */

/** @type {[ProviderColumn, string][]} */
const PROVIDER_COLUMNS = [
  ["provider", "who it is"],
  ["ratio", "its exposure over what it would be if the relevant documents of each query had equal exposure"],
  ["exposure", "mean over the queries for which it has a relevant document"],
  ["merit", "how many relevant documents it has"],
  ["queries", "for how many queries it has a relevant document"],
  ["p_corrected", "how often a placement is as unlike that of the other relevant documents by chance, for all providers of the run"],
];

/** @type {{ s: number, wanted: string, column: ProviderColumn, isDescending: boolean }} */
const wish = { s: 0, wanted: "", column: "p_corrected", isDescending: false }; // what the reader of the table asks for

/** @param {HTMLElement} body */
export function setUpProviders(body) {
  const choice = chooser("Run", (s) => {
    wish.s = s;
    drawProviders();
  });
  const search = h("input", { type: "search", placeholder: "all", autocomplete: "off", spellcheck: "false" });
  search.addEventListener("input", () => {
    wish.wanted = search.value;
    drawProviders();
  });
  const space = h("div");
  body.append(
    h("div", { class: "controls" }, choice.element, h("label", { class: "choice" }, h("span", null, "Providers"), search)),
    note(
      "Are a provider's documents placed like the other relevant documents of the same queries? p_corrected says how often they would be as unlike by chance, if it did not matter whose a document is; the least comes first. The ratio is what a provider gets over what it would get if the relevant documents of each query had equal exposure. A ratio other than 1 is no evidence by itself.",
    ),
    space,
  );
  return { choice, space };
}

/**
 * The rows of one run that the reader asks for, in the order asked for; undefined numbers are last.
 * @param {import("./payload.js").Provided} own
 * @param {typeof wish} asked
 * @returns {number[]}
 */
export function providerRows(own, { wanted, column, isDescending }) {
  const term = wanted.trim().toLowerCase();
  const text = (/** @type {number} */ i) => visible(D.providers.names[own.provider[i]]);
  const kept = indices(own.provider.length).filter((i) => text(i).toLowerCase().includes(term));
  const sign = isDescending ? -1 : 1;
  return kept.sort((i, j) => {
    const [x, y] = [own[column][i], own[column][j]]; // names are numbered in their order
    if (x == null || y == null) return Number(x == null) - Number(y == null) || i - j;
    return sign * (x - y) || i - j;
  });
}

/** @param {ProviderColumn} column */
function sortProviders(column) {
  wish.isDescending = wish.column === column && !wish.isDescending;
  wish.column = column;
  drawProviders();
  const place = PROVIDER_COLUMNS.findIndex(([each]) => each === column);
  const buttons = sections.get("providers").body.querySelectorAll("button.sort");
  /** @type {HTMLElement} */ (buttons[place]).focus();
}

function providerHead() {
  return h(
    "tr",
    null,
    PROVIDER_COLUMNS.map(([column, title]) => {
      const isSorted = wish.column === column;
      const arrow = isSorted ? (wish.isDescending ? "▼" : "▲") : "↕";
      const button = h(
        "button",
        { type: "button", class: "sort", title, onclick: () => sortProviders(column) },
        column,
        h("span", { class: "arrow", "aria-hidden": "true" }, arrow),
      );
      const cell = th(button, {
        class: column === "provider" ? null : "num",
        "aria-sort": isSorted ? (wish.isDescending ? "descending" : "ascending") : "none",
      });
      const hasEnds = D.providers.note && (column === "ratio" || column === "exposure");
      return writtenAs(cell, column, ...(hasEnds ? [`${column} low`, `${column} high`] : []));
    }),
  );
}

/**
 * A number with its interval, if there is one.
 * @param {number | null} value
 * @param {(number | null | undefined)[]} ends
 * @param {number} share of the cell that is tinted
 */
function providerCell(value, ends, share) {
  const cell = h("td", { class: "num value", "--share": share }, number(value));
  if (ends[0] != null) cell.append(h("span", { class: "interval" }, `[${ends.map((end) => number(end)).join(", ")}]`));
  return writtenAs(cell, exact(value), ...(D.providers.note ? ends.map((end) => exact(end ?? null)) : []));
}

export function drawProviders() {
  const { choice, space } = sections.get("providers").parts;
  const own = D.providers.runs[wish.s];
  choice.set(runOptions(), wish.s);
  const rows = providerRows(own, wish);
  const highest = Math.max(0, ...own.exposure);
  put(
    space,
    rows.length
      ? table({
          caption: h("span", null, "Providers of relevant documents in ", name(D.runs[wish.s])),
          head: providerHead(),
          rows,
          row: (i) =>
            h(
              "tr",
              null,
              rowHead(name(D.providers.names[own.provider[i]], 50)),
              providerCell(own.ratio[i], [own.ratio_low?.[i], own.ratio_high?.[i]], Math.min(1, (own.ratio[i] ?? 0) / 2)),
              providerCell(own.exposure[i], [own.low?.[i], own.high?.[i]], highest ? own.exposure[i] / highest : 0),
              num(grouped(own.merit[i])),
              num(grouped(own.queries[i])),
              num(number(own.p_corrected[i])),
            ),
          first: 20,
          className: "providers",
        })
      : note(own.provider.length ? "No provider matches." : "No provider has queries enough."),
    note(providerNotes(own).join(" ")),
  );
}

/**
 * What is not in the table, and what its numbers are.
 * @param {import("./payload.js").Provided} own
 */
function providerNotes({ few, more }) {
  const { total, min_queries, measure, note: brackets } = D.providers;
  return [
    few && `${grouped(few)} of ${counted(total, "provider")} with fewer than ${min_queries} queries: counted, not shown.`,
    more && `${counted(more, "provider")} with a higher p: left out of this page (the command line shows them with --show providers).`,
    `Exposure is that of ${visible(measure)}.`,
    brackets && `${brackets}. It is that of one provider, not of the lowest of many, and only of those with 50 queries or more.`,
  ].filter(Boolean);
}

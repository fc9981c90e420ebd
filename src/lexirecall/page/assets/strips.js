/** Strips: where each ranking has the relevant documents of a query. */

import { NONE, cut, grouped, visible } from "./text.js";
import { h, listed, name, num, rowHead, svg, table, td, th, writtenAs } from "./elements.js";
import { D, PREFERENCES, indices, isHeld, missing, numRelevant, ranking, thing } from "./data.js";
import { shown, state } from "./state.js";
import { run } from "./links.js";
import { showTip } from "./charts.js";
import { documentText } from "./words.js";

/** @typedef {{ s: number, own: import("./data.js").Ranking }} Ranked the ranking of a run */

/**
 * Better first, by LexiRecall.
 * @param {Ranked} x
 * @param {Ranked} y
 */
export const byLexiRecall = (x, y) => -PREFERENCES.LexiRecall(x.own.positions, y.own.positions) || x.s - y.s;

/** @param {number} q */
export function rankings(q) {
  return shown.runs.map((s) => ({ s, own: ranking(s, q) })).filter((each) => each.own);
}

const SCALE = 860; // of 1000: the rest of a strip is for what is missing

/** @param {number} deepest */
function scaleTo(deepest) {
  const width = Math.log(Math.max(deepest, 2));
  return (position) => (SCALE * Math.log(position)) / width;
}

/** @param {any} x */
const left = (x) => `${(x / 10).toFixed(2)}%`;

/**
 * @param {number} deepest
 * @param {any} x
 */
function axis(deepest, x) {
  const ticks = indices(String(deepest).length).map((power) => 10 ** power);
  if (deepest >= 2 && x(deepest) - x(ticks.at(-1)) > 100) ticks.push(deepest);
  return h(
    "div",
    { class: "strip axis" },
    ticks.map((tick) => h("span", { class: x(tick) > 0.95 * SCALE && "last", "--left": left(x(tick)) }, grouped(tick))),
    h("span", { class: "end", "--left": "96%" }, "missing"),
  );
}

/**
 * @param {import("./data.js").Ranking} own
 * @param {number} m
 */
function stripLabel(own, m) {
  const some = own.positions.slice(0, 40).map(grouped).join(", ");
  const rest = own.positions.length > 40 ? ` and ${own.positions.length - 40} more` : "";
  return own.positions.length
    ? `relevant ${thing()}s at ${some}${rest}; ${m - own.positions.length} missing`
    : "nothing relevant found";
}

/**
 * @param {import("./strips.js").Ranked} each
 * @param {number} q
 * @param {any} x
 * @param {import("./data.js").Decided} decided
 */
function strip(each, q, x, decided) {
  const { own, s } = each;
  const side = decided ? [state.a, state.b].indexOf(s) : -1;
  const m = numRelevant(q);
  const count = own.positions.length;
  const drawn = svg(
    "svg",
    { viewBox: "0 0 1000 20", preserveAspectRatio: "none", role: "img", "aria-label": stripLabel(own, m) },
    D.retrieved[s][q] > 0 && svg("path", { class: "list", d: `M0 10H${x(D.retrieved[s][q]).toFixed(1)}` }),
    svg("path", {
      class: `dots${count > 80 ? " dense" : ""}`,
      d: own.positions.map((p) => `M${x(p).toFixed(1)} 10h.01`).join(""),
    }),
  );
  const box = h(
    "div",
    {
      class: "strip",
      onmousemove: (event) => showTip(event, nearest(event, each, q, x)),
      onmouseleave: (event) => showTip(event, ""),
    },
    drawn,
  );
  if (m > count)
    box.append(
      h("span", { class: "lacking", "--left": "96%", title: `${grouped(m - count)} missing` }, grouped(m - count)),
    );
  if (side >= 0 && decided.level) {
    const position = decided.places[side];
    const where = Number.isFinite(position) ? x(position) : 960;
    if (Number.isFinite(position)) drawn.append(svg("path", { class: "decides", d: `M${where.toFixed(1)} 10h.01` }));
    box.append(
      h(
        "span",
        { class: `pointer${where > 700 ? " before" : ""}`, "--left": left(where) },
        Number.isFinite(position) ? `level ${decided.level} at ${grouped(position)}` : `level ${decided.level} missing`,
      ),
    );
  }
  return box;
}

function nearest(event, { own, s }, q, x) {
  const box = event.currentTarget.getBoundingClientRect();
  const where = (1000 * (event.clientX - box.left)) / box.width;
  const distance = (i) => Math.abs(x(own.positions[i]) - where);
  const best = indices(own.positions.length).reduce((i, j) => (i < 0 || distance(j) < distance(i) ? j : i), -1);
  if (best < 0 || distance(best) > 15) return "";
  const text = D.serving ? documentText(q, D.serving.by[s][q][best]) : documentText(q, own.documents[best]);
  return `${cut(D.runs[s], 40)}: ${cut(D.relevant[q][own.documents[best]], 60)} at ${grouped(own.positions[best])}, level ${best + 1} of ${numRelevant(q)}${text ? `: ${cut(text, 120)}` : ""}`;
}

const MOST_DOCUMENTS = 500;

/**
 * @param {import("./data.js").Ranking} own
 * @param {number} q
 */
function lacking(own, q) {
  const texts = missing(own, q);
  if (!texts.length) return td(h("span", { class: "none" }, "none"));
  if (texts.length <= 2) return td(listed(texts, 2, 24));
  const rest = h("div");
  const open = () => rest.childNodes.length || rest.append(...listed(texts, MOST_DOCUMENTS, 80));
  return td(
    h(
      "details",
      { ontoggle: open },
      h("summary", null, name(texts[0], 24), ` and ${grouped(texts.length - 1)} more`),
      rest,
    ),
  );
}

/**
 * @param {number} q
 * @param {import("./data.js").Decided} decided
 */
export function stripTable(q, decided) {
  const all = rankings(q).sort(byLexiRecall);
  const isChosen = (each) => D.runs.length > 1 && (each.s === state.a || each.s === state.b);
  const chosen = [state.a, state.b].flatMap((s) =>
    isHeld(s) && D.runs.length > 1 ? [{ s, own: ranking(s, q) }] : [],
  );
  const rows = [...chosen, ...all.filter((each) => !isChosen(each))];
  const deepest = Math.max(2, ...rows.map(({ s, own }) => Math.max(D.retrieved[s][q], own.positions.at(-1) ?? 1)));
  const x = scaleTo(deepest);
  const m = numRelevant(q);
  const isAlone = D.runs.length < 2;
  const side = (s) => (isAlone ? "" : s === state.a ? "side-a" : s === state.b ? "side-b" : "");
  return table({
    caption: `The positions of the relevant ${thing()}s in each ranking: the line is the ranking, each dot a relevant ${thing()}.${isAlone ? "" : " The chosen pair comes first, then the other runs as LexiRecall ranks them on this query."}`,
    head: h(
      "tr",
      null,
      th("run"),
      writtenAs(th(["position, on a logarithmic scale", axis(deepest, x)], { class: "wide" }), "positions"),
      th("found", { class: "num" }),
      th("last at", { class: "num" }),
      th(`${thing()}s missed`),
    ),
    rows,
    row: (each) =>
      h(
        "tr",
        { class: side(each.s) },
        rowHead(run(each.s, 28)),
        writtenAs(td(strip(each, q, x, decided)), each.own.positions.join(" ")),
        num(`${grouped(each.own.positions.length)} of ${grouped(m)}`),
        num(each.own.positions.length ? grouped(each.own.positions.at(-1)) : NONE),
        writtenAs(lacking(each.own, q), missing(each.own, q).map(visible).join(" ")),
      ),
    first: 25,
    className: "strips",
  });
}

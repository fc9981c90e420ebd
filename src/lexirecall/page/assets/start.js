/** Start: colours, filters, and the order in which the page is set up. */

import { visible } from "./text.js";
import { byId } from "./elements.js";
import { unpack } from "./payload.js";
import { D, setData } from "./data.js";
import {
  change,
  currentAddress,
  decisiveQuery,
  draw,
  drawAll,
  filter,
  followAddress,
  sections,
  seen,
  shown,
  standard,
  state,
  visit,
  waiting,
} from "./state.js";
import { appendDrawings } from "./charts.js";
import { drawEvaluated } from "./evaluated.js";
import { drawLeaderboard, goToFirstRow, setUpLeaderboard } from "./leaderboard.js";
import { drawBreakdown, setUpBreakdown } from "./breakdown.js";
import { drawPairs, setUpPairs } from "./pairs.js";
import { drawPair, setUpPair } from "./pair.js";
import { drawQuery, setUpQuery } from "./query.js";
import { drawWorst, setUpWorst } from "./worst.js";
import { drawFunnel } from "./funnel.js";
import { drawUnjudged } from "./unjudged.js";
import { drawProviders, setUpProviders } from "./providers.js";
import { drawRecall, setUpRecall } from "./recall.js";
import { drawMeasures, setUpMeasures } from "./measures.js";

function setUpTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = byId("theme");
  let chosen = null; // by the reader, for as long as the page is open
  const apply = () => {
    const theme = chosen ?? (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme;
    button.textContent = theme === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${theme === "dark" ? "light" : "dark"} colours`);
  };
  dark.addEventListener("change", apply);
  button.addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    apply();
  });
  apply();
}

/** @type {Record<string, { keys: string[], draw: () => void, setUp?: (body: HTMLElement) => any, isShown?: () => boolean }>} */
const SECTIONS = {
  evaluated: { keys: [], draw: drawEvaluated },
  leaderboard: { keys: ["runs", "m"], draw: drawLeaderboard, setUp: setUpLeaderboard },
  by: { keys: ["runs", "m"], draw: drawBreakdown, setUp: setUpBreakdown, isShown: () => D.breakdown?.by != null },
  pairs: { keys: ["runs", "m", "a", "b"], draw: drawPairs, setUp: setUpPairs },
  pair: { keys: ["queries", "m", "a", "b"], draw: drawPair, setUp: setUpPair },
  query: { keys: ["runs", "queries", "q", "a", "b"], draw: drawQuery, setUp: setUpQuery },
  worst: { keys: ["runs", "queries", "worst"], draw: drawWorst, setUp: setUpWorst },
  unjudged: { keys: [], draw: drawUnjudged, isShown: () => Boolean(D.unjudged) },
  funnel: { keys: [], draw: drawFunnel, isShown: () => Boolean(D.funnel) },
  providers: { keys: [], draw: drawProviders, setUp: setUpProviders, isShown: () => Boolean(D.providers) },
  recall: { keys: ["runs"], draw: drawRecall, setUp: setUpRecall },
  measures: { keys: [], draw: drawMeasures, setUp: setUpMeasures },
};

function setUpSections() {
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) isIntersecting ? seen.add(target.id) : seen.delete(target.id);
      draw();
    },
    { rootMargin: "200px" },
  );
  for (const [id, { isShown = () => true, ...section }] of Object.entries(SECTIONS)) {
    if (!isShown()) {
      byId(id).remove();
      document.querySelector(`nav a[href="#${id}"]`)?.remove();
      continue;
    }
    const body = byId(id).querySelector(".body");
    sections.set(id, { ...section, body, parts: section.setUp?.(body) });
    appendDrawings(id, byId(id));
    waiting.add(id);
    observer.observe(byId(id));
  }
}

function setUpFilters() {
  let timer;
  for (const [key, go] of [
    ["runs", "leaderboard"],
    ["queries", "query"],
  ]) {
    const input = byId(`filter-${key}`);
    input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => change({ [key]: input.value }), D.runs.length > 40 ? 150 : 50);
    });
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      clearTimeout(timer);
      change({ [key]: input.value });
      if (shown[key].length) change(key === "queries" ? { q: shown.queries[0] } : {}, { go });
      if (key === "runs") goToFirstRow();
    });
  }
  for (const anchor of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("nav a"))) {
    anchor.addEventListener("click", (event) => {
      event.preventDefault(); // the address keeps the pair and the query
      drawAll();
      visit(anchor.hash.slice(1));
    });
  }
}

/** The first pair is the two best runs, or the best and the baseline; the measure is LexiRecall. */
function setUpState() {
  if (D.baseline != null) state.b = D.baseline === 0 ? 1 : D.baseline;
  state.m = Math.max(
    0,
    D.measures.findIndex((measure) => measure.name === "LexiRecall"),
  );
  state.q = D.runs.length > 1 ? decisiveQuery(state.a, state.b) : 0;
  Object.assign(standard, { q: state.q, a: state.a, b: state.b, m: state.m });
}

/** For printing, show everything: all sections, all rows, and what is folded. */
function unfold() {
  drawAll();
  for (const more of document.querySelectorAll("button.more")) more.dispatchEvent(new Event("grow"));
  for (const details of document.querySelectorAll("details"))
    if (!details.open) {
      details.dataset.folded = "true";
      details.open = true;
    }
}

function fold() {
  for (const details of document.querySelectorAll("details"))
    if (details.dataset.folded) {
      details.open = false;
      delete details.dataset.folded;
    }
}

function colophon() {
  const { versions = {}, reader } = D.manifest;
  const others = Object.entries(versions)
    .filter(([key]) => key !== "lexirecall")
    .map((pair) => pair.join(" "));
  const beside = [...others, reader && `${reader} reader`].filter(Boolean).join(", ");
  return visible(`Made by lexirecall ${D.lexirecall} on ${D.date}${beside && ` (${beside})`}. One file, no network.`);
}

async function start() {
  setUpTheme();
  setData(await unpack(byId("payload").textContent));
  document.documentElement.classList.toggle("alone", D.runs.length < 2);
  byId("payload").remove(); // it takes memory, and is not read again
  setUpState();
  filter();
  setUpSections();
  setUpFilters();
  byId("colophon").textContent = colophon();
  if (location.hash.length > 1) followAddress();
  else draw();
  window.addEventListener("hashchange", () => location.hash !== currentAddress() && followAddress());
  window.addEventListener("beforeprint", unfold);
  window.addEventListener("afterprint", fold);
}

start().catch((error) => {
  const trouble = byId("trouble");
  trouble.hidden = false;
  trouble.textContent = `This report cannot be shown: ${error.message}. It needs a browser from 2023 or later, and the complete file.`;
  console.error(error);
});

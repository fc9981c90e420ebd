/** Start: from files and options to what the tabs show. */

import { byId, h, put } from "../src/lexirecall/page/assets/elements.js";
import { chosen, judge, startFiles } from "./files.js";
import { ask, onProgress } from "./python.js";
import { command, problem, remarks, reportFrame, saveReport, saves, table } from "./results.js";
import { startTabs } from "./tabs.js";

const TITLES = { evaluate: "Evaluate", compare: "Compare", explain: "Explain", report: "Report" };
const DOING = { evaluate: "Evaluating", compare: "Comparing", explain: "Explaining", report: "Writing the report" };
const LETTER = 8.2; // pixels that a letter of the drawing takes, at most
/** @type {{ a: string, b: string, query: string | null, runs: string[] }} what is explained */
const pair = { a: "", b: "", query: null, runs: [] };
/** @type {Map<string, any>} answers to what was asked of these files */
const known = new Map();
let work = 0;

const status = (text) => put(byId("status"), text);
const megabytes = (bytes) => Math.round(bytes / 1e6);

onProgress((loaded, size) => {
  const bar = byId("progress");
  bar.hidden = loaded >= size;
  bar.value = loaded / size;
  if (loaded < size) status(`Loading Python, ${megabytes(loaded)} of ${megabytes(size)} MB`);
  else status("Starting Python");
});

/**
 * Say what is being done until it is, and what failed if it fails.
 * @template T
 * @param {Promise<T>} doing
 * @param {string} what
 * @returns {Promise<T>}
 */
async function during(doing, what) {
  const own = ++work;
  document.documentElement.dataset.state = "busy";
  status(`${what} …`);
  try {
    return await doing;
  } catch (error) {
    put(
      byId("panel"),
      problem(
        {
          problem: String(error),
          remedy: "load the page again; if that does not help, pip install lexirecall",
          swap: null,
        },
        judge,
      ),
    );
    byId("results").hidden = false;
    throw error;
  } finally {
    byId("progress").hidden = true;
    if (own === work) {
      status("");
      document.documentElement.dataset.state = "ready";
    }
  }
}

/** What the page asks of Python: the files, and the options as they are written. */
function asked() {
  const ticked = [...byId("measures").querySelectorAll("input:checked")].map((box) => box.value);
  const others = byId("others").value.trim();
  const isDefault =
    !others && [...byId("measures").querySelectorAll("input")].every((box) => box.checked === box.defaultChecked);
  return {
    ...chosen,
    measures: isDefault ? [] : others ? [...ticked, others] : ticked,
    level: byId("level").value,
    corpus_size: byId("corpus_size").value,
  };
}

/** Show a result, from what is known of it or from Python. */
async function show(question) {
  if (!chosen.qrels && !chosen.runs.length) return;
  const width = Math.floor((byId("panel").clientWidth - 40) / LETTER);
  if (question === "explain" && (await choosePair()) === false) return;
  const given = { ...asked(), ...(question === "explain" ? { ...pair, runs: chosen.runs, width } : {}) };
  const key = JSON.stringify([question, given]);
  const answer = known.get(key) ?? (await during(ask(question, given), DOING[question]));
  known.set(key, answer);
  if (tabs.current() !== question) return;
  put(
    byId("panel"),
    answer.error ? problem(answer.error, judge) : PANELS[question](answer),
    answer.command && command(answer.command),
  );
}

/** Choose the first two runs, unless two of these runs are chosen; only evaluating tells what the runs are called. */
async function choosePair() {
  const given = asked();
  const key = JSON.stringify(["evaluate", given]);
  const answer = known.get(key) ?? (await during(ask("evaluate", given), DOING.evaluate));
  known.set(key, answer);
  pair.runs = answer.runs ?? [];
  if (pair.runs.length < 2) {
    const alone = {
      problem: "one run alone cannot be explained",
      remedy: "drop another run to compare it with",
      swap: null,
    };
    put(byId("panel"), problem(answer.error ?? alone, judge));
    return false;
  }
  if (!pair.runs.includes(pair.a) || !pair.runs.includes(pair.b) || pair.a === pair.b) {
    const [a, b] = pair.runs;
    Object.assign(pair, { a, b, query: null });
  }
  return true;
}

const PANELS = {
  evaluate: (answer) => [
    answer.tables.map((each) => table(each)),
    remarks(answer.notes),
    saves("evaluate", answer.files),
  ],
  compare: (answer) => [
    answer.tables.map((each) => table(each)),
    remarks(answer.notes),
    saves("compare", answer.files),
  ],
  explain: (answer) => [
    choosers(answer),
    answer.query !== null && [
      h("h3", null, "Query ", h("bdi", null, answer.query)),
      h("p", null, answer.sentence),
      h("pre", { tabindex: "0", "aria-label": "Where both runs have the relevant documents" }, answer.drawing),
    ],
    answer.tables.map((each) => table(each, (row, r) => explainQuery(answer.rows[r].query))),
    answer.query !== null && table(answer.levels),
    remarks(answer.notes),
    saves("explain", answer.files),
    answer.query !== null && command(answer.command_query),
  ],
  report: (answer) => [saveReport(answer.html), reportFrame(answer.html), remarks(answer.notes)],
};

/** @param {string} query */
function explainQuery(query) {
  pair.query = query;
  show("explain").then(() => byId("panel").focus());
}

/** The choice of two runs and of a query. */
function choosers({ queries, query }) {
  const choice = (label, options, value, choose) => {
    const select = h("select", { onchange: (event) => choose(event.target.value) });
    select.append(...options.map((text) => h("option", { value: text, selected: text === value }, text)));
    return h("label", null, `${label} `, select);
  };
  const chooseRun = (key, other) => (run) => {
    if (run === pair[other]) pair[other] = pair[key]; // the two change places
    pair[key] = run;
    show("explain");
  };
  return h(
    "div",
    { class: "options" },
    choice("Run A", pair.runs, pair.a, chooseRun("a", "b")),
    choice("Run B", pair.runs, pair.b, chooseRun("b", "a")),
    choice("Query", queries, query, explainQuery),
  );
}

/** Offer the measures that Python names. */
async function offerMeasures() {
  if (byId("measures").querySelector("label")) return;
  const { measures } = await during(ask("measures"), "Evaluating");
  const boxes = measures.map(({ name, title, is_default }) => {
    const box = h("input", { type: "checkbox", value: name, checked: is_default, onchange: refresh });
    return h("label", { title }, box, ` ${name}`);
  });
  byId("measures").append(...boxes);
}

async function refresh() {
  known.clear();
  const isEmpty = !chosen.qrels && !chosen.runs.length;
  byId("results").hidden = byId("options").hidden = isEmpty;
  await offerMeasures();
  await show(tabs.current());
}

const tabs = startTabs(TITLES, show);
tabs.select("evaluate");
startFiles(refresh, during);
for (const id of ["level", "corpus_size", "others"]) byId(id).onchange = refresh;
document.documentElement.dataset.state = "ready";

/** What was evaluated: the size of the collection, what was left out, the conventions. */

import { NONE, counted, cut, grouped, visible } from "./text.js";
import { h, name, note, num, put, rowHead, table, th } from "./elements.js";
import { D, thing } from "./data.js";
import { sections } from "./state.js";
import { unitSentence } from "./serving.js";
import { headlineOf } from "./headline.js";

const CONVENTIONS = {
  level: ["Relevant", (grade) => `a document with a grade of ${grade} or more`],
  imputation: [
    "Not retrieved",
    (rule) =>
      ({
        optimistic:
          "a relevant document that a run does not return counts as found right after its last one, which flatters runs that return little",
        pessimistic:
          "a relevant document that a run does not return counts as found last of all, below everything it returns",
        paper:
          "a relevant document that a run does not return is at the bottom of the corpus, for every measure without a cut-off",
      })[rule],
  ],
  corpus_size: [
    "Corpus",
    (size) =>
      size == null
        ? "its size was not given, so a document that was not retrieved has no position"
        : `${typeof size === "number" ? counted(size, "document") : visible(size)}; relevant ones not retrieved are placed at the bottom`,
  ],
  ties: [
    "Equal scores",
    (rule) =>
      ({
        trec: "are sorted by document id, descending, as in trec_eval",
        input: "keep the order of the file",
        worst: "relevant documents come last: the worst case for a run",
        best: "relevant documents come first: the best case for a run",
        expected: "values are the mean over all orders of the tied documents",
      })[rule],
  ],
  score_dtype: [
    "Scores",
    (type) =>
      type === "float32" ? "rounded to 32 bits first, as in trec_eval 9" : "compared at full precision (64 bits)",
  ],
  depth: [
    "Depth",
    (depth) =>
      depth == null
        ? "rankings count in full"
        : `only the first ${counted(depth, "document")} of each ranking ${depth === 1 ? "counts" : "count"}`,
  ],
  judged_only: [
    "Unjudged documents",
    (only) => (only ? "are taken out of the rankings" : "stay in the rankings, as not relevant"),
  ],
  duplicates: [
    "Repeated documents",
    (rule) =>
      ({
        error: "a ranking that has a document twice is refused; there was none",
        first: "if a ranking has a document twice, its first line counts",
        best: "if a ranking has a document twice, its best score counts",
      })[rule],
  ],
  strict: ["Fields after the run tag", (refused) => (refused ? "are refused; there were none" : "are ignored")],
  queries: [
    "Unanswered queries",
    (rule) =>
      rule === "intersection"
        ? "are left out of the means of a run that does not answer them"
        : "count as nothing retrieved",
  ],
  no_relevant: [
    "Nothing relevant",
    (rule) =>
      rule === "zero"
        ? "queries without a relevant document count as 0"
        : "queries without a relevant document are left out of every mean",
  ],
  unit_rule: [
    "Units",
    (rule) =>
      rule === "all"
        ? "are found with the last of their documents, all of which are needed"
        : "are found with the first document that serves them",
  ],
  count: [
    "Counting",
    (what) =>
      what === "units"
        ? "positions, depth and cut-offs count units: a document that brings no new unit takes no place"
        : "positions, depth and cut-offs count documents, as a reader sees them",
  ],
  judged: ["Judged", () => (D.manifest.qrels.judged_ids === "units" ? "the judgments name units" : "the judgments name documents")],
  unmapped: [
    "Outside the map",
    (rule) => (rule === "itself" ? "a document is a unit of its own" : "a document serves no unit, and is not counted"),
  ],
  test: [
    "Tests",
    (test) =>
      ({
        auto: "the sign test for lexicographic preferences, the paired t test where differences have a size",
        t: "paired t",
        wilcoxon: "Wilcoxon's signed ranks",
        sign: "the sign test: wins against losses",
        randomization: "signs of the differences flipped at random",
        hsd: "Tukey's HSD: all runs at once",
        "randomized-hsd": "Tukey's HSD by permutation: all runs at once",
      })[test],
  ],
  correction: [
    "Many pairs",
    (rule) =>
      ({
        holm: "p is corrected for the number of pairs under each measure, with Holm's method",
        bonferroni: "p is corrected for the number of pairs under each measure, with Bonferroni's method",
        bh: "p is corrected for the number of pairs under each measure, with Benjamini and Hochberg's method",
        none: "p is not corrected for the number of pairs",
      })[rule],
  ],
  test_ties: ["Ties in sign tests", (rule) => (rule === "split" ? "half of them count for each side" : "are left out")],
  alpha: ["Significant", (alpha) => `p below ${alpha}`],
};

/** The conventions that matter: seeds only for random tests, corrections only if pairs are tested one by one. */
function conventionsInUse() {
  const { test = "", ...others } = D.manifest.conventions;
  const idle = [!/random|max-t/.test(test) && ["seed"], /hsd|max-t/.test(test) && ["correction"]];
  if (D.manifest.conventions.num_resamples == null || !/random|max-t/.test(test)) idle.push(["num_resamples"]);
  if (!D.serving) idle.push(["unit_rule", "count", "judged", "unmapped"]);
  if (!/auto|sign|hsd|max-t/.test(test)) idle.push(["test_ties"]);
  const names = Object.keys({ ...others, ...(test && { test }) });
  return names.filter((key) => !idle.flat().includes(key));
}

function conventionRows() {
  const used = conventionsInUse();
  const ordered = [...Object.keys(CONVENTIONS), ...used.filter((key) => !Object.hasOwn(CONVENTIONS, key))];
  return ordered
    .filter((key) => used.includes(key))
    .map((key) => {
      const isKnown = Object.hasOwn(CONVENTIONS, key);
      const [title, words] = isKnown ? CONVENTIONS[key] : [cut(key.replaceAll("_", " ")), () => undefined];
      const value = D.manifest.conventions[key];
      return [title, words(value) ?? cut(JSON.stringify(value), 200)];
    });
}

/**
 * @param {string} value
 * @param {string} text
 */
function fact(value, text) {
  return h("div", { class: "fact" }, h("strong", null, value), h("span", null, text));
}

const RUN_COLUMNS = [
  ["answered", "queries answered"],
  ["unanswered", "unanswered"],
  ["without_judgments", "without judgments"],
  ["duplicates_left_out", "repeated lines left out"],
  ["retrieved", "documents retrieved"],
  ["positive_retrieved", "relevant retrieved"],
  ["positive_imputed", "relevant not retrieved"],
];

function runsTable() {
  const columns = RUN_COLUMNS.filter(([key]) => D.manifest.runs.some((run) => run[key] !== undefined));
  return table({
    caption: "The runs, and what was read from each",
    head: h(
      "tr",
      null,
      th("run"),
      columns.map(([, text]) => th(text, { class: "num" })),
    ),
    rows: D.manifest.runs,
    row: (run) =>
      h(
        "tr",
        null,
        rowHead(name(run.name ?? "")),
        columns.map(([key]) => num(run[key] == null ? NONE : grouped(run[key]))),
      ),
    first: 30,
  });
}

export function drawEvaluated() {
  const { qrels, notes } = D.manifest;
  const relevant = D.relevant.reduce((sum, documents) => sum + documents.length, 0);
  const depth = D.retrieved.length ? Math.max(...D.retrieved.map((each) => (each ? Math.max(0, ...each) : 0))) : 0;
  const placed = D.manifest.conventions.count === "units" ? "place" : "document";
  const facts = [
    fact(grouped(D.runs.length), D.runs.length === 1 ? "run" : "runs"),
    fact(grouped(D.queries.length), `${D.queries.length === 1 ? "query" : "queries"} with a relevant ${thing()}`),
    fact(
      grouped(relevant),
      `relevant ${thing()}s, ${(relevant / Math.max(D.queries.length, 1)).toFixed(1)} per query`,
    ),
    qrels.judged != null && fact(grouped(qrels.judged), qrels.judged_ids === "units" ? "judged units" : "judged documents"),
    depth > 0 && fact(grouped(depth), `${placed}${depth === 1 ? "" : "s"} in the longest ranking`),
  ];
  const remarks = [...notes.map((each) => each.text), ...D.left_out];
  put(
    sections.get("evaluated").body,
    headlineOf(),
    D.serving && unitSentence(),
    h("div", { class: "facts" }, facts),
    remarks.length
      ? h(
          "div",
          { class: "remarks" },
          h("h3", null, "Left out, ignored or imputed"),
          h(
            "ul",
            null,
            remarks.map((text) => h("li", null, visible(text))),
          ),
        )
      : note(`Nothing was left out: every judged query has a relevant ${thing()}, and every run answers every query.`),
    h(
      "details",
      { class: "folded" },
      h("summary", null, "Conventions", qrels.name ? [" · judgments: ", name(qrels.name)] : ""),
      h(
        "dl",
        { class: "conventions" },
        conventionRows().map(([title, words]) => h("div", null, h("dt", null, `${title}: `), h("dd", null, words))),
      ),
    ),
    D.manifest.runs.length > 0 && h("details", null, h("summary", null, "What was read from each run"), runsTable()),
  );
}

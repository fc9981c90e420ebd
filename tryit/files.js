/** Files: those that were dropped or chosen, and which of them holds the judgments. */

import { byId, h, name, put } from "../src/lexirecall/page/assets/elements.js";
import { ask, give } from "./python.js";

/** @type {{ qrels: string, runs: string[] }} */
export const chosen = { qrels: "", runs: [] };
/** @type {() => void} */
let changed = () => {};
/** @type {(work: Promise<any>, doing: string) => Promise<any>} */
let during = (work) => work;

/**
 * @param {() => void} onChange is called when other files are to be evaluated
 * @param {(work: Promise<any>, doing: string) => Promise<any>} shown shows work while it is done
 */
export function startFiles(onChange, shown) {
  [changed, during] = [onChange, shown];
  const drop = byId("drop");
  const choose = byId("choose");
  choose.onchange = () => take([...choose.files]).then(() => (choose.value = ""));
  byId("sample").onclick = async () => settle(await during(ask("sample"), "Simulating a collection"));
  for (const [kind, isOver] of /** @type {[string, boolean][]} */ ([
    ["dragover", true],
    ["dragleave", false],
    ["drop", false],
  ])) {
    document.addEventListener(kind, (event) => {
      event.preventDefault(); // anywhere on the page: a file that misses the field must not replace it
      drop.classList.toggle("over", isOver);
    });
  }
  document.addEventListener("drop", (event) => take([...event.dataTransfer.files]));
}

/**
 * Give files to Python, beside those that it has.
 * @param {File[]} files
 */
async function take(files) {
  if (!files.length) return;
  const names = files.map((file) => file.name);
  const before = [chosen.qrels, ...chosen.runs].filter((each) => each && !names.includes(each));
  await during(Promise.all(files.map(give)), "Reading files");
  if (before.length && before.includes(chosen.qrels))
    settle({ qrels: chosen.qrels, runs: [...chosen.runs.filter((run) => !names.includes(run)), ...names] });
  else settle(await during(ask("roles", { files: [...before, ...names] }), "Reading files"));
}

/** @param {{ qrels: string, runs: string[] }} found */
function settle({ qrels, runs }) {
  Object.assign(chosen, { qrels, runs });
  show();
  changed();
}

/**
 * Let another file hold the judgments; the one that did is then a run.
 * @param {string} qrels
 */
export function judge(qrels) {
  const runs = [chosen.qrels, ...chosen.runs].filter((each) => each && each !== qrels);
  settle({ qrels, runs });
}

/** @param {string} gone */
function remove(gone) {
  const runs = chosen.runs.filter((run) => run !== gone);
  settle({ qrels: chosen.qrels === gone ? "" : chosen.qrels, runs });
}

function show() {
  const names = [chosen.qrels, ...chosen.runs].filter(Boolean);
  const item = (file) => {
    const isJudged = file === chosen.qrels;
    const radio = h("input", { type: "radio", name: "qrels", checked: isJudged, onchange: () => judge(file) });
    const label = h("label", null, radio, " judgments");
    const button = h(
      "button",
      { type: "button", class: "plain", "aria-label": `Remove ${file}`, onclick: () => remove(file) },
      "✕",
    );
    return h("li", { class: isJudged ? "judged" : "" }, name(file, 40), label, button);
  };
  put(byId("files"), names.map(item));
}

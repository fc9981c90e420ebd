/** The measures: how often they tie, and how often LexiRecall takes their side. */

import { NONE, percent } from "./text.js";
import { h, name, note, num, put, rowHead, table, th } from "./elements.js";
import { D, indices } from "./data.js";
import { sections } from "./state.js";
import { alone } from "./links.js";
import { placeDrawing } from "./charts.js";

/** @param {HTMLElement} body */
export function setUpMeasures(body) {
  const [ties, agreement, space, words] = [h("div"), h("div"), h("div"), h("div")];
  const panel = (title, element) => h("div", null, h("h3", null, title), element);
  body.append(
    words,
    h(
      "div",
      { class: "columns three" },
      space,
      panel("Tied comparisons", ties),
      panel("LexiRecall takes the same side", agreement),
    ),
  );
  return { ties, agreement, space, words };
}

export function drawMeasures() {
  const { ties, agreement, space, words } = sections.get("measures").parts;
  if (!D.study.length) {
    ties.parentElement.hidden = agreement.parentElement.hidden = true;
    return put(space, alone());
  }
  put(
    words,
    note(
      "For every pair of runs on every query: how often a measure cannot tell the two rankings apart and, where it can, how often LexiRecall takes the same side. Chance is 50 %. A measure that often ties decides little. One that rarely agrees with LexiRecall answers a different question from whether everything is found.",
    ),
  );
  put(
    space,
    table({
      caption: "Ties and agreement with LexiRecall",
      head: h(
        "tr",
        null,
        th("measure"),
        th("tied", { class: "num" }),
        th("LexiRecall sides with it", { class: "num" }),
      ),
      rows: D.study,
      row: (row) =>
        h(
          "tr",
          null,
          rowHead(name(row.measure)),
          num(percent(row.tied)),
          num(row.agreement == null ? NONE : percent(row.agreement)),
        ),
      first: 50,
    }),
  );
  const everyone = indices(D.runs.length);
  ties.parentElement.hidden = !placeDrawing(ties, "ties", "tied comparisons", everyone);
  agreement.parentElement.hidden = !placeDrawing(agreement, "agreement", "agreement with lexirecall", everyone);
}

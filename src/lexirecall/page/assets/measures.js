/** The measures: how often they tie, and how often LexiRecall takes their side. */

import { NONE, cut, percent } from "./text.js";
import { h, name, note, num, put, rowHead, table, th } from "./elements.js";
import { D } from "./data.js";
import { sections } from "./state.js";
import { alone } from "./links.js";
import { chart, uniqueKeys } from "./charts.js";

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

function studyBars(element, title, field) {
  const keys = uniqueKeys();
  const rows = D.study
    .filter((row) => row[field] != null)
    .map((row) => ({ measure: keys(cut(row.measure, 30)), value: row[field], text: percent(row[field]) }));
  element.parentElement.hidden = !rows.length;
  if (!rows.length) return;
  const y = { field: "measure", type: "nominal", sort: null, title: null };
  const x = {
    field: "value",
    type: "quantitative",
    scale: { domain: [0, 1] },
    axis: { format: "%", title, tickCount: 5 },
  };
  const layer = [
    { mark: { type: "bar", color: "var(--series-0)", size: 14 }, encoding: { x, y } },
    { mark: { type: "text", align: "left", dx: 4 }, encoding: { x, y, text: { field: "text" } } },
  ];
  if (field === "agreement")
    layer.unshift({
      mark: { type: "rule", color: "var(--muted)", strokeDash: [4, 3] },
      encoding: { x: { datum: 0.5 } },
    });
  chart(element, `${title}: ${rows.map((row) => `${row.measure} ${row.text}`).join(", ")}`, {
    data: { values: rows },
    height: 26 * rows.length,
    layer,
  });
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
      "Over every two systems and every request: how often a measure cannot tell the two rankings apart, and, where it can, how often LexiRecall takes the same side. Chance is 50 %. A measure that ties often decides little; one that sides with LexiRecall rarely asks another question than whether everything is found.",
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
  studyBars(ties, "share of comparisons that are tied", "tied");
  studyBars(agreement, "share of its decisions", "agreement");
}

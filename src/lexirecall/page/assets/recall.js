/** Recall by depth: how much is found when one has read so deep. */

import { NONE, cut, grouped, percent } from "./text.js";
import { h, note, num, put, rowHead, table, th } from "./elements.js";
import { D } from "./data.js";
import { sections, shown } from "./state.js";
import { system } from "./links.js";
import { DASHES, SERIES, chart } from "./charts.js";

export function setUpRecall(body) {
  const [lines, space] = [h("div"), h("div")];
  body.append(
    note(
      "How much of what is relevant has been found when one has read so deep: the mean over requests of the share found.",
    ),
    h("div", { class: "columns wide-first" }, lines, space),
  );
  return { lines, space };
}

export function drawRecall() {
  const { lines, space } = sections.get("recall").parts;
  const { depths, mean } = D.recall;
  const systems = shown.systems.filter((s) => mean[s]);
  const coloured = systems.slice(0, SERIES.length);
  const label = (s) => `${D.labels[s]} ${cut(D.systems[s], 22)}`;
  const rows = (some) =>
    some
      .flatMap((s) =>
        depths.map((depth, i) => ({
          s,
          depth,
          recall: mean[s][i],
          system: label(s),
          tip: `${cut(D.systems[s], 40)}: ${percent(mean[s][i])} within ${grouped(depth)}`,
        })),
      )
      .filter((row) => row.recall != null);
  lines.hidden = !systems.length;
  if (!systems.length) return put(space, note("No system matches the filter."));
  const at = {
    x: {
      field: "depth",
      type: "quantitative",
      scale: { type: "log" },
      axis: {
        title: "depth",
        format: ",d",
        values: depths.filter((depth) => /^10*$/.test(String(depth))),
        grid: true,
      },
    },
    y: {
      field: "recall",
      type: "quantitative",
      scale: { domain: [0, 1] },
      axis: { title: "share of the relevant documents found", format: "%", tickCount: 5 },
    },
  };
  const names = coloured.map(label);
  const key = { field: "system", type: "nominal", sort: null };
  const isNarrow = lines.clientWidth < 560;
  const legend = {
    title: null,
    orient: isNarrow ? "bottom" : "right",
    columns: isNarrow ? 2 : 1,
    symbolType: "stroke",
    symbolSize: 300,
    symbolStrokeWidth: 2.5,
  };
  const encoding = {
    ...at,
    color: { ...key, scale: { domain: names, range: SERIES.slice(0, names.length) }, legend },
    strokeDash: { ...key, scale: { domain: names, range: DASHES.slice(0, names.length) }, legend },
  };
  const layer = [
    { data: { values: rows(coloured) }, mark: { type: "line", strokeWidth: 2, clip: true }, encoding },
    {
      data: { values: rows(coloured) },
      mark: { type: "point", filled: true, size: 40, tooltip: true },
      encoding: { ...at, color: encoding.color, tooltip: { field: "tip", type: "nominal" } },
    },
  ];
  if (systems.length > coloured.length)
    layer.unshift({
      data: { values: rows(systems.slice(SERIES.length)) },
      mark: { type: "line", strokeWidth: 1, color: "var(--muted)", opacity: 0.35, tooltip: true },
      encoding: { ...at, detail: { field: "s" } },
    });
  const last = systems.slice(0, 10).map((s) => `${cut(D.systems[s], 30)} ${percent(mean[s].at(-1))}`);
  chart(lines, `Mean recall by depth. At depth ${grouped(depths.at(-1))}: ${last.join(", ")}`, {
    height: 320,
    layer,
  });
  put(
    space,
    depthTable(systems),
    systems.length > coloured.length
      ? note(
          `In colour: the first ${coloured.length} of the systems shown; the other ${systems.length - coloured.length} in grey. Filter the systems to see others.`,
        )
      : "",
  );
}

function depthTable(systems) {
  const needs = D.depth_needed;
  const cell = ({ median, reached }, s) =>
    num(
      median[s] == null ? NONE : grouped(median[s]),
      " ",
      h("span", { class: "small" }, `(${percent(reached[s], 0)})`),
    );
  const row = (s) =>
    h(
      "tr",
      null,
      rowHead(system(s, 24)),
      needs.map((need) => cell(need, s)),
    );
  const head = h(
    "tr",
    null,
    th("system"),
    needs.map((need) => th(`for ${percent(need.recall, 0)} recall`, { class: "num" })),
  );
  return table({
    caption: `Depth needed: the median over requests (${NONE} where half of the rankings end before), in brackets the share of requests in which it is reached`,
    head,
    rows: systems,
    row,
    first: 20,
  });
}

/** Headline: what readers should know. The parts of a sentence are text, or name a run, a query or a measure. */

import { cut } from "./text.js";
import { h, name } from "./elements.js";
import { D } from "./data.js";

/**
 * One part of a sentence; names from the data are isolated.
 * @param {import('./data.js').Payload['headline'][0][0]} part
 */
function partOf(part) {
  if (part.run !== undefined) return name(D.runs[part.run]);
  if (part.query !== undefined) return name(D.queries[part.query]);
  if (part.measure !== undefined) return h("strong", null, cut(D.measures[part.measure].name));
  return part.text;
}

/** The headline, as nodes; no nodes if there is nothing to say. */
export function headlineOf() {
  const sentences = (D.headline ?? []).map((parts) => [...parts.map(partOf), " "]);
  return sentences.length ? [h("p", { class: "headline" }, sentences)] : [];
}

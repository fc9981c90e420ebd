/** Headline: what a reader should know, from sentences whose parts are text or name a system, request or measure. */

import { cut } from "./text.js";
import { h, name } from "./elements.js";
import { D } from "./data.js";

/**
 * One part of a sentence; what the data name enters as an isolated name.
 * @param {import('./data.js').Payload['headline'][0][0]} part
 */
function partOf(part) {
  if (part.system !== undefined) return name(D.systems[part.system]);
  if (part.request !== undefined) return name(D.requests[part.request]);
  if (part.measure !== undefined) return h("strong", null, cut(D.measures[part.measure].name));
  return part.text;
}

/** The headline, as nodes; none where there is nothing to say. */
export function headlineOf() {
  const sentences = (D.headline ?? []).map((parts) => [...parts.map(partOf), " "]);
  return sentences.length ? [h("p", { class: "headline" }, sentences)] : [];
}

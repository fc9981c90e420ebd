/** Words: the texts of queries and documents, beside their ids, if the page has them. */

import { NONE, cut } from "./text.js";
import { h, td, th } from "./elements.js";
import { D } from "./data.js";

/**
 * A text from the data, isolated: its writing direction does not affect its neighbours.
 * @param {string} text
 */
const bareText = (text) => h("bdi", { class: "text" }, cut(text, 300));

/**
 * The text of a query; undefined if there is none.
 * @param {number} q
 * @returns {string | undefined}
 */
export const queryText = (q) => D.texts?.words[D.texts.queries[q]];

/**
 * The text of a document of a query; undefined if there is none. If units must be found, it is one of those that
 * serve them.
 * @param {number} q
 * @param {number} document
 * @returns {string | undefined}
 */
export const documentText = (q, document) => D.texts?.words[D.texts.documents[q][document]];

const hasQueries = () => Boolean(D.texts?.queries.some((place) => place >= 0));
const hasDocuments = () => Boolean(D.texts?.documents.some((own) => own.some((place) => place >= 0)));

/** The classes of what is side by side, or one above the other if a table needs the room for texts. */
export const queryColumns = () => `columns even${hasQueries() ? " stacked" : ""}`;
export const documentColumns = () => `columns${hasDocuments() ? " stacked" : ""}`;

/** The heading of a column of queries' texts, if there are any. */
export const queryTextHead = () => hasQueries() && th("text");
/** @param {number} q */
export const queryTextCell = (q) => hasQueries() && textCell(queryText(q));

/** The heading of a column of documents' texts, if there are any. */
export const documentTextHead = () => hasDocuments() && th("text");
/**
 * @param {number} q
 * @param {number} document -1 if there is none
 */
export const documentTextCell = (q, document) => hasDocuments() && textCell(documentText(q, document));

/** @param {string | undefined} text */
export const textCell = (text) => td(text ? bareText(text) : NONE);

/**
 * The text of a query in a line of its own, if there is one.
 * @param {number} q
 */
export function queryWords(q) {
  const text = queryText(q);
  return text && h("p", { class: "query-text" }, bareText(text));
}

/** Payload: what Python computed, as it comes with the page. */

/** @typedef {{ name: string, title: string, formula: string, better: "higher" | "lower", decimals?: number | null,
 *   is_preference: boolean, test: string, correction: string }} Measure */

/** @typedef {(number | null)[]} Column one number for each pair, or each run */
/** @typedef {"mean" | "low" | "high" | "p" | "wins" | "ties" | "losses"} PairColumn */
/** @typedef {"response" | "response_low" | "response_high"} ResponseColumn what HSD compares */
/** @typedef {Record<PairColumn, Column> & { [K in ResponseColumn | "p_raw"]?: Column }} PairColumns */

/**
 * The providers of one run with the least p; `few` are not shown because they have too few queries, `more`
 * because the page would be too long.
 * @typedef {{ provider: number[], exposure: Column, merit: number[], ratio: Column, queries: number[],
 *   p_corrected: Column, low?: Column, high?: Column, ratio_low?: Column, ratio_high?: Column, few: number, more: number }} Provided
 */

/**
 * What Python computed: runs are listed best first, and everything else refers to runs, queries and measures by
 * index. Null stands for what the page does not hold.
 * @typedef {object} Payload
 * @property {string} title
 * @property {string} lexirecall the version
 * @property {string} date
 * @property {{ conventions: Record<string, any>, qrels: { name?: string, judged?: number, unit_map?: string, judged_ids?: string }, runs: Record<string, any>[],
 *   notes: { text: string }[], versions?: Record<string, string>, reader?: string }} manifest
 * @property {number} alpha
 * @property {string[]} runs
 * @property {string[]} labels letters of the runs
 * @property {number[]} ranks
 * @property {number | null} baseline
 * @property {string[]} queries
 * @property {Measure[]} measures
 * @property {(number | null)[][]} means by run and measure
 * @property {{ low: Column[], high: Column[], note: string }} [intervals] of the means, if queries were resampled
 * @property {{ first: number[], ranks: [number, number][], tested?: [number, number][] }} [certainty] of the places
 * @property {{ share: number, means: Column[], sizes: number[][] }} [tail] the mean of each run's own worst queries, and how many these are
 * @property {Breakdown} [breakdown] numbers over queries that were asked for, beside the means
 * @property {string[][]} marks by run and measure
 * @property {number[][] | null} [better_than] by run and measure: how many are significantly worse
 * @property {boolean[][]} best by run and measure
 * @property {((number | null)[] | null)[][]} values by measure, run and query
 * @property {{ a: number[], b: number[], by_measure: PairColumns[] }} pairs
 * @property {string[][]} relevant the documents of each query
 * @property {(number[][] | null)[]} found by run and query: steps between positions, each with its document
 * @property {Serving} [serving] if units must be found: which documents serve them
 * @property {Texts} [texts] of queries and documents, if there are any
 * @property {(number[] | null)[]} retrieved by run and query
 * @property {(number[] | null)[]} absent by run: the queries on which it is not compared with any other
 * @property {{ names: string[], total: number, min_queries: number, measure: string, note: string, runs: Provided[] }}
 *   [providers] if there is a map of them
 * @property {FunnelData} [funnel] the stages of a search, if there is one
 * @property {UnjudgedData} [unjudged] what depends on documents that nobody has judged, if that was asked for
 * @property {RecallCurves & { depths: number[], by_share?: RecallCurves & { shares: number[] } }} recall
 * @property {{ recall: number, median: Column, reached: Column }[]} depth_needed
 * @property {{ measure: string, tied: number | null, agreement: number | null }[]} study
 * @property {string[]} left_out
 * @property {{ text?: string, run?: number, query?: number, measure?: number }[][]} headline sentences of parts
 * @property {([number, number][] | null)[]} groups by measure: first and last places of runs that do not differ
 * @property {number[][]} group_order by measure: the runs from best to worst
 * @property {Record<string, Drawn>} [charts] drawings that do not depend on the reader
 */

/**
 * By run the mean recall at each depth; that of the ideal ranking; and of a random order, if the corpus size is known.
 * @typedef {{ mean: (number[] | null)[], ideal?: number[] | null, random?: number[] }} RecallCurves
 */

/**
 * The numbers of all queries, or of one group, by way of aggregating, run and measure.
 * @typedef {{ group: string | null, queries: number, numbers: Column[][], low?: Column[][], high?: Column[][] }} Part
 */

/**
 * The documents of each query; those of each unit: how many, 1 if it needs all, and the first few as indices; and by
 * run and query the document of each unit found.
 * @typedef {{ documents: string[][], units: number[][][], by: number[][][] }} Serving
 */

/**
 * Texts, each once; which one each query has, and each relevant document of a query or, if units must be found,
 * each document that serves them; -1 for none.
 * @typedef {{ words: string[], queries: number[], documents: number[][] }} Texts
 */

/**
 * A relevant document that is lost, in the way of one of the kinds, or that comes in from elsewhere: the stage (-1 if it
 * was never retrieved) and its places in the list of each; the query as the page has it, -1 if it has not.
 * @typedef {{ query: string, place: number, document: string, stage: number, positions: Column, text?: string,
 *   how?: number }} OnTheWay
 */

/**
 * Stages of a search: what they hand on, what is lost for good by kind, and documents read, distinct and handed on.
 * @typedef {{ noun: string, queries: number, relevant: number, kinds: string[], stages: { name: string, recall: number,
 *   all: number, preference: number | null, better: number | null, worse: number | null, lost: number[], found: number,
 *   entered: number, documents: number[] }[], losses: OnTheWay[], entries: OnTheWay[], totals: number[] }} FunnelData
 */

/**
 * What depends on unjudged documents: sentences; by run the mean, least and most of each measure; pairs; and the order.
 * @typedef {{ sentences: string[], samples: number, measures: string[], runs: { name: string,
 *   retrieved: number, unjudged: number, judged: number, bounds: (number | null)[][] }[], pairs: { a: string, b: string,
 *   measure: string, decided: number, tied: number, safe: number | null, median_flip: number | null,
 *   median_unjudged: number | null, reversals: number | null, same_order: number | null, significant: boolean,
 *   survives: number | null }[], orders: { measure: string, best: string, stays_best: number, tau: number | null,
 *   tau_low: number | null }[], total: number }} UnjudgedData
 */

/**
 * All queries come first among the parts; orders, by way of aggregating and measure, have the groups the worst first.
 * @typedef {{ by: string | null, overs: string[], min_queries: number, parts: Part[], orders: number[][][],
 *   withheld: { groups: number, queries: number }, without: number }} Breakdown
 */

/** @typedef {{ svg: string, section: string, title: string }} Drawn a drawing; the section that shows it at its end, if any */

/**
 * The payload, unpacked from its text.
 * @param {string} text
 * @returns {Promise<Payload>}
 */
export async function unpack(text) {
  const characters = atob(text.trim());
  const packed = new Uint8Array(characters.length);
  for (let i = 0; i < packed.length; i++) packed[i] = characters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).json();
}

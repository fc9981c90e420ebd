/** Data: the payload, and what follows from it for any two runs and any query. */

/** @typedef {import("./payload.js").Payload} Payload */
/** @typedef {import("./payload.js").PairColumn} PairColumn */
/** @typedef {import("./payload.js").PairColumns} PairColumns */
/** @typedef {{ positions: number[], documents: number[] }} Ranking the positions of the relevant documents, best first */
/** @typedef {"found" | "last" | "earlier" | "tie"} Reason */

/**
 * What decides between two runs on a query: the level, 0 for a tie; a sign, 1 if the first is preferred; where
 * each ranks the deciding document, how many each finds, and by how much it is decided.
 * @typedef {{ q: number, level: number, sign: number, reason: Reason, places: number[], found: number[], size: number,
 *   sides: Ranking[] }} Decided
 */

/** @typedef {{ [K in PairColumn]: K extends "wins" | "ties" | "losses" | "mean" ? number : number | null } &
 *   { raw: number | null, response: number | null, response_low: number | null, response_high: number | null }} Compared */

/** @type {Payload} the payload */
export let D;
/** @type {Map<number, number>} the place of each pair among the pairs */
let places;

/**
 * Let the page show these data.
 * @param {Payload} payload
 */
export function setData(payload) {
  D = payload;
  places = new Map(D.pairs.a.map((a, place) => [a * D.runs.length + D.pairs.b[place], place]));
}

/**
 * @param {number} count
 * @returns {number[]}
 */
export const indices = (count) => Array.from({ length: count }, (_, index) => index);

/**
 * Where a run ranks the relevant documents of a query, or null if the page does not hold that.
 * @param {number} s
 * @param {number} q
 * @returns {Ranking | null}
 */
export function ranking(s, q) {
  const packed = D.found[s]?.[q];
  if (!packed) return null;
  const positions = [];
  const documents = [];
  for (let i = 0, position = 0; i < packed.length; i += 2) {
    position += packed[i];
    positions.push(position);
    documents.push(packed[i + 1]);
  }
  return { positions, documents };
}

/** What must be found, in a word. */
export const thing = () => (D.serving ? "unit" : "document");
/** @param {number} q */
export const numRelevant = (q) => D.relevant[q].length;
/** @param {number} s */
export const isHeld = (s) => Boolean(D.found[s]);
/**
 * @param {number} s
 * @param {number} q
 */
export const takesPart = (s, q) => !D.absent[s]?.includes(q);

/**
 * The documents of a query that a ranking does not find.
 * @param {Ranking} own
 * @param {number} q
 * @returns {string[]}
 */
export function missing(own, q) {
  const found = new Set(own.documents);
  return D.relevant[q].filter((_, document) => !found.has(document));
}

/**
 * The documents that one ranking finds and another does not, the deepest first.
 * @param {Ranking} better
 * @param {Ranking} worse
 * @param {number} q
 * @returns {string[]}
 */
export function lacked(better, worse, q) {
  const found = new Set(worse.documents);
  return better.documents
    .filter((document) => !found.has(document))
    .reverse()
    .map((document) => D.relevant[q][document]);
}

/**
 * max {j : p_j != q_j}, what is missing being at infinity; 0 for a tie.
 * @param {number[]} x
 * @param {number[]} y
 * @returns {number}
 */
function decidingLevel(x, y) {
  if (x.length !== y.length) return Math.max(x.length, y.length);
  let level = x.length;
  while (level > 0 && x[level - 1] === y[level - 1]) level--;
  return level;
}

/**
 * The position at a level; what is missing is at infinity.
 * @param {number[]} positions
 * @param {number} level
 * @returns {number}
 */
export const at = (positions, level) => positions[level - 1] ?? Infinity;

/**
 * What decides between two runs on a query; null if the page does not hold both, or they are not compared.
 * @param {number} a
 * @param {number} b
 * @param {number} q
 * @returns {Decided | null}
 */
export function decide(a, b, q) {
  const [x, y] = [ranking(a, q), ranking(b, q)];
  if (!x || !y || !takesPart(a, q) || !takesPart(b, q)) return null;
  const level = decidingLevel(x.positions, y.positions);
  const places = [at(x.positions, level), at(y.positions, level)];
  const sign = level === 0 ? 0 : places[0] < places[1] ? 1 : -1;
  const found = [x.positions.length, y.positions.length];
  const reason = level === 0 ? "tie" : found[0] !== found[1] ? "found" : level === found[0] ? "last" : "earlier";
  const size =
    reason === "found"
      ? Math.abs(found[0] - found[1])
      : reason === "tie"
        ? 0
        : Math.abs(Math.log(places[0] / places[1]));
  return { q, level, sign, reason, places, found, size, sides: [x, y] };
}

/** @type {Record<Reason, string>} what the winner does */
export const REASONS = {
  found: "finds more",
  last: "finds the last one sooner",
  earlier: "finds an earlier one sooner",
  tie: "nothing: they tie",
};

export const REASON_ORDER = /** @type {Reason[]} */ (Object.keys(REASONS));
/**
 * The clearest first.
 * @param {Decided} x
 * @param {Decided} y
 */
export const byWeight = (x, y) => REASON_ORDER.indexOf(x.reason) - REASON_ORDER.indexOf(y.reason) || y.size - x.size;
/**
 * @param {number} x
 * @param {number} y
 */
const bySign = (x, y) => Math.sign(y - x);

/**
 * Preferences that follow from positions alone.
 * @type {Record<string, (x: number[], y: number[], m?: number) => number>}
 */
export const PREFERENCES = {
  LexiRecall: (x, y) => {
    const level = decidingLevel(x, y);
    return level ? bySign(at(x, level), at(y, level)) : 0;
  },
  LexiPrecision: (x, y) => {
    const levels = indices(Math.max(x.length, y.length)).map((i) => i + 1);
    const level = levels.find((j) => at(x, j) !== at(y, j));
    return level ? bySign(at(x, level), at(y, level)) : 0;
  },
  RPP: (x, y, m) => {
    const levels = indices(Math.max(x.length, y.length)).map((i) => i + 1);
    return levels.reduce((sum, j) => sum + (at(x, j) === at(y, j) ? 0 : bySign(at(x, j), at(y, j))), 0) / m;
  },
};

/** @param {number} k */
export const direction = (k) => (D.measures[k].better === "lower" ? -1 : 1);
/** @param {number} k */
export const isHeadToHead = (k) => !D.measures[k].is_preference || Object.hasOwn(PREFERENCES, D.measures[k].name);

/**
 * By how much the first run is better on a query, under a measure; null where that is undefined.
 * @param {number} k
 * @param {number} a
 * @param {number} b
 * @param {number} q
 * @returns {number | null}
 */
export function difference(k, a, b, q) {
  const measure = D.measures[k];
  if (measure.is_preference && isHeadToHead(k)) {
    const decided = decide(a, b, q);
    return decided && PREFERENCES[measure.name](decided.sides[0].positions, decided.sides[1].positions, numRelevant(q));
  }
  const [x, y] = [D.values[k][a]?.[q], D.values[k][b]?.[q]];
  return x == null || y == null ? null : direction(k) * (x - y);
}

/**
 * @param {number} a
 * @param {number} b
 */
const placeOf = (a, b) => places.get(Math.min(a, b) * D.runs.length + Math.max(a, b));

/**
 * What the tests say of two runs under a measure, the first against the second; null if they were not compared.
 * @param {number} k
 * @param {number} a
 * @param {number} b
 * @returns {Compared | null}
 */
export function compared(k, a, b) {
  const place = placeOf(a, b);
  const all = D.pairs.by_measure[k];
  if (place === undefined || !all || all.mean[place] == null) return null;
  const of = (/** @type {keyof PairColumns} */ key) => /** @type {any} */ (all[key]?.[place]);
  const [mean, low, high, p, raw] = [of("mean"), of("low"), of("high"), of("p"), of("p_raw")];
  const [wins, ties, losses] = [of("wins"), of("ties"), of("losses")];
  const [response, response_low, response_high] = [of("response"), of("response_low"), of("response_high")];
  const negative = (/** @type {any} */ value) => (value == null ? null : -value);
  const forth = { mean, low, high, p, raw, wins, ties, losses, response, response_low, response_high };
  const back = {
    mean: -mean,
    low: negative(high),
    high: negative(low),
    wins: losses,
    losses: wins,
    response: negative(response),
    response_low: negative(response_high),
    response_high: negative(response_low),
  };
  return D.pairs.a[place] === a ? forth : { ...forth, ...back };
}

/**
 * @param {Compared} pair
 * @returns {boolean}
 */
export const isSignificant = (pair) => pair.p != null && pair.p < D.alpha;

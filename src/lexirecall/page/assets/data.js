/** Data: the payload, and what follows from it for any two systems and any request. */

export let D; // the payload
let places; // of each pair among the pairs

/** Let the page speak of these data. */
export function setData(payload) {
  D = payload;
  places = new Map(D.pairs.a.map((a, place) => [a * D.systems.length + D.pairs.b[place], place]));
}

export const indices = (count) => Array.from({ length: count }, (_, index) => index);

export async function unpack(text) {
  const characters = atob(text.trim());
  const packed = new Uint8Array(characters.length);
  for (let i = 0; i < packed.length; i++) packed[i] = characters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).json();
}

/** Where the relevant documents of a request stand in a system's ranking, or null if the page does not hold it. */
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

export const numRelevant = (q) => D.relevant[q].length;
export const isHeld = (s) => Boolean(D.found[s]);
export const takesPart = (s, q) => !D.absent[s].includes(q);

export function missing(own, q) {
  const found = new Set(own.documents);
  return D.relevant[q].filter((_, document) => !found.has(document));
}

/** The documents that one ranking finds and another does not, the deepest first. */
export function lacked(better, worse, q) {
  const found = new Set(worse.documents);
  return better.documents
    .filter((document) => !found.has(document))
    .reverse()
    .map((document) => D.relevant[q][document]);
}

/** max {j : p_j != q_j}, what is missing being at infinity; 0 for a tie. */
function decidingLevel(x, y) {
  if (x.length !== y.length) return Math.max(x.length, y.length);
  let level = x.length;
  while (level > 0 && x[level - 1] === y[level - 1]) level--;
  return level;
}

export const at = (positions, level) => positions[level - 1] ?? Infinity;

/** What decides between two systems on a request; null if the page does not hold both, or they are not compared. */
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

export const REASONS = {
  found: "finds more",
  last: "finds the last one sooner",
  earlier: "finds an earlier one sooner",
  tie: "nothing: they tie",
};

export const REASON_ORDER = Object.keys(REASONS);
export const byWeight = (x, y) => REASON_ORDER.indexOf(x.reason) - REASON_ORDER.indexOf(y.reason) || y.size - x.size;
const bySign = (x, y) => Math.sign(y - x);

/** Preferences that follow from positions alone. */
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

export const direction = (k) => (D.measures[k].better === "lower" ? -1 : 1);
export const isHeadToHead = (k) => !D.measures[k].is_preference || Object.hasOwn(PREFERENCES, D.measures[k].name);

/** By how much the first system is better on a request, under a measure; null where that is undefined. */
export function difference(k, a, b, q) {
  const measure = D.measures[k];
  if (measure.is_preference && isHeadToHead(k)) {
    const decided = decide(a, b, q);
    return decided && PREFERENCES[measure.name](decided.sides[0].positions, decided.sides[1].positions, numRelevant(q));
  }
  const [x, y] = [D.values[k][a]?.[q], D.values[k][b]?.[q]];
  return x == null || y == null ? null : direction(k) * (x - y);
}

const placeOf = (a, b) => places.get(Math.min(a, b) * D.systems.length + Math.max(a, b));

/** What the tests say of two systems under a measure, the first against the second; null if they were not compared. */
export function compared(k, a, b) {
  const place = placeOf(a, b);
  const all = D.pairs.by_measure[k];
  if (place === undefined || !all || all.mean[place] == null) return null;
  const columns = ["mean", "low", "high", "p", "p_raw", "wins", "ties", "losses", "tested"];
  const [mean, low, high, p, raw, wins, ties, losses, tested] = columns.map((key) => all[key]?.[place]);
  const negative = (value) => (value == null ? null : -value);
  const isFirst = D.pairs.a[place] === a;
  return isFirst
    ? { mean, low, high, p, raw, wins, ties, losses, tested }
    : {
        mean: negative(mean),
        low: negative(high),
        high: negative(low),
        p,
        raw,
        wins: losses,
        ties,
        losses: wins,
        tested: negative(tested),
      };
}

export const isSignificant = (pair) => pair.p != null && pair.p < D.alpha;

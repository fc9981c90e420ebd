/** Text: how words and numbers are written on the page. */

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu; // control, direction and line marks
/** @type {Record<string, string>} */
const SHORT_ESCAPES = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };
export const NONE = "–";

/**
 * An invisible character, as its code.
 * @param {string} mark
 * @returns {string}
 */
export function escaped(mark) {
  if (Object.hasOwn(SHORT_ESCAPES, mark)) return SHORT_ESCAPES[mark];
  const code = mark.codePointAt(0) ?? 0;
  const [prefix, width] = code < 0x100 ? ["\\x", 2] : code < 0x10000 ? ["\\u", 4] : ["\\U", 8];
  return prefix + code.toString(16).padStart(width, "0");
}

/**
 * Text with its hidden characters shown as codes.
 * @param {string} text
 * @returns {string}
 */
export const visible = (text) => String(text).replace(HIDDEN, escaped);

/**
 * Text as it is shown: without hidden characters, and not too long to read.
 * @param {string} text
 * @param {number} [most] letters
 * @returns {string}
 */
export function cut(text, most = 60) {
  const start = Array.from(visible(String(text).slice(0, 2 * most)));
  return start.length > most || String(text).length > 2 * most
    ? start.slice(0, most - 1).join("") + "…"
    : start.join("");
}

/**
 * @param {number} number
 * @returns {string}
 */
export const grouped = (number) => Math.round(number).toLocaleString("en-US");
/** @param {string} noun */
const plural = (noun) => (noun.endsWith("ry") ? `${noun.slice(0, -1)}ies` : `${noun}s`);
/**
 * @param {number} number
 * @param {string} noun
 * @returns {string}
 */
export const counted = (number, noun) => `${grouped(number)} ${number === 1 ? noun : plural(noun)}`;
/**
 * @param {number | null | undefined} share
 * @param {number} [digits]
 * @returns {string}
 */
export const percent = (share, digits = 1) => (share == null ? NONE : `${(100 * share).toFixed(digits)} %`);

/**
 * A value of a measure, as in the tables of the command line: what would show as a false zero gets an exponent.
 * @param {number | null | undefined} value
 * @param {number} [decimals]
 * @returns {string}
 */
export function number(value, decimals = 4) {
  if (value == null) return NONE;
  if (value !== 0 && Math.abs(value) < 0.5 * 10 ** -decimals) return value.toExponential(1);
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return Math.abs(value) < 1000 ? value.toFixed(decimals) : value.toLocaleString("en-US", digits);
}

/**
 * A value with its sign; `shown` writes its size.
 * @param {number | null | undefined} value
 * @param {(size: number) => string} shown
 * @returns {string}
 */
export const signed = (value, shown) =>
  value == null ? NONE : (value > 0 ? "+" : value < 0 ? "−" : "") + shown(Math.abs(value));

/**
 * @param {number | null | undefined} p
 * @returns {string}
 */
export const probability = (p) => (p == null ? NONE : p < 0.001 ? "< 0.001" : p.toFixed(3));

/**
 * A few digits for a narrow cell.
 * @param {number} value
 * @returns {string}
 */
export function brief(value) {
  const size = Math.abs(value);
  const shown =
    size === 0 || size >= 100
      ? grouped(size)
      : size >= 10
        ? size.toFixed(0)
        : size >= 1
          ? size.toFixed(1)
          : size.toFixed(2).slice(1);
  return (value < 0 ? "−" : value > 0 ? "+" : "") + shown;
}

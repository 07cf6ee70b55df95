// The texts of the pages in the language of the server; English is in the code.
//
// Translations are sent in the page's head (rexview/ui/web/app/page_head.py); for English there are
// none. Every text is written literally where it is used: python -m tools.words collects them by
// reading the source.

/**
 * @typedef {Record<string, string | number>} Values
 * @type {{ language?: string, which?: number[], texts?: Record<string, string[]> }}
 */
const WORDS = read();

function read() {
  const held = globalThis.document?.getElementById("rexview-words")?.textContent;
  const words = held ? JSON.parse(held) : {};
  if (words.language) document.documentElement.lang = words.language;
  return words;
}

/**
 * A text: `tr("No case is left.")`, `tr("{done} of {total}", { done, total })`.
 *
 * @param {string} text
 * @param {Values} [values] replace the names in braces
 */
export function tr(text, values) {
  return filled(WORDS.texts?.[text]?.[0] ?? text, values);
}

/**
 * A text with several meanings in English: `trc("verb", "Open")`.
 *
 * @param {string} context selects the meaning
 * @param {string} text
 * @param {Values} [values]
 */
export function trc(context, text, values) {
  return filled(WORDS.texts?.[`${context}\u0004${text}`]?.[0] ?? text, values);
}

/**
 * The form for a number: `trn("{n} case", "{n} cases", n)`; `n` is inserted, too.
 *
 * @param {string} one
 * @param {string} many
 * @param {number} n
 * @param {Values} [values]
 */
export function trn(one, many, n, values) {
  const forms = WORDS.texts?.[one];
  const whole = Number.isInteger(n) && n >= 0;
  const which = whole ? (WORDS.which?.[n < 200 ? n : 100 + (n % 100)] ?? 0) : -1;
  const text = forms?.at(which) ?? (n === 1 ? one : many);
  return filled(text, { n, ...values });
}

function filled(/** @type {string} */ text, /** @type {Values | undefined} */ values) {
  if (!values) return text;
  return text.replace(/\{(\w+)\}/g, (all, name) =>
    Object.hasOwn(values, name) ? String(values[name]) : all,
  );
}

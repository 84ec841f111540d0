// The one rule for texts in cells of a spreadsheet, for CSV of the API, of the dashboard and of reports. Imports nothing: a browser has it, too.

// A spreadsheet may drop blanks and invisible signs at the beginning, and takes the full-width, small and raised forms of the signs, and
// the minus of mathematics, for the plain ones.
const formula =
  /^(?:[\t\r\n]|[\s\p{Cc}\p{Default_Ignorable_Code_Point}]*[=+\-@\u2212\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u207a-\u207c\u208a-\u208c\ufb29])/u;

/** Quotes a text that a spreadsheet would run as a formula; the spreadsheet hides the quote. */
export function harmless(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

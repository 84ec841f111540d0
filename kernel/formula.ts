// The rule for texts in spreadsheet cells, used for CSV from the API, the dashboard and reports. It imports nothing, so that the dashboard can use
// it.

// A spreadsheet may ignore leading blanks and invisible characters, and treats the full-width, small and superscript forms of the signs, and the
// mathematical minus, like the plain ones.
const formula =
  /^(?:[\t\r\n]|[\s\p{Cc}\p{Default_Ignorable_Code_Point}]*[=+\-@\u2212\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u207a-\u207c\u208a-\u208c\ufb29])/u;

/** Prefixes a quote to a text that a spreadsheet would run as a formula; the spreadsheet does not show the quote. */
export function harmless(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

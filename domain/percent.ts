// The rule of computed percentages: ten significant digits, halves away from zero; docs/transforms.md, "Digits".
// Exact decimals have it in data-api/decimal.ts, PostgreSQL in data.percent_of.

/** How many significant digits a computed percentage has. */
export const percentDigits = 10;

// The rule of computed percentages: ten significant digits, halves away from zero; docs/transforms.md, "Digits".
// Exact decimals have it in data-api/decimal.ts, PostgreSQL in data.percent_of.

/** The number of significant digits of a computed percentage. */
export const percentDigits = 10;

/** Rounds a percentage computed in floating point; null if it is not finite. */
export function percent(value: number): number | null {
  const rounded = Number(value.toPrecision(percentDigits));
  return Number.isFinite(rounded) ? rounded : null;
}

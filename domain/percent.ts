// The rule of computed percentages: ten significant digits, halves away from zero; docs/transforms.md, "Digits".
// Exact decimals have it in data-api/decimal.ts, PostgreSQL in data.percent_of.

/** How many significant digits a computed percentage has. */
export const percentDigits = 10;

/** A percentage that was computed in binary fractions; null where it is no number. */
export function percent(value: number): number | null {
  const rounded = Number(value.toPrecision(percentDigits));
  return Number.isFinite(rounded) ? rounded : null;
}

// Writes durations as text, as they stand in the log and in Server-Timing. Hides that V8 takes longer to write a fraction than a
// whole number: fractions are looked up.

const fractions = Array.from({ length: 1000 }, (_, i) => String(i / 1000).slice(1)); // '', '.001', …, '.999'

/** As `String` writes the number, rounded to thousandths. @param ms not below 0. */
export function thousandths(ms: number): string {
  return decimal(Math.round(ms * 1000));
}

/** The same, rounded to hundredths. */
export function hundredths(ms: number): string {
  return decimal(10 * Math.round(ms * 100));
}

function decimal(count: number): string {
  const whole = Math.floor(count / 1000);
  return `${whole}${fractions[count - 1000 * whole]}`;
}

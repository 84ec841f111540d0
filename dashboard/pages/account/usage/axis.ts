// The value axis of the charts of calls: round steps from zero. Pure.
import { numberText } from '../../../text/numbers.ts';

/** 0 and 3 to 6 steps of 1, 2 or 5 × 10ⁿ, up to the first that is not below `max`. */
export function stepsTo(max: number): number[] {
  if (max <= 0) return [0, 1];
  const rough = max / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10) * power);
  return Array.from({ length: Math.ceil(max / step) + 1 }, (_unused, i) => i * step);
}

/** `20,000`; from a million on `1.5 M`. */
export function stepText(value: number): string {
  return value >= 1_000_000 ? `${numberText(value / 1_000_000)} M` : numberText(value);
}

// Writes a number into JSON with its published digits: 1.50 stays 1.50 and is never converted to a float. Wraps JSON.rawJSON, for which TypeScript
// has no types yet.

declare global {
  interface JSON {
    rawJSON(text: string): Digits;
    isRawJSON(value: unknown): value is Digits;
  }
}

/** JSON.stringify writes it as a number with exactly these digits. */
export interface Digits {
  readonly rawJSON: string;
}

/** @param numeric plain digits as PostgreSQL writes a numeric, or null. */
export function digits(numeric: string | null): Digits | null {
  return numeric === null ? null : JSON.rawJSON(numeric);
}

export function isDigits(value: unknown): value is Digits {
  return JSON.isRawJSON(value);
}

// Shares, sizes and sums of money as people read them.
import { countText, numberText } from './numbers.ts';

/** 0.971 → `97.1 %`. A small positive share is never written as 0, and one that lacks little never as the whole. */
export function shareText(part: number): string {
  if (part > 0 && part < 0.0005) return 'below 0.1 %';
  if (part >= 0.9995 && part < 1) return 'above 99.9 %';
  return `${(part * 100).toLocaleString('en-GB', { maximumFractionDigits: 1 })} %`;
}

const byteUnits = ['kB', 'MB', 'GB'] as const;

/** `812 bytes`, `3.2 MB`: in powers of 1000, with at most one decimal. */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return countText(bytes, 'byte', 'bytes');
  // A value that rounds up to 1000 gets the next unit.
  const [unit, factor] =
    byteUnits.map((name, at) => [name, 1_000 ** (at + 1)] as const).find(([, of]) => bytes / of < 999.95) ??
    (['GB', 1e9] as const);
  return `${numberText(Math.round((bytes / factor) * 10) / 10)} ${unit}`;
}

// The browser's own digits are those of everyday use: none for HUF or IDR, whose amounts at Stripe are in hundredths.
const digitsOfCurrencies: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' ').map((code) => [code, 0]),
  ),
  ...Object.fromEntries('bhd jod kwd omr tnd'.split(' ').map((code) => [code, 3])),
};

/** `$99`, `$99.50`. @param amount in the smallest unit of the currency, as Stripe counts it. */
export function moneyText(amount: number, currency: string): string {
  const digits = digitsOfCurrencies[currency.toLowerCase()] ?? 2;
  const format = new Intl.NumberFormat('en-US', {
    ...{ style: 'currency', currency, trailingZeroDisplay: 'stripIfInteger' },
    ...{ minimumFractionDigits: digits, maximumFractionDigits: digits },
  });
  return format.format(amount / 10 ** digits).replace('-', '−');
}

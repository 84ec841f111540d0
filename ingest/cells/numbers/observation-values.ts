// Parses numbers as published: the digits stay text and never pass through a float.
import { usageError } from '../../failure.ts';

export interface ValueOptions {
  /** The decimal separator of the file, `.` or `,`. */
  decimal?: string;
  /** The thousands separator; default none. */
  thousands?: string;
  /** Texts that mean missing, besides the empty cell. */
  missing?: readonly string[];
}

/** The number in PostgreSQL's format, with its published digits; null if missing; undefined if it is not a number. */
export type ValueReader = (text: string) => string | null | undefined;

const plainNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)$/;
const numberWithExponent = /^[+-]?(?:\d+\.?\d*|\.\d+)[eE][+-]?\d{1,3}$/;
const lengthMax = 100;

/** @throws IngestFailure if the options contradict each other. */
export function valueReader(options: ValueOptions = {}): ValueReader {
  const { decimal = '.', thousands } = options;
  if (decimal !== '.' && decimal !== ',')
    usageError(`The decimal separator must be . or , and not ${decimal}`);
  if (thousands === decimal) usageError('The decimal and the thousands separator cannot be the same.');
  if (thousands !== undefined && !/^[.,' _]$/.test(thousands))
    usageError(`The thousands separator must be one of . , ' _ or a space, and not "${thousands}".`);
  const missing =
    options.missing === undefined || options.missing.length === 0 ? null : new Set(options.missing);
  const group =
    thousands === undefined
      ? null
      : { sign: groupSign(thousands), number: groupedNumber(decimal, thousands) };

  return (text) => {
    let number = text;
    if (number === '' || missing?.has(number) === true) return null;
    // The typographic minus sign, U+2212, has no other meaning.
    if (number.charCodeAt(0) === 0x2212) number = `-${number.slice(1)}`;
    if (group !== null && group.number.test(number)) number = number.replaceAll(group.sign, '');
    if (decimal === ',') {
      if (number.includes('.')) return undefined;
      number = number.replace(',', '.');
    }
    if (number.length > lengthMax) return undefined;
    if (plainNumber.test(number)) return number;
    // Clients cannot read numbers beyond the range of a double: 1e999 is a typing error, not a measurement.
    return numberWithExponent.test(number) && fitsDouble(number) ? number : undefined;
  };
}

/** A space as separator may be a plain space, a no-break space or a narrow no-break space. */
function groupSign(thousands: string): RegExp {
  return thousands === ' ' ? /[ \u00a0\u202f]/g : new RegExp(`[${thousands}]`, 'g');
}

function groupedNumber(decimal: string, thousands: string): RegExp {
  return new RegExp(`^[+-]?\\d{1,3}(?:${groupSign(thousands).source}\\d{3})+(?:[${decimal}]\\d*)?$`);
}

function fitsDouble(number: string): boolean {
  const value = Number(number);
  return Number.isFinite(value) && (value !== 0 || /^[^eE]*$|^[+-]?[0.]+[eE]/.test(number));
}

/** Text that may be a factor: a plain number other than zero. */
export const isFactor = (text: string): boolean =>
  plainNumber.test(text) && Number(text) !== 0 && text.length <= 40;

/** A parsed number, times the factor if there is one; undefined if it exceeds the range of a double. */
export function scaled(
  number: string | null | undefined,
  factor: string | undefined,
): string | null | undefined {
  if (number === null || number === undefined || factor === undefined) return number;
  const product = multiplied(number, factor);
  return Number.isFinite(Number(product)) ? product : undefined;
}

/** Reads numbers as a load does: by the options, and times the factor if there is one. */
export function scaledReader(options: ValueOptions, factor: string | undefined): ValueReader {
  const read = valueReader(options);
  return factor === undefined ? read : (text) => scaled(read(text), factor);
}

/** The exact product: `1.5` by `1000000` is `1500000`. Trailing zeros of the decimals are dropped. */
function multiplied(number: string, factor: string): string {
  const [a, b] = [digitsOf(number), digitsOf(factor)];
  const digits = a.digits * b.digits * 10n ** BigInt(Math.max(0, -(a.decimals + b.decimals)));
  const decimals = Math.max(0, a.decimals + b.decimals);
  const text = String(digits < 0n ? -digits : digits).padStart(decimals + 1, '0');
  const whole = text.slice(0, text.length - decimals);
  const fraction = text.slice(text.length - decimals).replace(/0+$/, '');
  return `${digits < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** digits · 10^−decimals */
function digitsOf(number: string): { digits: bigint; decimals: number } {
  const [mantissa = '', exponent = '0'] = number.replace(/^[+]/, '').toLowerCase().split('e');
  const [whole = '', part = ''] = mantissa.split('.');
  return { digits: BigInt(`${whole}${part}`.replace(/^-$/, '-0')), decimals: part.length - Number(exponent) };
}

/** What a value cell must contain, for the message. */
export function expectedValue(text: string, options: ValueOptions): string {
  const example = options.decimal === ',' ? '1234,5' : '1234.5';
  const missingPattern = /^(?:nan|n\/?a|#n\/a|null|none|nil|-+|\.+|\*+)$/i;
  if (missingPattern.test(text))
    return `a number such as ${example}, or --missing "${text}" if it means missing`;
  if (/^[+-]?\d{1,3}(?:[,.' ]\d{3})+/.test(text) && options.thousands === undefined)
    return `a number such as ${example}; for digits in groups of three, set the separator with --thousands`;
  return `a number such as ${example}, or an empty cell for missing`;
}

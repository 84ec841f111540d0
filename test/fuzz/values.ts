// Values of parameters and fields, drawn from their schemas in the OpenAPI document: valid, close to valid, and hostile.
// Hides which texts have broken parsers, databases and searches.
import type { Random } from '../chaos/random.ts';

/** The part of a JSON schema that the document uses. */
export interface Schema {
  type?: string;
  enum?: readonly unknown[];
  const?: unknown;
  examples?: readonly unknown[];
  format?: string;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  anyOf?: readonly Schema[];
}

const dates = [
  ...[
    '2024',
    '2024-03',
    '2024-Q1',
    '2024-H2',
    '2024-03-31',
    '2024-02-29',
    '2023-12-31',
    '2026-11-22',
    '2199-01-01',
  ],
  ...[
    '0001',
    '0001-01',
    '0001-01-01',
    '0001-01-07',
    '0002-02-28',
    '0003-01-01',
    '9999',
    '9999-12',
    '9999-12-31',
  ],
];
const noDates = [
  '2024-02-30',
  '2024-13',
  '2024-Q5',
  '0000',
  '0000-01-01',
  '10000-01-01',
  '-0001-01-01',
  '20240331',
  '2024-3-1',
  '2024-03-31T00:00:00Z',
  'today',
];
const noNumbers = [
  '',
  '-1',
  '-0',
  '+1',
  '0',
  '1e3',
  '1.5',
  '0x10',
  ' 1',
  '1 ',
  '٣',
  '１',
  'NaN',
  'Infinity',
  '1e309',
  '99999999999999999999',
  '9007199254740993',
  '2147483648',
  '-9223372036854775809',
];
const noBooleans = ['', 'TRUE', '1', '0', 'yes', 'null'];

const texts = [
  ...[
    '',
    ' ',
    'a',
    'CPI',
    'prices',
    'Alpha',
    'rice',
    'Lahore',
    '*',
    'x'.repeat(2_000),
    'x'.repeat(2_001),
    'x'.repeat(5_000),
  ],
  ...[
    "'",
    '"',
    '\\',
    '`',
    ';',
    "' or 1=1 --",
    "'; drop table data.series; --",
    '$1',
    '$$',
    ':name',
    '${x}',
    '{{x}}',
    '<script>',
  ],
  ...[
    '%',
    '_',
    '%_%',
    '\\%',
    '(a+)+$',
    '[',
    '(',
    '.*',
    '^$',
    'a & | ! b',
    ':*',
    '<->',
    '&',
    '|',
    '!',
    'a:*b',
    '()',
    "a'b:c",
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'null',
    'undefined',
    'true',
    '{}',
    '[]',
    '{"a":1}',
    '-',
    '--',
    '.',
  ],
  ...[
    'é',
    'ß',
    'İ',
    'ı',
    'ﬀ',
    '漢字',
    '🎉',
    '👩‍👩‍👧‍👦',
    'a\u0301'.repeat(300),
    '\u200b',
    '\ufeff',
    '\u202e',
    '\u00a0',
    '\uffff',
    '\ufffd',
    '١٢٣',
    '＝1',
  ],
  ...[
    'a\tb',
    'a\nb',
    'a\r\nb',
    '\u0001',
    '\u007f',
    '\u0085',
    '../..',
    '/etc/passwd',
    'http://127.0.0.1/',
    'a,b,c',
    'a:b',
    'a|b',
    ',',
    ',,,',
    ':',
  ],
  ...[
    'side:buy',
    'side:',
    ':buy',
    'side:buy|',
    'side:buy,side:sell',
    'city:Lahore',
    'a='.repeat(500),
    ','.repeat(1_000),
    '🎉'.repeat(900),
  ],
];

/** Parts of a query that no encoder would write. */
export const rawTexts = [
  '%',
  '%0',
  '%zz',
  '%00',
  '%ED%A0%80',
  '%C0%AF',
  '%FF',
  '%u0041',
  '+',
  '%2B',
  '%26',
  '%3D',
  '=',
  '==',
  '%0d%0aX:y',
  '%E2%80%AE',
  ';',
  '?',
  '%25%32%66',
  '"',
  '|',
  '<>',
  '{}',
  '^',
  '`',
];

/** A hostile text. */
export function hostileText(random: Random): string {
  return random.below(4) === 0 ? random.pick(texts) + random.pick(texts) : random.pick(texts);
}

/** The text of a parameter. @param known values that are known to be valid. */
export function parameterText(random: Random, schema: Schema, known: readonly string[]): string {
  const kind = random.below(10);
  if (kind < 5 && known.length > 0) return random.pick(known);
  if (kind === 9) return hostileText(random);
  if (schema.enum !== undefined) return nearly(random, String(random.pick(schema.enum)));
  if (schema.examples?.some((example) => /^\d{4}/.test(String(example))) || schema.format === 'date')
    return random.below(4) === 0 ? random.pick(noDates) : random.pick(dates);
  switch (schema.type) {
    case 'integer':
    case 'number':
      return random.below(3) === 0 ? random.pick(noNumbers) : String(numberIn(random, schema));
    case 'boolean':
      return random.below(4) === 0 ? random.pick(noBooleans) : random.pick(['true', 'false']);
    case 'array':
      return Array.from({ length: random.pick([1, 1, 2, 3, 20, 101]) }, () =>
        parameterText(random, schema.items ?? {}, known),
      ).join(',');
    default:
      return known.length > 0 ? nearly(random, random.pick(known)) : hostileText(random);
  }
}

/** The text, or one that is close to it. */
function nearly(random: Random, text: string): string {
  switch (random.below(8)) {
    case 0:
      return text.toUpperCase();
    case 1:
      return `${text} `;
    case 2:
      return `-${text}`;
    case 3:
      return text.slice(1);
    default:
      return text;
  }
}

function numberIn(random: Random, { minimum = 0, maximum = 1_000 }: Schema): number {
  return random.pick([
    minimum,
    maximum,
    minimum - 1,
    maximum + 1,
    random.between(minimum, Math.min(maximum, minimum + 50)),
  ]);
}

/** A value of a body's field. @param own the account's own values, by name of the field. */
export function fieldValue(
  random: Random,
  schema: Schema,
  own: Readonly<Record<string, string>>,
  name = '',
): unknown {
  if (random.below(12) === 0)
    return random.pick<unknown>([null, 0, -1, 1e308, true, '', [], {}, [[]], hostileText(random)]);
  if (Object.hasOwn(own, name) && random.below(2) === 0) return own[name];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return random.pick(schema.enum);
  if (schema.anyOf !== undefined) return fieldValue(random, random.pick(schema.anyOf), own, name);
  switch (schema.type) {
    case 'object':
      return Object.fromEntries([
        ...Object.entries(schema.properties ?? {})
          .filter(() => random.below(6) > 0)
          .map(([field, of]) => [field, fieldValue(random, of, own, field)]),
        ...(random.below(8) === 0 ? [[hostileText(random), 1]] : []),
      ]);
    case 'array':
      return Array.from({ length: random.below(5) }, () => fieldValue(random, schema.items ?? {}, own));
    case 'boolean':
      return random.below(2) === 0;
    case 'integer':
    case 'number':
      return numberIn(random, schema);
    case 'null':
      return null;
    default:
      return schema.format === 'date-time'
        ? random.pick([
            '2027-01-01T00:00:00Z',
            '9999-12-31T23:59:59Z',
            '0001-01-01T00:00:00Z',
            '2024-02-30T00:00:00Z',
          ])
        : hostileText(random);
  }
}

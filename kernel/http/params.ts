// Parses query strings and JSON bodies into typed values, by one schema each. An invalid value becomes a 400 that names the parameter, the allowed
// values, and the nearest known name. If the OpenAPI document describes a text parameter as a number, a boolean or an array, its schema uses `meta({
// override })`.
import { z } from 'zod';
import { fail, refuseParam, refuseField } from '../errors.ts';
import { isDate, parsePeriod, type DateRange } from '../dates.ts';
import { counted } from '../text/counted.ts';
import { editDistance } from '../text/edit-distance.ts';

/** The maximum length in characters; a schema may allow more by `.meta({ lengthMax })`. */
const valueLengthMax = 2_000;

const dateRule = 'must be a date, YYYY-MM-DD, that exists';
export const periodRule =
  'must be a date that exists, YYYY-MM-DD, or a period: 2024, 2024-H1, 2024-Q1, 2024-03';

/** An existing day. */
export const dateParam = z
  .string()
  .refine(isDate, dateRule)
  .meta({ override: { type: 'string', format: 'date' } });

/** A day or a whole period (`2024`, `2024-03`, `2024-Q1`), as the days it covers. */
export const periodParam = readParam(parsePeriod, periodRule).meta({
  override: { type: 'string', examples: ['2024-03-31', '2024-03', '2024-Q1', '2024-H1', '2024'] },
});

/** `from` and `to`, each a day or a period. */
export const windowParams = {
  from: periodParam
    .optional()
    .describe('The first day, or a period that begins with it: `2024`, `2024-H1`, `2024-Q1`, `2024-03`.'),
  to: periodParam.optional().describe('The last day, or a period that ends with it.'),
};

/** The requested days, both inclusive; undefined for an open end. @throws Failure if `from` is after `to`. */
export function windowOf(asked: { from?: DateRange | undefined; to?: DateRange | undefined }) {
  const window = { from: asked.from?.from, to: asked.to?.to };
  if (window.from !== undefined && window.to !== undefined && window.from > window.to)
    refuseParam('from', '"from" must not be after "to".');
  return window;
}

/** A whole number in a range. */
export const integerParam = (least: number, most: number) =>
  z
    .string()
    .regex(/^-?\d{1,15}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((n) => n >= least && n <= most, `must be a whole number from ${least} to ${most}`)
    .meta({ override: { type: 'integer', pattern: undefined, minimum: least, maximum: most } });

/** One of the given words. */
export const oneOfParam = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, { error: `must be one of ${words.join(', ')}` });

/** Some of the given words, separated by commas; returned in the order of `words`. */
export const someOfParam = <const Word extends string>(words: readonly Word[]) =>
  z
    .string()
    .transform((text): readonly string[] => text.split(','))
    .refine(
      (asked) => asked.every((word) => (words as readonly string[]).includes(word)),
      `must be one or more of ${words.join(', ')}, separated by commas`,
    )
    .transform((asked): readonly Word[] => words.filter((word) => asked.includes(word)))
    .meta({ override: { type: 'array', items: { type: 'string', enum: [...words] }, 'x-separator': ',' } });

/** Distinct ids, separated by commas. @param what they identify, for the message. */
export const idsParam = (what: string, most: number) =>
  z
    .string()
    .transform((text) => text.split(','))
    .refine(
      (ids) => ids.length <= most && new Set(ids).size === ids.length && !ids.includes(''),
      `must be 1 to ${most} different ${what} ids, separated by commas`,
    )
    .meta({
      override: {
        type: 'array',
        items: { type: 'string' },
        minItems: 1,
        maxItems: most,
        uniqueItems: true,
        'x-separator': ',',
      },
    });

/** The most values that a filter accepts. */
const valuesMax = 100;

/**
 * Several comma-separated values, each parsed like the parameter of one value. Within double quotes, a comma is part of the value, and a quote is
 * doubled. If the whole text with its commas is a valid value, it is included too.
 */
export function severalParam<Item extends z.ZodType>(item: Item) {
  const rule = `must be 1 to ${valuesMax} values, separated by commas`;
  const { $schema: _, override, description, ...kind } = z.toJSONSchema(item, { io: 'input' });
  const items = { type: 'string', ...kind, ...(override as object | undefined) } as { type: 'string' };
  const about = description === undefined ? {} : { description };
  return z
    .string()
    .transform((text, context): readonly z.output<Item>[] => {
      const parts = partsOf(text);
      const read = parts.map((part) => item.safeParse(part));
      const wrong = read.find(({ success }) => !success)?.error?.issues[0];
      if (wrong !== undefined) context.issues.push({ ...wrong, input: text } as z.core.$ZodRawIssue);
      else if (parts.includes('') || parts.length > valuesMax)
        context.issues.push({ code: 'custom', input: text, message: rule });
      const whole = parts.length > 1 ? [item.safeParse(text)] : [];
      return [...new Set([...read, ...whole].flatMap(({ success, data }) => (success ? [data] : [])))];
    })
    .meta({ ...about, override: { type: 'array', items, 'x-separator': ',' } });
}

/** Splits a text at its commas. */
function partsOf(text: string): string[] {
  const parts = [...`${text},`.matchAll(/("(?:[^"]|"")*"|[^,]*),/g)].map(([, part = '']) => part);
  return parts.map((part) => {
    const value = parts.length > 1 ? part.trim() : part;
    return /^".+"$/.test(value) ? value.slice(1, -1).replaceAll('""', '"') : value;
  });
}

/** The text of several values that `severalParam` reads: one is quoted if a comma or a quote of its own would divide it. */
export const severalText = (values: readonly string[]): string =>
  values.map((value) => (/[",]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join();

/** `true` or `false`. */
export const booleanParam = oneOfParam(['true', 'false'])
  .transform((word) => word === 'true')
  .meta({ override: { type: 'boolean', enum: undefined } });

/** `true` or `false`, with a default. */
export const flagParam = (byDefault: boolean) =>
  booleanParam.default(byDefault).meta({ override: { default: byDefault } });

/** The result of `read`; if it is null or undefined, `rule` is the error message. */
export function readParam<Value>(read: (text: string) => Value | null | undefined, rule: string) {
  return z.string().transform((text, context): Value => {
    const value = read(text);
    if (value !== null && value !== undefined) return value;
    context.issues.push({ code: 'custom', input: text, message: rule });
    return z.NEVER;
  });
}

/** A parameter that may be repeated: an array of its values. */
export const repeatableParam = <Item extends z.ZodType>(item: Item) => z.array(item);

/**
 * Reads the query of a URL by a schema whose keys are the known parameters.
 * @param url the request's URL, or its path and query. @param unless the values of parameters that the URL omits.
 * @throws Failure `invalid_parameter` for an unknown, repeated, empty, too long or disallowed parameter, named in `param`.
 */
export function parseQuery<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  url: string,
  unless: Readonly<Record<string, string>> = {},
): z.output<z.ZodObject<Shape>> {
  const start = url.indexOf('?');
  return parseGiven(schema, new URLSearchParams(start < 0 ? '' : url.slice(start + 1)), unless);
}

/**
 * Reads parameters, from any source, by a schema whose keys are the known ones. @param all names and values; a repeatable one may occur several
 * times.
 * @throws Failure as `parseQuery`.
 */
export function parseGiven<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  all: Iterable<readonly [name: string, value: string]>,
  unless: Readonly<Record<string, string>> = {},
): z.output<z.ZodObject<Shape>> {
  const known = Object.keys(schema.shape);
  const given: Record<string, string | string[]> = {};
  for (const [name, value] of all) {
    if (!known.includes(name)) failUnknown(name, known);
    if (value === '') refuse(name, 'must not be empty');
    const lengthMax = lengthMaxOf(schema.shape[name]);
    if (value.length > lengthMax) refuse(name, `must not be longer than ${lengthMax} characters`);
    if (hasControlCharacter(value)) refuse(name, 'must not contain control characters');
    if (value.includes('\u{fffd}')) refuse(name, 'must be text in UTF-8, percent-encoded');
    const before = given[name];
    if (isRepeatable(schema.shape[name])) given[name] = [...((before as string[] | undefined) ?? []), value];
    else if (before !== undefined) refuse(name, 'must be given once');
    else given[name] = value;
  }
  const parsed = schema.safeParse({ ...unless, ...given });
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const name = String(issue?.path[0] ?? '');
  const value = [given[name]].flat()[Number(issue?.path[1] ?? 0)];
  if (value === undefined) return refuse(name, 'is required');
  const { message = 'has an invalid value' } = issue ?? {};
  if (!message.startsWith('must ')) return refuse(name, message);
  const nearest = issue?.code === 'invalid_value' ? nearestName(value, issue.values.map(String)) : undefined;
  return refuse(name, isButText(value, message), suggestion(nearest));
}

/**
 * Reads a JSON body by a strict schema.
 * @throws Failure `invalid_body`, which names the field and what is allowed.
 */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    fail('invalid_body', 'The body must be a JSON object.');
  }
  return parseJson(schema, body, { noun: 'field', refuse: refuseField });
}

/**
 * Reads the arguments of a tool by a strict schema.
 * @throws Failure `invalid_parameter`, which names the argument and what is allowed.
 */
export function parseArguments<Schema extends z.ZodType>(schema: Schema, given: object): z.output<Schema> {
  return parseJson(schema, given, { noun: 'argument', refuse: refuseParam });
}

/** @param value an object. @param words what one of its entries is called, and how it is refused. */
function parseJson<Schema extends z.ZodType>(
  schema: Schema,
  value: object,
  { noun, refuse }: { noun: string; refuse: (name: string, message: string) => never },
): z.output<Schema> {
  const parsed = schema.safeParse(value, { error: ruleOf });
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  // A misspelled name first: it explains why another one is missing.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  const path = issue?.path ?? [];
  if (issue?.code === 'unrecognized_keys') {
    const name = printable([...path, issue.keys[0]].join('.'));
    const known = path.length === 0 && schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
    const hint = known.length === 0 ? '' : knownHint(name, known);
    return refuse(name, faultText(name, `is not a known ${noun}`, itemOf(value, path)) + hint);
  }
  const { message: reason = 'is not allowed' } = issue ?? {};
  // A rule on several fields together has no path.
  if (path.length === 0) return fail('invalid_body', `The body ${reason}.`);
  const name = printable(path.join('.'));
  const [given, item] = [valueAt(value, path), itemOf(value, path)];
  const isMust = reason.startsWith('must ');
  if (isMust && given === undefined) return refuse(name, faultText(name, `is required: it ${reason}`, item));
  if (issue?.code !== 'invalid_value' || typeof given !== 'string' || !isMust)
    return refuse(name, faultText(name, reason, item));
  const wrong = faultText(name, isButText(given, reason), item);
  return refuse(name, wrong + suggestion(nearestName(given, issue.values.map(String))));
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce((inner, key) => (inner as Readonly<Record<PropertyKey, unknown>> | undefined)?.[key], value);

/** The id of the list's item that a field belongs to, as an index is hard to find in a long list. */
function itemOf(value: object, path: readonly PropertyKey[]): string | undefined {
  const items = path.flatMap((key, i) =>
    typeof key === 'number' ? [valueAt(value, path.slice(0, i + 1))] : [],
  );
  return items
    .map((item) => (item as { id?: unknown } | null | undefined)?.id)
    .findLast((id) => typeof id === 'string');
}

const nouns: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** What a field must be, where its schema does not say so itself; undefined for the words of the library. */
function ruleOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'is required';
  if (issue.code === 'invalid_type')
    return `must be ${nouns[issue.expected] ?? `of the type ${issue.expected}`}`;
  if (issue.code === 'invalid_value') {
    const values = issue.values.map(String).join(', ');
    return `must be ${issue.values.length > 1 ? 'one of ' : ''}${values}`;
  }
  if (issue.code === 'invalid_format' && issue.format === 'date') return dateRule;
  if (issue.code !== 'too_big' && issue.code !== 'too_small') return undefined;
  const [side, bound] = issue.code === 'too_big' ? ['most', issue.maximum] : ['least', issue.minimum];
  if (issue.origin === 'string') return `must have at ${side} ${counted(Number(bound), 'character')}`;
  if (issue.origin === 'array') return `must have at ${side} ${counted(Number(bound), 'item')}`;
  return `must be at ${side} ${bound}`;
}

/** Whether a request may omit the body, as one of the schema needs no field. */
export function isBodyOptional(schema: z.ZodType): boolean {
  return schema.safeParse({}).success;
}

/**
 * What is wrong with a field, as a sentence. @param reason a verb phrase, or a sentence of its own without its full stop. @param item the id of the
 * list's item that has the field.
 */
export function faultText(name: string, reason: string, item?: string): string {
  const field = `"${name}"${item === undefined ? '' : ` of "${printable(item)}"`}`;
  return /^(?:must|is|has|cannot) /.test(reason) ? `${field} ${reason}.` : `${field}: ${reason}.`;
}

/** The known name nearest to a misspelled one; undefined if more than a third of it differs from every name. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  return known
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(
      ({ candidate, distance }) =>
        distance <= Math.max(1, Math.floor(candidate.length / 3)) &&
        // two texts of one letter each have nothing in common
        distance < Math.max(name.length, candidate.length),
    )
    .sort((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** A sentence that suggests the nearest known name. @param otherwise the sentence if no name is near. */
export function nearestHint(name: string, known: readonly string[], otherwise: string): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? otherwise : `Did you mean "${nearest}"?`;
}

function failUnknown(name: string, known: readonly string[]): never {
  const shown = printable(name);
  const hint = known.length === 0 ? ' None are allowed here.' : knownHint(name, known);
  return refuseParam(shown, `"${shown}" is not a parameter of this endpoint.${hint}`);
}

/** The known names for an unknown one, with a suggestion. */
function knownHint(name: string, known: readonly string[]): string {
  return `${suggestion(namedElsewhere(name, known) ?? nearestName(name, known))} Known names: ${known.join(', ')}.`;
}

const suggestion = (nearest: string | undefined): string =>
  nearest === undefined ? '' : ` Did you mean "${nearest}"?`;

/** Our parameters, with their names in FRED, SDMX, the World Bank's API and pandas. */
const namesElsewhere: Readonly<Record<string, readonly string[]>> = {
  from: ['start', 'start_date', 'startdate', 'date_from', 'startperiod', 'observation_start', 'since'],
  to: ['end', 'end_date', 'enddate', 'date_to', 'endperiod', 'observation_end', 'until'],
  cursor: ['offset', 'page', 'skip', 'after'],
  limit: ['per_page', 'page_size', 'pagesize', 'count', 'rows', 'top', 'size'],
  sort: ['order', 'order_by', 'orderby', 'sort_by', 'sort_order'],
  transform: ['units', 'unit', 'transformation', 'transforms'],
  frequency: ['freq', 'fq', 'resample', 'rule'],
  aggregate: ['aggregation_method', 'aggregation', 'agg', 'fam', 'how'],
  last: ['lastnobservations', 'recent', 'tail', 'mrv'],
  vintage: ['vintage_date', 'vintage_dates', 'realtime_start', 'realtime_end', 'as_of', 'asof'],
  format: ['file_type', 'output', 'outputformat', 'contenttype'],
  q: ['query', 'search', 'search_text', 'keyword', 'text'],
  ids: ['id', 'series_id', 'series', 'symbols'],
  fields: ['columns', 'select'],
  dims: ['dim', 'dimensions', 'dimension', 'filter'],
};

/** The known parameter that has this name in other services. */
function namedElsewhere(name: string, known: readonly string[]): string | undefined {
  return known.find((each) => namesElsewhere[each]?.includes(name.toLowerCase()) === true);
}

function refuse(name: string, reason: string, hint = ''): never {
  return refuseParam(name, `"${name}" ${reason}.${hint}`);
}

/** The reason for a fault of a value that may be shown. */
export const isButText = (value: string, rule: string): string => `is "${printable(value)}", but ${rule}`;

/** Client text for use in a message: shortened, without control characters. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001f\u007f]/g, '?').slice(0, 64);
}

function hasControlCharacter(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return /[\u0000-\u001f\u007f]/.test(text);
}

function lengthMaxOf(schema: z.core.$ZodType | undefined): number {
  const allowed = schema === undefined ? undefined : z.globalRegistry.get(schema)?.['lengthMax'];
  return typeof allowed === 'number' ? allowed : valueLengthMax;
}

function isRepeatable(schema: z.core.$ZodType | undefined): boolean {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return isRepeatable(schema.unwrap());
  if (schema instanceof z.ZodPipe) return isRepeatable(schema.in);
  return schema instanceof z.ZodArray;
}

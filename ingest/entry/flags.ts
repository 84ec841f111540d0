// The flags of `almanac ingest` that describe a file: each is a key of an almanac.yml entry, and together they are an entry. Faults in the
// entry are reported by flag.
import type { z } from 'zod';
import { usageError } from '../failure.ts';
import { tableSchema, type TableDescription } from './entry-schema.ts';

/** The value of a flag: one text, a number, nothing, or texts that are the values of a list or a map. */
type Form = 'text' | 'number' | 'true' | 'texts' | 'pairs' | 'choices' | 'replacements';

export interface EntryFlag {
  /** `--skip-rows`. */
  flag: string;
  /** The placeholder in the help; empty if the flag has no value. */
  placeholder: string;
  /** `skip_rows`, or `date.format`. */
  key: string;
  form: Form;
  help: string;
}

const flag = (
  [name, key]: readonly [name: string, key: string],
  form: Form,
  placeholder: string,
  help: string,
): EntryFlag => ({ flag: `--${name}`, ...{ placeholder, key, form, help } });

/** In the order of the help. */
export const entryFlags: readonly EntryFlag[] = [
  flag(['map', 'map'], 'pairs', '<target=source,…>', "our column name = the file's"),
  flag(
    ['set', 'set'],
    'pairs',
    '<column=value,…>',
    'a constant for every row; with --create also frequency, unit, source, name of a new series',
  ),
  flag(
    ['ignore', 'ignore'],
    'texts',
    '<column,…>',
    'columns of the file to ignore; other unknown columns become dimensions',
  ),
  flag(['create', 'create'], 'true', '', 'create series that do not exist yet'),
  flag(['wide', 'wide'], 'true', '', 'one column per series (for nav: per fund), the dates in the first'),
  flag(['skip-rows', 'skip_rows'], 'number', '<number>', 'lines below the header that are not data'),
  flag(
    ['skip-where', 'leave_out'],
    'choices',
    '<column=value>',
    'leave out the rows with that value; may be repeated',
  ),
  flag(
    ['map-value', 'map_value'],
    'replacements',
    '<column=value=other>',
    'read that value as the other; may be repeated',
  ),
  flag(
    ['date-format', 'date.format'],
    'text',
    '<format>',
    'such as M/D/YYYY, D-MMM-YYYY, DD/MM/YYYY; default YYYY-MM-DD, YYYY-MM, YYYY, YYYY-Q1 and the forms 2024M01, Jan-24, Q1 2024, 2023/24, 30-Jan-2026',
  ),
  flag(
    ['missing', 'missing'],
    'texts',
    '<text>',
    'text that means missing, as the empty cell does; may be repeated',
  ),
  flag(['decimal', 'decimal'], 'text', '<mark>', 'the decimal separator; default .'),
  flag(
    ['thousands', 'thousands'],
    'text',
    '<mark>',
    'the separator between groups of three digits; default none',
  ),
  flag(
    ['multiply', 'multiply'],
    'pairs',
    '<column=number>',
    'the factor of the numbers of a column, such as value=1000000',
  ),
  flag(['prefix', 'prefix'], 'text', '<text>', "put before the ids of a wide file's columns"),
  flag(
    ['header-line', 'header'],
    'number',
    '<number>',
    'the line of the column names, if a title is above them',
  ),
  flag(['sheet', 'sheet'], 'text', '<name>', 'the sheet of a workbook; default the first'),
  flag(['delimiter', 'delimiter'], 'text', '<character>', 'the delimiter; default detected'),
  flag(['encoding', 'encoding'], 'text', '<name>', 'utf-8, utf-16le, windows-1252 …; default detected'),
  flag(['resource', 'resource'], 'text', '<name>', 'the resource of a datapackage.json that has several'),
  flag(['vintage', 'vintage'], 'text', '<date>', 'the day on which the file was published; default today'),
  flag(
    ['full', 'full'],
    'true',
    '',
    'the file has all points of its series: points missing from it are deleted as of the vintage',
  ),
  flag(['skip-invalid', 'skip_invalid'], 'true', '', 'load the good rows even if there are bad ones'),
];

/** Whether the flag may be given several times. */
export const isRepeatable = ({ form }: EntryFlag): boolean => !['text', 'number', 'true'].includes(form);

/**
 * The entry that the flags state, as almanac.yml would have it.
 * @param file as typed; `-` is standard input.
 * @param given the text of a flag, its texts if it is repeatable, true if it has no value; undefined if it was not typed.
 * @throws IngestFailure that names the flag, if a value is malformed, or its key does not allow it.
 */
export function entryOfFlags(
  dataset: string,
  file: string,
  given: (flag: EntryFlag) => unknown,
): TableDescription {
  const entry: Record<string, unknown> = { file, dataset };
  for (const each of entryFlags) {
    const typed = given(each);
    if (typed === undefined) continue;
    const value = forms[each.form](typeof typed === 'string' ? [typed] : (typed as string[]), each.flag);
    const [key = '', part] = each.key.split('.');
    entry[key] = part === undefined ? value : { [part]: value };
  }
  const parsed = tableSchema.safeParse(entry);
  if (parsed.success) return parsed.data;
  return usageError(parsed.error.issues.map(faultOf).join('; '));
}

function faultOf(issue: z.core.$ZodIssue): string {
  // The last of the forms is that which flags state: one value, or a map.
  const [inner] = issue.code === 'invalid_union' ? (issue.errors.find((each) => each.length > 0) ?? []) : [];
  const { message } = inner ?? issue;
  const keys = [...issue.path, ...(inner?.path ?? [])].map(String);
  const own = entryFlags.find(({ key }) => key === keys[0] || key === keys.slice(0, 2).join('.'));
  const name = own?.flag ?? keys[0] ?? '';
  return `${name}${/^[a-z]/.test(message) ? ' ' : ': '}${message.replace(/^Invalid (?:input|option): /, '')}.`;
}

const forms: Record<Form, (given: readonly string[], flag: string) => unknown> = {
  text: ([text]) => text,
  true: () => true,
  number: ([text = ''], name) => {
    if (!/^\d{1,6}$/.test(text)) usageError(`${name} takes a whole number, not "${text}".`);
    return Number(text);
  },
  texts: (given) => given,
  pairs,
  choices(given, name) {
    const pairsOf = given.map((text) => {
      const [, column, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
      if (column === undefined || value === undefined)
        usageError(`${name} takes column=value, not "${text}".`);
      return [column.trim(), value.trim()] as const;
    });
    const byColumn = Map.groupBy(pairsOf, ([column]) => column);
    return Object.fromEntries([...byColumn].map(([column, all]) => [column, all.map(([, value]) => value)]));
  },
  replacements(given, name) {
    const all = given.map((text) => {
      const [column, value, to, ...rest] = text.split('=').map((part) => part.trim());
      if (column === undefined || column === '' || value === undefined || to === undefined || rest.length > 0)
        usageError(`${name} takes column=value=other, not "${text}".`);
      return { column, value, to };
    });
    const byColumn = Map.groupBy(all, ({ column }) => column);
    return Object.fromEntries(
      [...byColumn].map(([column, of]) => [
        column,
        Object.fromEntries(of.map(({ value, to }) => [value, to])),
      ]),
    );
  },
};

/** `target=source` pairs; a comma begins a new pair only before a name and `=`, so values may contain commas. */
function pairs(given: readonly string[], name: string): Record<string, string> {
  const all = given.flatMap((text) => text.split(/,(?=[A-Za-z_][A-Za-z0-9_.-]*=)/));
  return Object.fromEntries(
    all.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) usageError(`${name} takes name=value, not "${pair}".`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

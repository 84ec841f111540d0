// The flags of `almanac ingest` that say what a file is: each is a key of an entry of almanac.yml, and together they are an entry. Hides the
// forms of their values, and which flag a fault in the entry is from.
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import { misuse } from '../load/failure.ts';
import { jsonSchema, tableSchema, type TableDescription } from '../publish/description.ts';
import type { PlannedTable } from '../publish/plan.ts';

/** What a flag takes: one text, a number, nothing, or texts that are the values of a list or a map. */
type Form = 'text' | 'number' | 'true' | 'texts' | 'pairs' | 'choices' | 'replacements';

export interface EntryFlag {
  /** `--skip-rows`. */
  flag: string;
  /** What the help shows behind it; empty: it takes nothing. */
  takes: string;
  /** `skip_rows`, or `date.format`. */
  key: string;
  form: Form;
}

const flag = (key: string, form: Form, takes = '', name = key.replaceAll('_', '-')): EntryFlag => ({
  flag: `--${name}`,
  ...{ takes, key, form },
});

/** In the order of the help. */
export const entryFlags: readonly EntryFlag[] = [
  flag('map', 'pairs', '<target=source,…>'),
  flag('set', 'pairs', '<column=value,…>'),
  flag('ignore', 'texts', '<column,…>'),
  flag('create', 'true'),
  flag('wide', 'true'),
  flag('prefix', 'text', '<text>'),
  flag('header', 'number', '<number>', 'header-line'),
  flag('skip_rows', 'number', '<number>'),
  flag('leave_out', 'choices', '<column=value>', 'skip-where'),
  flag('map_value', 'replacements', '<column=value=other>'),
  flag('date.format', 'text', '<format>', 'date-format'),
  flag('decimal', 'text', '<mark>'),
  flag('thousands', 'text', '<mark>'),
  flag('missing', 'texts', '<text>'),
  flag('multiply', 'pairs', '<column=number>'),
  flag('sheet', 'text', '<name>'),
  flag('encoding', 'text', '<name>'),
  flag('delimiter', 'text', '<character>'),
  flag('resource', 'text', '<name>'),
  flag('vintage', 'text', '<date>'),
  flag('full', 'true'),
  flag('skip_invalid', 'true'),
];

/** Whether the flag may be given several times. */
export const isRepeatable = ({ form }: EntryFlag): boolean => !['text', 'number', 'true'].includes(form);

interface KeySchema {
  description?: string;
  properties?: Record<string, KeySchema>;
  items?: KeySchema;
  anyOf?: KeySchema[];
}

/** What a key means, and what holds where it is left out; undefined: it is needed, or something else takes its place. */
export interface KeyText {
  meaning: string;
  unlessGiven: string | undefined;
}

/** The keys of an entry in the order of the schema; those of `date` one by one. @throws Error for a key without a description. */
export function keyTexts(): Map<string, KeyText> {
  const schema = jsonSchema() as KeySchema;
  const keys = Object.entries(schema.properties?.['tables']?.items?.properties ?? {});
  return new Map(
    keys.flatMap(([name, key]) => [
      [name, textOf(name, key)] as const,
      ...(name === 'date'
        ? partsOf(key).map(([part, of]) => [`date.${part}`, textOf(part, of)] as const)
        : []),
    ]),
  );
}

function textOf(name: string, { description }: KeySchema): KeyText {
  if (description === undefined) throw new Error(`The key ${name} of almanac.yml has no description.`);
  const [meaning = '', unlessGiven] = description.split('; left out: ');
  return { meaning, unlessGiven };
}

/** Each part once, as the first of the forms that have it says it. */
function partsOf({ anyOf = [] }: KeySchema): [string, KeySchema][] {
  const parts = anyOf.flatMap(({ properties = {} }) => Object.entries(properties));
  return parts.filter(([name], at) => parts.findIndex(([each]) => each === name) === at);
}

/**
 * The entry that the flags state, as almanac.yml would have it.
 * @param file as it is typed; `-` is standard input.
 * @param given the text of a flag, its texts if it is repeatable, true if it takes none; undefined if it was not typed.
 * @throws IngestFailure that names the flag, if a value is not of its form, or is not what its key allows.
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
  return misuse(parsed.error.issues.map(faultOf).join('; '));
}

/** The plan of an entry that was typed: it is loaded, whatever was loaded before. @param input the bytes of a file that is `-`. */
export const planTyped = (entry: TableDescription, file: string, input?: Readable): PlannedTable => ({
  ...{ entry, path: file, file, bytes: 0, contentSha256: '', ...(input !== undefined && { input }) },
  ...{ state: 'new', isGuessed: false, changes: [], loadedWith: null },
});

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
    if (!/^\d{1,6}$/.test(text)) misuse(`${name} takes a whole number, not "${text}".`);
    return Number(text);
  },
  texts: (given) => given,
  pairs,
  choices(given, name) {
    const pairsOf = given.map((text) => {
      const [, column, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
      if (column === undefined || value === undefined) misuse(`${name} takes column=value, not "${text}".`);
      return [column.trim(), value.trim()] as const;
    });
    const byColumn = Map.groupBy(pairsOf, ([column]) => column);
    return Object.fromEntries([...byColumn].map(([column, all]) => [column, all.map(([, value]) => value)]));
  },
  replacements(given, name) {
    const all = given.map((text) => {
      const [column, value, to, ...rest] = text.split('=').map((part) => part.trim());
      if (column === undefined || column === '' || value === undefined || to === undefined || rest.length > 0)
        misuse(`${name} takes column=value=other, not "${text}".`);
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
      if (at < 1) misuse(`${name} takes name=value, not "${pair}".`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

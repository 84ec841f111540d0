// The table of the keys of an entry of almanac.yml and of the flags for them, in docs/entries.md between `<!-- keys -->` and `<!-- end -->`, and the
// JSON Schema for editors: both are made from ingest/entry/entry-schema.ts and ingest/entry/flags.ts.
import path from 'node:path';
import { projectRoot } from '../kernel/project.ts';
import { entryFlags, isRepeatable } from '../ingest/entry/flags.ts';
import { jsonSchema } from '../ingest/entry/entry-schema.ts';

export const keysSchemaFile = path.join(projectRoot, 'ingest/entry/almanac.schema.json');
export const keysSchemaText = (): string => `${JSON.stringify(jsonSchema(), null, 2)}\n`;

const block = /<!-- keys -->\n[^]*?<!-- end -->/g;

/** The page with its table of keys updated. @throws Error for a key without a description. */
export function withKeys(page: string): string {
  return page.replaceAll(block, () => `<!-- keys -->\n${keysTable()}\n<!-- end -->`);
}

function keysTable(): string {
  const flagOf = new Map(
    entryFlags.map((each) => [each.key, `\`${each.flag}\`${isRepeatable(each) ? ' …' : ''}`]),
  );
  const cell = (text: string) => text.replaceAll('|', String.raw`\|`);
  const rows = [...keyTexts()].map(
    ([key, { meaning, unlessGiven = '' }]) =>
      `| \`${key}\` | ${argumentOf.get(key) ?? flagOf.get(key) ?? ''} | ${cell(meaning)} | ${cell(unlessGiven)} |`,
  );
  return ['| key | flag | meaning | where it is left out |', '|---|---|---|---|', ...rows].join('\n');
}

/** The keys that are positional arguments of `almanac ingest`. */
const argumentOf = new Map([
  ['file', '`<file>`'],
  ['dataset', '`<dataset>`'],
]);

interface KeySchema {
  description?: string;
  properties?: Record<string, KeySchema>;
  items?: KeySchema;
  anyOf?: KeySchema[];
}

/** The meaning of a key, and its default; undefined: it is required, or another key replaces it. */
interface KeyText {
  meaning: string;
  unlessGiven: string | undefined;
}

/** The keys of an entry in the order of the schema; those of `date` one by one. @throws Error for a key without a description. */
function keyTexts(): Map<string, KeyText> {
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

/** Each part once, as described by the first form that has it. */
function partsOf({ anyOf = [] }: KeySchema): [string, KeySchema][] {
  const parts = anyOf.flatMap(({ properties = {} }) => Object.entries(properties));
  return parts.filter(([name], at) => parts.findIndex(([each]) => each === name) === at);
}

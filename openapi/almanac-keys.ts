// The table of the keys of an entry of almanac.yml, in docs/publish.md between `<!-- keys -->` and `<!-- end -->`, and the JSON Schema for editors:
// both are made from ingest/publish/description.ts.
import path from 'node:path';
import { projectRoot } from '../kernel/project.ts';
import { jsonSchema } from '../ingest/publish/description.ts';

interface Schema {
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

export const keysSchemaFile = path.join(projectRoot, 'ingest/publish/almanac.schema.json');
export const keysSchemaText = (): string => `${JSON.stringify(jsonSchema(), null, 2)}\n`;

const block = /<!-- keys -->\n[^]*?<!-- end -->/g;

/** The page with its table of keys updated. @throws Error for a key without a description. */
export function withKeys(page: string): string {
  return page.replaceAll(block, () => `<!-- keys -->\n${keysTable()}\n<!-- end -->`);
}

function keysTable(): string {
  const schema = jsonSchema() as Schema;
  const keys = Object.entries(schema.properties?.['tables']?.items?.properties ?? {});
  const rows = keys.map(
    ([name, key]) => `| \`${name}\` | ${meaningOf(name, key).replaceAll('|', String.raw`\|`)} |`,
  );
  return ['| key | meaning |', '|---|---|', ...rows].join('\n');
}

/** What a key means; with the keys of `date`, each once, as several of its forms have the same. */
function meaningOf(name: string, { description = '', anyOf = [] }: Schema): string {
  if (description === '') throw new Error(`The key ${name} of almanac.yml has no description.`);
  if (name !== 'date') return description;
  const parts = new Map(anyOf.flatMap(({ properties = {} }) => Object.entries(properties)).toReversed());
  const meanings = [...parts].toReversed().map(([part, schema]) => `\`${part}\`: ${meaningOf('', schema)}`);
  return `${description}. ${meanings.join('. ')}`;
}

// The parameter tables of docs/api.md, written from the document between `<!-- parameters: GET /v1/… -->` and `<!-- end -->`.
// Hides how a schema is put into words. `but a, b` in the comment omits parameters that are described elsewhere.
import type { Json } from './tidy.ts';

interface Schema {
  type?: string;
  format?: string;
  enum?: string[];
  items?: Schema;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  examples?: string[];
  default?: Json;
}
interface Parameter {
  in: string;
  name: string;
  description?: string;
  required?: boolean;
  /** False: an array is one text, with commas between its values. */
  explode?: boolean;
  schema: Schema;
}
interface Document {
  paths: Record<string, Record<string, { parameters?: Parameter[] }>>;
}

const block = /<!-- parameters: (\w+) (\S+?)(?: but ([\w, ]+))? -->\n[^]*?<!-- end -->/g;

/** The page with its tables updated from the document. @throws Error for an endpoint that the document lacks. */
export function withTables(page: string, document: Json): string {
  const { paths } = document as unknown as Document;
  return page.replaceAll(block, (_found, method: string, at: string, but: string | undefined) => {
    const operation = paths[at]?.[method.toLowerCase()];
    if (operation === undefined) throw new Error(`the document has no ${method} ${at}`);
    const left = new Set(but?.split(',').map((name) => name.trim()) ?? []);
    const shown = (operation.parameters ?? []).filter(
      ({ in: where, name }) => where === 'query' && !left.has(name),
    );
    const rows = shown.map(
      (parameter) =>
        `| \`${parameter.name}\` | ${valueOf(parameter)} | ${(parameter.description ?? '').replaceAll('|', String.raw`\|`)} |`,
    );
    const table = ['| parameter | value | meaning |', '|---|---|---|', ...rows].join('\n');
    return `<!-- parameters: ${method} ${at}${but === undefined ? '' : ` but ${but}`} -->\n${table}\n<!-- end -->`;
  });
}

/** The endpoints that have a table on a page, as `GET /v1/…`. */
export function tablesOf(page: string): string[] {
  return [...page.matchAll(block)].map(([, method, at]) => `${method} ${at}`);
}

function valueOf({ schema, required = false, explode = true }: Parameter): string {
  const words = wordsOf(schema, explode);
  return required ? `${words}; required` : words;
}

function wordsOf(schema: Schema, explode: boolean): string {
  const { type, format, items, examples, minimum = 0, maximum } = schema;
  if (schema.enum !== undefined) return alternatives(schema.enum, schema.default);
  if (type === 'boolean')
    return [true, false]
      .map((value) => code(String(value), value === schema.default && String(value)))
      .join(', ');
  if (type === 'array' && items?.enum !== undefined) return `some of \`${items.enum.join(',')}\``;
  if (type === 'array')
    return schema.maxItems === undefined ? listWords(explode) : `1 to ${schema.maxItems} ids`;
  if (type === 'integer' && maximum !== undefined) return `${minimum} to ${maximum}${byDefault(schema)}`;
  if (type === 'number') return 'a number';
  if (format === 'date') return 'a date';
  if (examples !== undefined)
    return examples.some((each) => each.endsWith('Z')) ? 'an instant or a date' : 'a date or a period';
  return `text${byDefault(schema)}`;
}

const listWords = (explode: boolean) => (explode ? 'text, repeatable' : 'text, several with commas');

function byDefault({ default: value }: Schema): string {
  return typeof value === 'string' || typeof value === 'number' ? `; default \`${value}\`` : '';
}

/** The values of an enum; of a sort order and its opposite only one, as all lists have both. */
function alternatives(words: readonly string[], byDefault: Json | undefined): string {
  const isOrder = (word: string) =>
    word === byDefault || !(word.startsWith('-') && words.includes(word.slice(1)));
  const shown = words.filter((word) => isOrder(word) && `-${word}` !== byDefault);
  const opposites = shown.length < words.length ? ', and the opposites with `-`' : '';
  return shown.map((word) => code(word, byDefault)).join(', ') + opposites;
}

function code(word: string, byDefault: Json | undefined): string {
  return word === byDefault ? `\`${word}\` (default)` : `\`${word}\``;
}

// Reads the facts of one table from metadata of CSV on the Web (W3C, csv-metadata.json).
import path from 'node:path';
import { z } from 'zod';
import { fault, metadataJson } from './read-metadata.ts';
import { factsOf, licenceFacts, type Facts, type Stated } from './stated-facts.ts';

const object = z.record(z.string(), z.unknown());
const columnSchema = z.looseObject({ name: z.string().optional(), titles: z.unknown() });
const tableSchema = z.looseObject({
  url: z.string(),
  tableSchema: z.union([z.string(), z.looseObject({ columns: z.array(columnSchema).optional() })]).optional(),
});
const groupSchema = z.looseObject({ tables: z.array(tableSchema) });
const documentSchema = z.union([groupSchema, tableSchema]);

type Described = Readonly<Record<string, unknown>>;

/** The names of the metadata of a file: those of the standard, for one file and for a folder. */
export const csvwNames = (data: string): string[] => [`${data}-metadata.json`, 'csv-metadata.json'];

/**
 * @param data the name of the file of data, in the same folder.
 * @returns undefined if no table is this file.
 * @throws IngestFailure if it is not such metadata.
 */
export function csvwFacts(file: string, data: string): Stated | undefined {
  const parsed = documentSchema.safeParse(metadataJson(file));
  if (!parsed.success)
    return fault(file, 'it is not metadata of CSV on the Web: it has neither "tables" nor "url"');
  const document = parsed.data;
  const tables = z.array(tableSchema).parse('tables' in document ? document['tables'] : [document]);
  const table = tables.find(({ url }) => path.posix.basename(url) === data);
  if (table === undefined) return undefined;
  const columns = typeof table.tableSchema === 'object' ? (table.tableSchema.columns ?? []) : [];
  return {
    facts: { ...statedBy(file, 'the group', document), ...statedBy(file, 'the table', table) },
    columns: new Map(
      columns.flatMap((column) => {
        const titles = textsOf(column['titles']);
        const facts = statedBy(file, `column ${titles[0] ?? column.name ?? ''}`, column);
        return [...titles, ...(column.name === undefined ? [] : [column.name])].map(
          (title): [string, Facts] => [title, facts],
        );
      }),
    ),
  };
}

function statedBy(file: string, where: string, described: Described): Facts {
  const first = (...terms: string[]): string | undefined =>
    terms.flatMap((term) => textsOf(described[term]))[0];
  const licence = first('dc:license', 'dcterms:license', 'dc:rights', 'dcterms:rights', 'schema:license');
  const isUrl = licence !== undefined && /^https?:/.test(licence);
  return factsOf(file, where, {
    name: first('dc:title', 'dcterms:title', 'rdfs:label', 'schema:name'),
    description: first('dc:description', 'dcterms:description', 'rdfs:comment', 'schema:description'),
    unit: first('unit', 'schema:unitText', 'qudt:unit', 'sdmx-attribute:unitMeasure'),
    source: first('dc:publisher', 'dcterms:publisher', 'schema:publisher', 'dc:source', 'dcterms:source'),
    ...licenceFacts(licence, isUrl ? licence : undefined),
  });
}

/** The texts of a property: JSON-LD has a text, a list, a text with its language, or a thing with a name. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.filter((each) => !Array.isArray(each)).flatMap(textsOf);
  const parsed = object.safeParse(value);
  if (!parsed.success) return [];
  const named = ['@value', 'schema:name', 'foaf:name', 'name', '@id'].map((key) => parsed.data[key]);
  const texts = named.filter((text) => typeof text === 'string');
  if (texts.length > 0) return texts.slice(0, 1);
  // By language, as titles are.
  return Object.values(parsed.data).flatMap((each) => (typeof each === 'string' ? [each] : []));
}

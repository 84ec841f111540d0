// The manifest of the bulk files: the files of the store, which of them are current, and which are only kept for readers that have begun to
// read them. The publisher replaces it, data-api reads it.
import { z } from 'zod';

export const bulkKinds = ['current', 'vintages'] as const;
export type BulkKind = (typeof bulkKinds)[number];

/** The types of columns, by their names in SQL. */
export const bulkTypes = ['VARCHAR', 'DATE', 'DOUBLE', 'BIGINT'] as const;

const named = String.raw`[a-z0-9-]{1,80}\.(?:current|vintages)\.\d{1,15}(?:-\d{1,6})?\.parquet`;
/** The name of a file: its scope, its kind, and the load as of which it was written. Names are never reused. */
export const bulkName = new RegExp(`^${named}$`);
/** The result of `storedName`. */
export const bulkStoredName = new RegExp(String.raw`^(?:\d{4}-\d{2}-\d{2}\.)?${named}$`);

/** A file in the API's form. */
export const bulkFileSchema = z.object({
  name: z.string().regex(bulkName),
  dataset: z.literal('observations'),
  source: z.string().nullable().describe('The source of its series, as in `/v1/sources`; null: all series.'),
  kind: z
    .enum(bulkKinds)
    .describe('`current`: the newest value of each point. `vintages`: every value that was ever current.'),
  load: z.int().describe('The newest load that it includes.'),
  created_at: z.iso.datetime(),
  bytes: z.int(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  rows: z.int(),
  columns: z.array(z.object({ name: z.string(), type: z.enum(bulkTypes) })),
  first_date: z.iso.date().nullable(),
  last_date: z.iso.date().nullable(),
  licences: z.array(z.string()).describe('The licences of its series.'),
});
export type BulkFile = z.output<typeof bulkFileSchema>;

const storedFileSchema = bulkFileSchema.extend({
  /** The state of the series from which it was written: it is rewritten only if that state has changed. */
  state: z.string(),
  /** The day of the pinned keys that get it, without anything published later; null: for all other keys. */
  as_of: z.iso.date().nullable().default(null),
});
export type StoredFile = z.output<typeof storedFileSchema>;

/** The name of a file in the store, which includes the day: files of different days may have the same name. */
export const storedName = ({ name, as_of: day }: Pick<StoredFile, 'name' | 'as_of'>): string =>
  day === null ? name : `${day}.${name}`;

const manifestSchema = z.object({
  /** The files are current as of this load: none of their series has changed since the load in the file's name. */
  load: z.int(),
  created_at: z.iso.datetime(),
  /** The most days with files of their own. */
  days_max: z.int().default(0),
  files: z.array(storedFileSchema),
  /** Replaced by newer ones: they are served until they are removed. */
  retired: z.array(storedFileSchema.extend({ retired_at: z.iso.datetime() })),
});
export type Manifest = z.output<typeof manifestSchema>;

/** An instant in the API's form: in UTC, to the second. */
export const instantOf = (at: Date): string => at.toISOString().replace(/\.\d+Z$/, 'Z');

export const manifestName = 'manifest.json';

/** @throws Error if the text is not a manifest. */
export function readManifestText(text: string): Manifest {
  return manifestSchema.parse(JSON.parse(text));
}

export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 1)}\n`;
}

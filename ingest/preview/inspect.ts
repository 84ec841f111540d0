// The preview of a table before it is loaded: its rows as they will be served, and the choices that settle its guesses. Reads the file, so
// callers use a child process for untrusted ones.
import type { TableDescription } from '../entry/entry-schema.ts';
import { rowsOf } from '../reshape/reshape.ts';
import { sampleBy, type Sample } from '../read/table-rows.ts';
import { choicesOf } from './choices.ts';
import { renamedBy } from './change-encoding.ts';
import type { Inspected } from '../entry/table-preview.ts';
import { previewRows } from './preview-rows.ts';

export interface TableToInspect {
  entry: TableDescription;
  /** Below the folder, or a URL. */
  path: string;
  /** Its path on this machine. */
  file: string;
  /** YYYY-MM-DD. */
  today: string;
}

/** @param ignored why columns are not loaded, by their titles. */
export async function inspect(
  { entry, path, file, today }: TableToInspect,
  sample: Sample,
  ignored?: Readonly<Record<string, string>>,
): Promise<Inspected> {
  const { preview, plan } = await previewRows(entry, sample, { path, today, ignored });
  const { fileName } = rowsOf(entry, path);
  const choices = await choicesOf(entry, { sample, plan, fileName, today }, async (encoding) =>
    renamedBy(entry, encoding, {
      before: sample,
      after: await sampleBy({ ...partsOf(entry), file, encoding }),
    }),
  );
  return { preview, choices };
}

/** The table according to its present entry. @throws IngestFailure if the file cannot be read. */
export async function inspectTable(table: TableToInspect): Promise<Inspected> {
  const sample = await sampleBy({ ...partsOf(table.entry), file: table.file });
  return inspect(table, sample);
}

const partsOf = ({ sheet, encoding, delimiter, quote, split, crosstab }: TableDescription) => ({
  ...{ sheet, encoding, delimiter, quote, split, crosstab },
});

// Converts an entry of a file with the columns of a dataset to the options of a load. The load reads rows of text itself, so that they can
// be stored for a release; those of a workbook or a web page are passed to it.
import { statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { CsvBatch } from '../read/csv-batch.ts';
import { fileKind } from '../read/file-kind.ts';
import { withoutUndefined, type LoadOptions } from '../load/store/load-options.ts';
import type { TableDescription } from './entry-schema.ts';
import { tableRows } from '../read/table-rows.ts';

export type DatasetLoad = Omit<LoadOptions, 'seriesTimeZone' | 'clock'>;

/**
 * @param input the file, or its bytes.
 * @param of the dataset; the vintage of all rows, if the entry has one.
 * @throws IngestFailure if the file is of a format that is not read.
 */
export function datasetLoad(
  entry: TableDescription,
  input: string | Readable,
  of: { dataset: string; vintage: string | undefined },
): DatasetLoad {
  const { map, set, ignore, create, wide, full, missing, decimal, thousands, prefix, resource } = entry;
  const { leave_out: leaveOut = {}, map_value: mapValue = {}, multiply, date } = entry;
  return {
    ...withoutUndefined({
      ...{ map, set, ignore, create, wide, full, missing, decimal, thousands, prefix, resource },
      ...{ vintage: of.vintage, skipRows: entry.skip_rows, skipInvalid: entry.skip_invalid },
      ...{
        repeated: entry.repeated,
        dateFormat: date !== undefined && 'format' in date ? date.format : undefined,
      },
      multiply: typeof multiply === 'string' ? { value: multiply } : multiply,
      ...readBy(entry, input),
    }),
    skipWhere: Object.entries(leaveOut).flatMap(([column, values]) =>
      values.map((value) => ({ column, value })),
    ),
    mapValue: Object.entries(mapValue).flatMap(([column, texts]) =>
      Object.entries(texts).map(([value, to]) => ({ column, value, to })),
    ),
    dataset: of.dataset,
    input,
  };
}

/** How the rows are read: by the load, or by `rows`. */
function readBy(
  { header, sheet, encoding, delimiter }: TableDescription,
  input: string | Readable,
): Pick<LoadOptions, 'rows' | 'encoding' | 'delimiter' | 'headerLine'> | object {
  const headerLine = [header ?? []].flat()[0];
  // An input that is not a regular file, such as a pipe, can be read only once.
  if (typeof input !== 'string' || statSync(input, { throwIfNoEntry: false })?.isFile() !== true)
    return { encoding, delimiter, headerLine };
  const kind = fileKind(input, encoding);
  if (kind !== 'workbook' && kind !== 'web page') return { encoding, delimiter, headerLine };
  return { rows: () => fromLine(tableRows({ file: input, sheet, encoding }), headerLine ?? 1) };
}

/** The rows from the line on. */
async function* fromLine(batches: AsyncGenerator<CsvBatch>, line: number): AsyncGenerator<CsvBatch> {
  for await (const { rows, lines } of batches) {
    const at = lines.findIndex((each) => each >= line);
    if (at >= 0) yield { rows: rows.slice(at), lines: lines.slice(at) };
  }
}

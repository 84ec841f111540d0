// The bulk files of an installation, downloaded, and the queries of DuckDB on them.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { untilThere } from '../../run/until.ts';

interface BulkFile {
  name: string;
  url: string;
  sha256: string;
}

/** The two files of all series. */
export interface BulkFiles {
  current: BulkFile;
  /** The text with the present names in place of those of the documentation. */
  named(text: string): string;
}

/** Waits until the files are written, and downloads those of all series into the directory. */
export async function downloadBulkFiles(url: string, apiKey: string, directory: string): Promise<BulkFiles> {
  const headers = { 'x-api-key': apiKey };
  const find = async (kind: string): Promise<BulkFile | undefined> => {
    const answer = await fetch(`${url}/v1/bulk?kind=${kind}`, { headers });
    if (!answer.ok) return undefined;
    const { data } = (await answer.json()) as { data: (BulkFile & { source: string | null })[] };
    return data.find(({ source }) => source === null);
  };
  const current = await untilThere('the bulk file of all series', () => find('current'));
  const vintages = await untilThere('the bulk file of all vintages', () => find('vintages'));
  for (const file of [current, vintages]) {
    const answer = await fetch(file.url, { headers });
    if (answer.status !== 200) throw new Error(`${file.url} is answered with ${answer.status}.`);
    await writeFile(path.join(directory, file.name), await answer.bytes());
  }
  return {
    current,
    named: (text) =>
      text
        .replaceAll('observations.current.42.parquet', current.name)
        .replaceAll('observations.vintages.42.parquet', vintages.name),
  };
}

/**
 * Runs the queries of a script on files of the directory: DuckDB for Node.js has no httpfs, so its installation and setup are omitted.
 * @returns the column `value` of each query.
 */
export async function valuesOfDuckDb(script: string, directory: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  try {
    const queries = script
      .replaceAll(/^--.*$/gm, '')
      .replaceAll('http://127.0.0.1:8080/v1/bulk', directory)
      .split(';')
      .filter((statement) => /^\s*select\b/.test(statement));
    if (queries.length === 0) throw new Error('The script has no query.');
    const values: unknown[][] = [];
    for (const query of queries) {
      const rows = await connection.runAndReadAll(query);
      values.push(rows.getRowObjects().map((row) => row['value']));
    }
    return values;
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

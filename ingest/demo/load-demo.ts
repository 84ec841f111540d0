// Loads the demo data into a database.
import { Readable } from 'node:stream';
import { type Clock, dateIn } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import type { LoadSummary } from '../load/store/load-options.ts';
import { load } from '../load/load.ts';
import { readCsv } from '../read/csv.ts';
import { demoFiles } from './demo.ts';

export interface DemoOptions {
  clock: Clock;
  seriesTimeZone: string;
  fiscalYearFirstMonth?: number;
  /** Called before the first file and after each. @param done how many are loaded. */
  onFile?: ((done: number, of: number) => void) | undefined;
}

/**
 * Loads each file of the demo, up to yesterday by the clock. If gateways have already requested data, the caller waits for `waitForGatewayLeases`
 * afterwards. @returns the changes of each load, in the order of the files.
 */
export async function loadDemo(
  database: Database,
  { clock, seriesTimeZone, fiscalYearFirstMonth, onFile }: DemoOptions,
): Promise<LoadSummary[]> {
  const summaries: LoadSummary[] = [];
  const files = [...demoFiles(dateIn(seriesTimeZone, clock.now()))];
  onFile?.(0, files.length);
  for (const { dataset, vintage, lines } of files) {
    const rows = () => readCsv(linesInput(lines()), {});
    const place = { seriesTimeZone, fiscalYearFirstMonth, clock, noGateway: true };
    summaries.push(await load(database, { dataset, input: '-', rows, vintage, ...place }));
    onFile?.(summaries.length, files.length);
  }
  return summaries;
}

/** The lines as one piece: the loader handles each piece of a stream by itself, and asks the database about it. */
export function linesInput(lines: Iterable<string>): Readable {
  return Readable.from([Buffer.from([...lines, ''].join('\n'))]);
}

// Loads the demo data into a database.
import { Readable } from 'node:stream';
import { type Clock, dateIn } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import type { LoadSummary } from '../load/store/load-options.ts';
import { load } from '../load/load.ts';
import { demoFiles } from './demo.ts';

export interface DemoOptions {
  clock: Clock;
  seriesTimeZone: string;
  fiscalYearFirstMonth?: number;
}

/**
 * Loads each file of the demo, up to yesterday by the clock. A caller before whose gateways the data has been requested already waits for
 * `inForce` afterwards. @returns what each load changed, in the order of the files.
 */
export async function loadDemo(
  database: Database,
  { clock, seriesTimeZone, fiscalYearFirstMonth }: DemoOptions,
): Promise<LoadSummary[]> {
  const summaries: LoadSummary[] = [];
  for (const { dataset, vintage, lines } of demoFiles(dateIn(seriesTimeZone, clock.now()))) {
    const input = linesInput(lines());
    const place = { seriesTimeZone, fiscalYearFirstMonth, clock, noGateway: true };
    summaries.push(await load(database, { dataset, input, vintage, ...place }));
  }
  return summaries;
}

/** The lines as one piece: the loader handles each piece of a stream by itself, and asks the database about it. */
export function linesInput(lines: Iterable<string>): Readable {
  return Readable.from([Buffer.from([...lines, ''].join('\n'))]);
}

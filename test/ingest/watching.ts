// Shared by the tests of the watched folder: a real folder, a clock that decides when a file is complete, and a watch with the publisher's role.
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestFn } from 'ava';
import { InboxWatch } from '../../ingest/publisher/inbox/watch.ts';
import { stillMs } from '../../ingest/publisher/inbox/complete-files.ts';
import { workOn, type InboxDeps } from '../../ingest/publisher/inbox/load-file.ts';
import { openDatabase, type Database } from '../../kernel/database.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { silentLog } from '../services/harness.ts';
import { published } from './loading.ts';
import { fakeReleaseClock, type FakeReleaseClock } from './releasing.ts';

export interface WatchedFolder {
  directory: string;
  watch: InboxWatch;
  put(name: string, text: string | Buffer): void;
  /** The files of the folder or of a subfolder, without hidden ones and almanac.yml. */
  names(folder?: string): string[];
  read(name: string): string;
  has(name: string): boolean;
  look(): Promise<void>;
  /** Scans until all present files are complete and processed, as nothing writes to them. */
  processAll(): Promise<void>;
  /** The report of a rejected file. */
  report(name: string): string;
  /** A watch like that of another process. */
  another(): InboxWatch;
}

export interface Watching {
  /** Connected as the owner. */
  database: Database;
  /** Connected with the role of a publisher. */
  publisher: Database;
  clock: FakeReleaseClock;
  /** A new folder with this almanac.yml. */
  folder(description?: string, more?: Partial<InboxDeps>): WatchedFolder;
  /** The published values of a series, by date. */
  values(id: string): Promise<(string | null)[]>;
  /** The numbers of the loads of a file. */
  loadsOf(file: string): Promise<number[]>;
  /** The publisher's database. Before each statement that matches, `act` is called with its values, and may make it fail. */
  onStatement(statement: RegExp, act: (values: readonly unknown[]) => void | Promise<void>): Database;
}

/** The signal of a process that is not stopping. */
export const never = new AbortController().signal;

/** @param url of the test file's own database. */
export function startWatching(test: TestFn, url: string, now: string): Watching {
  const options = { applicationName: 'test', statementTimeoutMs: 0 };
  const database = openDatabase(url, silentLog, options);
  const publisher = openDatabase(serviceUrl(url, 'almanac_publisher'), silentLog, options);
  test.after.always(async () => {
    await publisher.close();
    await database.close();
  });
  const clock = fakeReleaseClock(now);
  return {
    ...{ database, publisher, clock },
    values: async (id) => Object.values(await published(database, id)),
    async loadsOf(file) {
      const rows = await database.query<{ load: number }>(
        'select load_no as load from data.loads where source_name = $1 order by 1',
        [file],
      );
      return rows.map(({ load }) => load);
    },
    onStatement: (statement, act) => ({
      ...publisher,
      transaction: (work) =>
        publisher.transaction((on) =>
          work({
            ...on,
            async query(text, values, name) {
              if (statement.test(text)) await act(values ?? []);
              return on.query(text, values, name);
            },
          }),
        ),
    }),
    folder(description, more = {}) {
      const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'almanac-test-')));
      const inFolder = (name: string) => path.join(directory, name);
      if (description !== undefined) writeFileSync(inFolder('almanac.yml'), description);
      const deps = { database: publisher, clock, log: silentLog, directory, seriesTimeZone: 'UTC' };
      // In this process, so that a test can intercept its statements.
      const watchOf = (own: InboxDeps) =>
        new InboxWatch({ ...own, work: (file, started) => workOn(own, file, started) });
      const watch = watchOf({ ...deps, ...more });
      return {
        ...{ directory, watch },
        put: (name, text) => writeFileSync(inFolder(name), text),
        names: (folder = '.') =>
          readdirSync(inFolder(folder))
            .filter((name) => !name.startsWith('.') && !['almanac.yml', 'done', 'rejected'].includes(name))
            .sort(),
        read: (name) => readFileSync(inFolder(name), 'utf8'),
        has: (name) => existsSync(inFolder(name)),
        look: () => watch.look(never),
        report: (name) => readFileSync(inFolder(`rejected/${name}.report.txt`), 'utf8'),
        another: () => watchOf(deps),
        async processAll() {
          await watch.look(never);
          clock.advance(stillMs);
          await watch.look(never);
        },
      };
    },
  };
}

/** A description with one entry: monthly series in files with this name and the columns Date and Value. */
export const monthlySeries = (name: string, file: string, id: string, ...more: string[]) =>
  [
    ...['version: 1', `name: ${name}`, 'tables:', `  - file: "${file}"`, '    header: 1', '    first: 2'],
    ...['    date: { column: Date }', '    values: Value'],
    ...[
      '    series:',
      `      id: "${id}"`,
      '      frequency: monthly',
      '      unit: Index',
      '      source: Tests',
    ],
    ...more.map((line) => `    ${line}`),
    '',
  ].join('\n');

export const csv = (...values: (number | string)[]) =>
  ['Date,Value', ...values.map((value, at) => `2024-${String(at + 1).padStart(2, '0')},${value}`), ''].join(
    '\n',
  );

/** Unambiguous SDMX-CSV: a series with the dimension CURRENCY. */
export const sure = (id: string, value: number) =>
  [
    'DATAFLOW,FREQ,CURRENCY,TIME_PERIOD,OBS_VALUE,OBS_STATUS,UNIT_MEASURE',
    `ECB:${id}(1.0),M,USD,2024-01,${value},A,EUR`,
    `ECB:${id}(1.0),M,USD,2024-02,1.08,P,EUR`,
    `ECB:${id}(1.0),M,GBP,2024-01,0.86,A,EUR`,
  ].join('\n');

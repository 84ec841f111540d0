// Shared by the tests of the watched folder: a real folder, a clock that decides when a file is complete, and a watch by the publisher's role.
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestFn } from 'ava';
import { InboxWatch } from '../../ingest/publisher/inbox/watch.ts';
import { stillMs } from '../../ingest/publisher/inbox/sightings.ts';
import type { InboxDeps } from '../../ingest/publisher/inbox/load-file.ts';
import { openDatabase, type Database } from '../../kernel/database.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { silentLog } from '../services/harness.ts';
import { fakeReleaseClock, type FakeReleaseClock } from './releasing.ts';

export interface WatchedFolder {
  directory: string;
  watch: InboxWatch;
  put(name: string, text: string | Buffer): void;
  /** What is in the folder, or in one of it; what is hidden and almanac.yml are left out. */
  names(folder?: string): string[];
  read(name: string): string;
  has(name: string): boolean;
  look(): Promise<void>;
  /** Looks until what is there now was taken, as nobody writes to it. */
  settle(): Promise<void>;
}

export interface Watching {
  /** As the owner. */
  database: Database;
  /** By the role of a publisher. */
  publisher: Database;
  clock: FakeReleaseClock;
  /** A folder of its own, with this almanac.yml. */
  folder(description?: string, more?: Partial<InboxDeps>): WatchedFolder;
}

const never = new AbortController().signal;

/** @param url of a database of the test file's own. */
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
    folder(description, more = {}) {
      const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'almanac-test-')));
      const inFolder = (name: string) => path.join(directory, name);
      if (description !== undefined) writeFileSync(inFolder('almanac.yml'), description);
      const watch = new InboxWatch({
        ...{ database: publisher, clock, log: silentLog, directory, seriesTimeZone: 'UTC' },
        ...more,
      });
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
        async settle() {
          await watch.look(never);
          clock.advance(stillMs);
          await watch.look(never);
        },
      };
    },
  };
}

/** A description with one entry, of monthly series in files of this name with the columns Date and Value. */
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

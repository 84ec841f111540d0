// Files that are not trusted are read in a process of their own: whatever they do to it, the publisher goes on.
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { utils, write } from '@e965/xlsx';
import { createApart, ProcessEnded } from '../../ingest/publisher/apart/run-apart.ts';
import { storePieces } from '../../ingest/publisher/stored-file.ts';
import { insertUpload, insertUploadPiece } from '../../ingest/publisher/uploads/uploads.sql.ts';
import { IngestFailure } from '../../ingest/load/failure.ts';
import { lockLoads } from '../../ingest/load/statements.sql.ts';
import { beforeRelease } from '../../ingest/operator/before-release.ts';
import { acceptUnderEmbargo } from '../../ingest/publisher/accept.ts';
import { databaseClock } from '../../ingest/publisher/release-clock.ts';
import { entryOf } from '../../ingest/publisher/uploads/entry.ts';
import { Failure } from '../../kernel/errors.ts';
import { until } from '../run/until.ts';
import { openDatabase } from '../../kernel/database.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { daily, fileOf } from './loading.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, { applicationName: 'test' });
const shared = { databaseUrl: testDatabase.url, applicationName: 'test apart', log: silentLog };
const apart = createApart(shared);
const small = createApart({ ...shared, limits: { memoryMb: 48, stepSeconds: 120 } });
test.after.always(async () => {
  await Promise.all([apart.close(), small.close()]);
  await database.close();
  await testDatabase.drop();
});

/** Stores a file as an upload. */
async function upload(name: string, content: string | Buffer) {
  const given = {
    id: randomUUID(),
    name,
    publication: 'uploads',
    sha256: '0'.repeat(64),
    today: '2024-06-30',
  };
  const [createdAt, expiresAt] = [new Date(), new Date(Date.now() + 3_600_000)];
  const row = { ...given, accountId: 'acct_a', createdAt, expiresAt };
  await database.transaction((on) => insertUpload(on, row, 100));
  async function* bytes() {
    yield Buffer.from(content);
  }
  await storePieces(bytes(), (position, piece) => insertUploadPiece(database, given.id, position, piece));
  return given;
}

const csv = 'date,value\n2024-01-31,1\n2024-02-29,2\n';
const withinMs = 120_000;

test('a file that takes more memory than a process may have ends that process alone', async (t) => {
  const rows = Array.from({ length: 20_000 }, (_, row) =>
    Array.from({ length: 20 }, (__, at) => `${row} ${at}`),
  );
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows), 'Large');
  const workbook = write(book, { type: 'buffer', bookType: 'xlsx', compression: true }) as Buffer;
  const large = await upload('large.xlsx', workbook);
  const error = await t.throwsAsync(small.run('read-upload', large, { withinMs }), {
    instanceOf: ProcessEnded,
  });
  t.regex(error.message, /lack of memory perhaps: it may take 48 MB/);
  t.is((await small.run('read-upload', await upload('a.csv', csv), { withinMs })).length, 1);
});

test('a file that takes longer than it may is given up', async (t) => {
  const error = await t.throwsAsync(apart.run('read-upload', await upload('a.csv', csv), { withinMs: 1 }), {
    instanceOf: ProcessEnded,
  });
  t.regex(error.message, /it took longer than/);
});

test('a gzip file may be as large unpacked as a file may be, and no larger', async (t) => {
  const packed = gzipSync(Buffer.alloc(5 * 1024 * 1024, csv));
  const bomb = { ...(await upload('a.csv.gz', packed)), bytesMax: 4 * 1024 * 1024 };
  const error = await t.throwsAsync(apart.run('read-upload', bomb, { withinMs }), {
    instanceOf: IngestFailure,
  });
  t.is(error.message, 'Unpacked, the file has more than 4 MB. Divide it.');
  const { bytesMax: _, ...whole } = bomb;
  t.is((await apart.run('read-upload', whole, { withinMs })).length, 1);
});

test('what is asked for is done in turn, and given up with the reason that was given', async (t) => {
  const stopping = new AbortController();
  const file = await upload('a.csv', csv);
  const [first, second] = [
    apart.run('read-upload', file, { withinMs }),
    apart.run('read-upload', file, { withinMs, signal: stopping.signal }),
  ];
  stopping.abort(new Error('The release is due.'));
  t.is((await first).length, 1);
  await t.throwsAsync(second, { message: 'The release is due.' });
});

test.serial(
  'a check that is under way when a release comes due is ended, and the release gets the lock',
  async (t) => {
    const release = fileOf(['series_id,date,value', 'DUE,2024-01-01,1']);
    const load = { dataset: 'observations', create: true, set: daily, seriesTimeZone: 'UTC', input: release };
    const { releaseNo } = await acceptUnderEmbargo(database, load, { instant: '2099-01-01T00:00:00Z' });
    const { promise: due, resolve: comeDue } = Promise.withResolvers<void>();
    const releaseClock = { now: databaseClock.now, pause: () => due };
    const file = await upload('a.csv', csv);
    const [found] = await apart.run('read-upload', file, { withinMs });
    const facts = { unit: 'Index', source: 'Tests', frequency: 'monthly' };
    const given = {
      ...{ upload: file, table: 0, seriesTimeZone: 'UTC', fiscalYearFirstMonth: 7 },
      ...{ entry: entryOf(found?.entry ?? '', { name: 'a.csv', facts }), now: new Date() },
    };
    await database.transaction(async (on) => {
      await on.query('lock table data.published_files in share mode'); // its row is written last
      const checked = t.throwsAsync(
        beforeRelease({ database, releaseClock }, (signal) =>
          apart.run('check-table', given, { withinMs, signal }),
        ),
        { instanceOf: Failure },
      );
      const waiting = async () =>
        (
          await database.query(
            `select from pg_stat_activity where application_name = 'test apart' and wait_event_type = 'Lock'`,
          )
        ).length > 0;
      await until('it waits, with the load lock', waiting);
      comeDue();
      const error = await checked;
      t.is(error?.code, 'unavailable');
      t.regex(error?.message ?? '', new RegExp(`^Release ${releaseNo} is due 2099-01-01`));
      // The one who asks would be told of a load that is under way.
      await until('the lock is free', async () => !(await waiting()));
      await lockLoads(on, () => t.fail('the load lock is still held'));
    });
    await database.query('delete from embargo.releases');
  },
);

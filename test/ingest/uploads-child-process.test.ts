// Untrusted files are read in a child process: whatever happens to that process, the publisher continues.
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { utils, write } from '@e965/xlsx';
import { createChildRunner, ProcessEnded } from '../../ingest/publisher/child-process/run-in-child.ts';
import type { Tasks } from '../../ingest/publisher/child-process-tasks.ts';
import { storePieces } from '../../ingest/publisher/releases/stored-file.ts';
import { insertPiece } from '../../ingest/publisher/releases/embargo.sql.ts';
import { publishTable } from '../../ingest/publisher/uploads/publish-table.ts';
import { entryOf } from '../../ingest/publisher/uploads/upload-entry.ts';
import { insertUpload } from '../../ingest/publisher/uploads/uploads.sql.ts';
import { IngestFailure } from '../../ingest/failure.ts';
import { openDatabase } from '../../kernel/database.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { fakeReleaseClock } from './releasing.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, { applicationName: 'test' });
const shared = { databaseUrl: testDatabase.url, applicationName: 'test children', log: silentLog };
const children = createChildRunner<Tasks>(shared);
const small = createChildRunner<Tasks>({ ...shared, limits: { memoryMb: 48, stepSeconds: 120 } });
test.after.always(async () => {
  await Promise.all([children.close(), small.close()]);
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
  const row = { ...given, accountId: given.id, createdAt, expiresAt }; // the uploads of an account are limited
  await database.transaction((on) => insertUpload(on, row));
  async function* bytes() {
    yield Buffer.from(content);
  }
  await storePieces(bytes(), (position, piece) =>
    insertPiece(database, { uploadId: given.id }, position, piece),
  );
  return given;
}

const csv = 'date,value\n2024-01-31,1\n2024-02-29,2\n';
const withinMs = 120_000;

test('a file that exceeds the memory limit ends only the process that reads it', async (t) => {
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
  t.regex(error.message, /probably out of memory: the limit is 48 MB/);
  t.is((await small.run('read-upload', await upload('a.csv', csv), { withinMs })).length, 1);
});

test('a file that exceeds the time limit is abandoned', async (t) => {
  const error = await t.throwsAsync(
    children.run('read-upload', await upload('a.csv', csv), { withinMs: 1 }),
    {
      instanceOf: ProcessEnded,
    },
  );
  t.regex(error.message, /it took longer than/);
});

test('a gzip file may be as large unpacked as any file, and no larger', async (t) => {
  const packed = gzipSync(Buffer.alloc(5 * 1024 * 1024, csv));
  const bomb = { ...(await upload('a.csv.gz', packed)), bytesMax: 4 * 1024 * 1024 };
  const error = await t.throwsAsync(children.run('read-upload', bomb, { withinMs }), {
    instanceOf: IngestFailure,
  });
  t.is(error.message, 'Unpacked, the file is larger than 4 MB. Split it.');
  const { bytesMax: _, ...whole } = bomb;
  t.is((await children.run('read-upload', whole, { withinMs })).length, 1);
});

test('tasks run in turn, and an aborted task fails with the given reason', async (t) => {
  const stopping = new AbortController();
  const file = await upload('a.csv', csv);
  const [first, second] = [
    children.run('read-upload', file, { withinMs }),
    children.run('read-upload', file, { withinMs, signal: stopping.signal }),
  ];
  stopping.abort(new Error('The release is due.'));
  t.is((await first).length, 1);
  await t.throwsAsync(second, { message: 'The release is due.' });
});

test('a table is dated by the day on which it is loaded, however long its publication has waited', async (t) => {
  const file = await upload('waited.csv', csv);
  const [found] = await children.run('read-upload', file, { withinMs });
  const facts = { id: 'WAITED', unit: 'Index', source: 'Tests', frequency: 'monthly' };
  const entry = entryOf(found?.entry ?? '', { name: file.name, facts });
  const clock = fakeReleaseClock('2024-07-01T00:00:30Z');
  const given = { upload: file, table: 0, entry, seriesTimeZone: 'UTC', fiscalYearFirstMonth: 7 };
  const { load } = await publishTable({ database, clock }, given);
  const [row] = await database.query('select vintage from data.loads where load_no = $1', [load]);
  t.deepEqual(row, { vintage: '2024-07-01' });
});

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { createTestDatabase } from '../test/services/harness.ts';
import { migrate } from './run.ts';

/** A database without any schema of ours, and a directory of migrations of its own. */
async function setUp(t: ExecutionContext) {
  const database = await createTestDatabase();
  t.teardown(() => database.drop());
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  t.teardown(() => client.end());
  await client.query(
    'drop schema data, accounts cascade; drop extension pg_trgm; drop table public.almanac_migrations',
  );
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-migrations-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  return {
    url: database.url,
    directory,
    write: (name: string, sql: string) => writeFileSync(path.join(directory, name), sql),
    migrate: () => migrate(database.url, directory),
    async values(text: string): Promise<unknown[]> {
      const { rows } = await client.query<unknown[]>({ text, rowMode: 'array' });
      return rows.map(([value]) => value);
    },
    recorded: async () => {
      const { rows } = await client.query<{ name: string }>(
        'select name from public.almanac_migrations order by 1',
      );
      return rows.map(({ name }) => name);
    },
  };
}

const note = (word: string) => `insert into done (word) values ('${word}');`;
const createNotes = 'create table done (place integer generated always as identity, word text);';

test('of several that bring an empty database to the newest schema at once, one does it and the others wait for it', async (t) => {
  const { url, values, recorded } = await setUp(t);
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.sql'));
  const names = files.map((name) => name.slice(0, -'.sql'.length)).toSorted();
  const outcomes = await Promise.all([migrate(url), migrate(url), migrate(url)]);
  t.deepEqual(
    outcomes.toSorted((a, b) => b.length - a.length),
    [names, [], []],
  );
  t.deepEqual(await recorded(), names);
  t.deepEqual(await values(`select to_regclass('data.series') is not null`), [true]);
  t.deepEqual(await migrate(url), []);
});

test('migrations run in the order of their numbers, each once', async (t) => {
  const { write, migrate: run, values } = await setUp(t);
  write('000100_c.sql', note('c'));
  write('000009_a.sql', createNotes + note('a'));
  write('000010_b.sql', note('b'));
  write('README.md', 'not SQL');
  write('notes.sql', 'no number');
  t.deepEqual(await run(), ['000009_a', '000010_b', '000100_c']);
  t.deepEqual(await values('select word from done order by place'), ['a', 'b', 'c']);
  t.deepEqual(await run(), []);
  t.deepEqual(await values('select word from done order by place'), ['a', 'b', 'c']);
});

test('a migration that was applied is not run again though its file has changed, and a new one beside it is run', async (t) => {
  const { write, migrate: run, values, recorded } = await setUp(t);
  write('000001_a.sql', createNotes + note('a'));
  write('000003_c.sql', note('c'));
  await run();
  write('000003_c.sql', note('changed'));
  write('000002_b.sql', note('b')); // its number lies before one that was applied
  write('000004_d.sql', note('d'));
  t.deepEqual(await run(), ['000002_b', '000004_d']);
  t.deepEqual(await values('select word from done order by place'), ['a', 'c', 'b', 'd']);
  t.deepEqual(await recorded(), ['000001_a', '000002_b', '000003_c', '000004_d']);
});

test('a migration that fails leaves nothing behind, those before it stay, and the next run goes on from it', async (t) => {
  const { write, migrate: run, values, recorded } = await setUp(t);
  write('000001_a.sql', createNotes + note('a'));
  write('000002_b.sql', `${note('half')} create table half (); select 1 / 0;`);
  write('000003_c.sql', note('c'));
  const error = await t.throwsAsync(run());
  t.regex(error?.message ?? '', /000002_b/);
  t.regex(`${error?.message} ${String((error?.cause as Error | undefined)?.cause)}`, /division by zero/);
  t.deepEqual(await recorded(), ['000001_a']);
  t.deepEqual(await values('select word from done'), ['a']);
  t.deepEqual(await values(`select to_regclass('half') is null`), [true]);
  write('000002_b.sql', note('b'));
  t.deepEqual(await run(), ['000002_b', '000003_c']);
  t.deepEqual(await values('select word from done order by place'), ['a', 'b', 'c']);
});

test('a database that is ahead of the program is left as it is', async (t) => {
  const { directory, write, migrate: run, values, recorded } = await setUp(t);
  write('000001_a.sql', createNotes + note('a'));
  write('000002_newer.sql', note('newer'));
  await run();
  rmSync(path.join(directory, '000002_newer.sql'));
  t.deepEqual(await run(), []);
  t.deepEqual(await recorded(), ['000001_a', '000002_newer']);
  t.deepEqual(await values('select word from done order by place'), ['a', 'newer']);
});

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { untilWaiting } from '../test/run/until.ts';
import { createTestDatabase } from '../test/services/harness.ts';
import { startProxy } from '../test/services/proxy.ts';
import { migrate } from './run.ts';

/** A database without any schema of ours, and a directory of migrations of its own. */
async function setUp(t: ExecutionContext) {
  const database = await createTestDatabase();
  t.teardown(() => database.drop());
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  t.teardown(() => client.end());
  await client.query(
    'drop schema data, accounts, events, embargo cascade; drop extension pg_trgm; drop table public.almanac_migrations',
  );
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-migrations-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  return {
    url: database.url,
    directory,
    write: (name: string, sql: string) => writeFileSync(path.join(directory, name), sql),
    migrate: () => migrate(database.url, directory),
    exec: (text: string) => client.query(text),
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
  const files = readdirSync(import.meta.dirname).filter((name) => /^0.*\.sql$/.test(name));
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

test('a connection that breaks while migrations wait for those of another process is an error, and does not end the process', async (t) => {
  const { url, exec, values } = await setUp(t);
  const throughProxy = new URL(url);
  const proxy = await startProxy(Number(throughProxy.port));
  t.teardown(() => proxy.close());
  throughProxy.port = String(proxy.port);
  await exec('select pg_advisory_lock(4115201)');
  const failing = t.throwsAsync(migrate(throughProxy.href), { message: /Connection terminated|ECONNRESET/ });
  await untilWaiting(values);
  proxy.cut();
  await failing;
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

test('a migration beside those that were applied is run, whatever its number', async (t) => {
  const { write, migrate: run, values, recorded } = await setUp(t);
  write('000001_a.sql', createNotes + note('a'));
  write('000003_c.sql', note('c'));
  await run();
  write('000002_b.sql', note('b')); // its number lies before one that was applied
  write('000004_d.sql', note('d'));
  t.deepEqual(await run(), ['000002_b', '000004_d']);
  t.deepEqual(await values('select word from done order by place'), ['a', 'c', 'b', 'd']);
  t.deepEqual(await recorded(), ['000001_a', '000002_b', '000003_c', '000004_d']);
});

test('an applied migration whose file has changed is refused by its name, and nothing is run', async (t) => {
  const { write, migrate: run, values, recorded } = await setUp(t);
  write('000001_a.sql', createNotes + note('a'));
  write('000002_b.sql', `${note('b')}\n`);
  await run();
  write('000002_b.sql', `${note('b')}\r\n`);
  t.deepEqual(await run(), [], 'the ends of lines are no change');
  write('000002_b.sql', note('changed'));
  write('000003_c.sql', note('c'));
  const error = await t.throwsAsync(run());
  t.regex(error?.message ?? '', /another text: 000002_b\. .*restore its file/);
  t.deepEqual(await recorded(), ['000001_a', '000002_b']);
  t.deepEqual(await values('select word from done order by place'), ['a', 'b']);
  write('000002_b.sql', note('b') + '\n');
  t.deepEqual(await run(), ['000003_c']);
});

test('a database that a version of before the baseline has made is refused with the way out, and left as it is', async (t) => {
  const { write, migrate: run, recorded } = await setUp(t);
  write('000001_data.sql', createNotes);
  await run();
  write('000001_series.sql', createNotes + note('series'));
  const error = await t.throwsAsync(run());
  t.regex(
    error?.message ?? '',
    /before 0\.2 has made this database.*"almanac backup <file>" with that version.*"almanac restore <file>"/,
  );
  t.deepEqual(await recorded(), ['000001_data']);
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

test('a database that a newer version has migrated is refused, and left as it is', async (t) => {
  const { directory, write, migrate: run, values, recorded } = await setUp(t);
  write('000001_a.sql', createNotes + note('a'));
  write('000002_newer.sql', note('newer'));
  await run();
  rmSync(path.join(directory, '000002_newer.sql'));
  write('000003_mine.sql', note('mine'));
  const error = await t.throwsAsync(run());
  t.regex(
    error?.message ?? '',
    /newer version of Almanac has migrated this database \(000002_newer\)\. Start that/,
  );
  t.deepEqual(await recorded(), ['000001_a', '000002_newer']);
  t.deepEqual(await values('select word from done order by place'), ['a', 'newer']);
});

test('a role that may not change the schema finds it up to date, or learns what to run first', async (t) => {
  const { url, directory, write, migrate: run, exec } = await setUp(t);
  const role = new URL(url).pathname.slice(1); // roles belong to the whole server
  await exec(`create role ${role} login password 'of a test'`);
  t.teardown(() => exec(`drop owned by ${role}; drop role ${role}`));
  const asRole = Object.assign(new URL(url), { username: role, password: 'of a test' }).href;
  write('000001_a.sql', createNotes);
  await t.throwsAsync(migrate(asRole, directory), { message: /it lacks 000001_a\. Run "almanac migrate"/ });
  await run();
  await exec(`grant select on public.almanac_migrations to ${role}`);
  t.deepEqual(await migrate(asRole, directory), []);
  write('000002_b.sql', note('b'));
  await t.throwsAsync(migrate(asRole, directory), { message: /it lacks 000002_b\. Run "almanac migrate"/ });
});

// almanac restore of files from an untrusted source: refused with one line that is safe for a terminal, and nothing changes, in the database or
// elsewhere.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import test from 'ava';
import pg from 'pg';
import { createTestDatabase } from '../services/harness.ts';
import { commandLine, settingsOf } from './terminal.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'almanac-hostile-'));
const testDatabase = await createTestDatabase();
const settings = settingsOf(testDatabase.url);
const almanac = commandLine(settings);
const good = path.join(folder, 'good.gz');
test.before(async () => {
  await almanac(['accounts', 'create', 'ada@b.example']);
  const csv = 'series_id,date,value\nA,2024-01-01,1\n';
  const set = ['--create', '--set', 'frequency=daily,unit=One,source=T'];
  await almanac(['ingest', 'observations', '-', ...set], { stdin: csv });
  const { code, stderr } = await almanac(['backup', good]);
  if (code !== 0) throw new Error(stderr);
});
test.after.always(async () => {
  await testDatabase.drop();
  rmSync(folder, { recursive: true });
});

const escape = '\u001b[2J\u009b31m';

/** A backup with another header. */
function withHeader(change: (header: Record<string, unknown>) => void): Buffer {
  const text = gunzipSync(readFileSync(good)).toString();
  const end = text.indexOf('\n');
  const header = JSON.parse(text.slice(0, end)) as Record<string, unknown>;
  change(header);
  return gzipSync(JSON.stringify(header) + text.slice(end));
}

/** A backup whose table has these rows, with the sum and counts that belong to them. */
function withRows(table: string, rows: string): Buffer {
  const text = gunzipSync(readFileSync(good)).toString();
  const end = text.indexOf(`{"table":"${table}","rows"`);
  const before = text.slice(0, end - '\\.\n'.length);
  const begin = before.lastIndexOf('}\n') + 2;
  const sha256 = createHash('sha256').update(rows).digest('hex');
  const count = rows.split('\n').length - 1;
  const stated = JSON.stringify({ table, rows: count, sha256 });
  return gzipSync(`${text.slice(0, begin)}${rows}\\.\n${stated}${text.slice(text.indexOf('\n', end))}`);
}

function columnsOf(table: string): number {
  const header = JSON.parse(gunzipSync(readFileSync(good)).toString().split('\n')[0] ?? '') as Record<
    string,
    unknown
  >;
  return tablesOf(header).find((each) => each.table === table)?.columns.length ?? 0;
}

const tablesOf = (header: Record<string, unknown>) =>
  header['tables'] as { table: string; columns: string[] }[];
const migrationsOf = (header: Record<string, unknown>) => header['migrations'] as { name: string }[];

const sql = `create function pg_temp.f() returns trigger language plpgsql as $$ begin end $$;
create extension file_fdw; copy data.series to program 'touch ${folder}/made'; drop schema data cascade;\n`;

/** The header of a tar archive with one file. */
function tarOf(name: string): Buffer {
  const block = Buffer.alloc(1024);
  block.write(name);
  block.write('0000644\0', 100);
  block.write('00000000001\0', 124);
  block.write('ustar\u000000', 257);
  return block;
}

const hostile: Record<string, () => [bytes: Buffer, message: RegExp]> = {
  nothing: () => [Buffer.alloc(0), /is cut off|is not a gzip file/],
  'a gzip of nothing': () => [gzipSync(''), /is cut off: it ends within its header/],
  'an archive with a path out of its folder': () => [
    gzipSync(tarOf('../../../../etc/cron.d/evil')),
    /not a backup .* its header|is cut off/,
  ],
  'a zip': () => [Buffer.from('PK\u0003\u0004../../evil'), /is not a gzip file/],
  'a dump of pg_dump in its own format': () => [Buffer.from('PGDMP\u0001\u000e'), /is not a gzip file/],
  'a dump in SQL, with functions, extensions and programs': () => [
    gzipSync(sql),
    /not a backup .* its header/,
  ],
  'SQL behind the header': () => [
    gzipSync(`${gunzipSync(readFileSync(good)).toString().split('\n')[0]}\n${sql}\\.\n${sql}`),
    /almanac: /,
  ],
  'SQL as the name of a table': () => [
    withHeader((header) => (tablesOf(header)[0]!.table = `data.loads; ${sql}`)),
    /The tables of this database are not those of the backup/,
  ],
  'SQL as the name of a column': () => [
    withHeader((header) => (tablesOf(header)[0]!.columns[0] = `x) from program 'touch ${folder}/made' --`)),
    /The tables of this database are not those of the backup/,
  ],
  'a table of PostgreSQL': () => [
    withHeader((header) => tablesOf(header).push({ table: 'pg_catalog.pg_authid', columns: ['rolname'] })),
    /The tables of this database are not those of the backup/,
  ],
  'a table twice': () => [
    withHeader((header) => tablesOf(header).push(tablesOf(header)[0]!)),
    /The tables of this database are not those of the backup/,
  ],
  'a sequence of another schema': () => [
    withHeader((header) => Object.assign(header['sequences'] as object, { 'pg_catalog.x': '1' })),
    /The tables of this database are not those of the backup/,
  ],
  'a sequence beyond what numbers go to': () => [
    withHeader((header) => {
      const sequences = header['sequences'] as Record<string, string>;
      const names = Object.keys(sequences);
      for (const name of names) sequences[name] = '7';
      sequences[names.at(-1) ?? ''] = '9'.repeat(19);
    }),
    /out of range/,
  ],
  'a version that a terminal would obey': () => [
    withHeader((header) => Object.assign(header, { almanac: escape })),
    /not a backup .* its header/,
  ],
  'a migration that a terminal would obey': () => [
    withHeader((header) => migrationsOf(header).push({ ...migrationsOf(header)[0]!, name: escape })),
    /not a backup .* its header/,
  ],
  'a header without an end': () => [
    gzipSync(Buffer.alloc(64 * 1024 * 1024, 32)),
    /not a backup .* its header/,
  ],
  'a header of a million nested lists': () => [
    gzipSync(`${'['.repeat(1_000_000)}\n`),
    /not a backup .* its header/,
  ],
  'a value that a terminal would obey': () => [
    withRows('data.loads', `${escape}${'\t\\N'.repeat(columnsOf('data.loads') - 1)}\n`),
    /invalid input syntax for type \w+: "\\u001b\[2J\\u009b31m"/,
  ],
  'a row of another table': () => [
    withRows('accounts.accounts', `a\tb\tc\n`),
    /accounts|invalid input|missing data/,
  ],
  'an end within a row': () => [withRows('accounts.accounts', `acct_1\n\\.\nmore\n`), /almanac: /],
};

async function stateNow(): Promise<unknown> {
  const client = new pg.Client({ connectionString: testDatabase.url, application_name: 'tests' });
  await client.connect();
  try {
    const { rows } = await client.query(
      `select array(select a::text from accounts.accounts a order by 1) as accounts,
              array(select o::text from data.observations o order by 1) as points,
              array(select format('%s %s', sequencename, last_value) from pg_sequences order by 1) as sequences,
              array(select proname from pg_proc where pronamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) order by 1) as functions,
              array(select extname from pg_extension order by 1) as extensions,
              array(select format('%s %s %s', tgrelid, tgname, tgenabled) from pg_trigger where not tgisinternal order by 1) as triggers,
              array(select format('%s %s', conrelid, conname) from pg_constraint where contype = 'f' order by 1) as keys`,
    );
    return rows[0];
  } finally {
    await client.end();
  }
}

for (const [what, make] of Object.entries(hostile))
  test.serial(`a backup that is ${what} is refused and changes nothing`, async (t) => {
    const file = path.join(folder, 'hostile.gz');
    const [bytes, message] = make();
    writeFileSync(file, bytes);
    const before = await stateNow();
    const files = readdirSync(folder);
    for (const from of [[file], ['-']]) {
      const stdin = from[0] === '-' ? { stdin: bytes } : {};
      const { code, stdout, stderr } = await almanac(['restore', ...from, '--replace', '--json'], stdin);
      t.deepEqual([code, stdout], [1, '']);
      t.regex(stderr, message);
      // oxlint-disable-next-line no-control-regex -- none may reach the terminal
      t.notRegex(stderr, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
      t.deepEqual(await stateNow(), before);
      t.deepEqual(readdirSync(folder), files, 'no file was made');
    }
  });

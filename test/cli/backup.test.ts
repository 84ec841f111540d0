// almanac backup and almanac restore: what is restored is what was backed up, whole or not at all.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { projectRoot } from '../../kernel/project.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { openDatabase } from '../../kernel/database.ts';
import { writeBackup } from '../../cli/backup/backup.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { mailJobs } from '../auth/mail-jobs.ts';
import { commandLine, settingsOf } from './terminal.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'almanac-backup-'));
const file = path.join(folder, 'demo.backup.gz');
const source = await createTestDatabase();
const almanac = commandLine(settingsOf(source.url));
let stateBefore: Record<string, unknown>;
test.before(async () => {
  await almanac(['seed']);
  await almanac(['keys', 'create', 'demo@almanac.example']);
  const release = path.join(folder, 'release.csv');
  writeFileSync(release, 'series_id,date,value\nDEMO.CPI,2024-01,1\n');
  await almanac(['ingest', 'observations', release, '--release-at', '2199-12-16T10:00:00Z']);
  await onDatabase(source.url, async (query) => {
    await query(
      `update data.series set description = E'a\\tb\\nc\\\\.\\n\\\\.\\n\\\\N é€😀' where series_id = 'DEMO.CPI'`,
    );
    await query('select data.refresh_search(array(select series_no from data.series))');
  });
  stateBefore = await stateOf(source.url);
  const { code, stderr } = await almanac(['backup', file]);
  if (code !== 0) throw new Error(stderr);
});
test.after.always(async () => {
  await source.drop();
  rmSync(folder, { recursive: true });
});

type Query = (text: string) => Promise<Record<string, unknown>[]>;

async function onDatabase<T>(url: string, work: (query: Query) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'tests' });
  await client.connect();
  try {
    return await work(async (text) => (await client.query<Record<string, unknown>>(text)).rows);
  } finally {
    await client.end();
  }
}

/** The content of every table, what keeps it right, and the sequences. */
function stateOf(url: string): Promise<Record<string, unknown>> {
  return onDatabase(url, async (query) => {
    const state: Record<string, unknown> = {};
    const inSchemas = `in ('data'::regnamespace, 'accounts'::regnamespace, 'events'::regnamespace, 'embargo'::regnamespace)`;
    const tables = await query(
      `select oid::regclass::text as name from pg_class where relkind in ('r', 'p') and relnamespace ${inSchemas}`,
    );
    for (const { name } of tables)
      [state[String(name)]] = await query(
        `select count(*)::int as rows, md5(string_agg(r::text, '|' order by r::text)) as content from ${String(name)} r`,
      );
    state['constraints'] = await query(
      `select conrelid::regclass::text, conname, pg_get_constraintdef(oid), convalidated from pg_constraint
       where connamespace ${inSchemas} order by 1, 2`,
    );
    state['triggers'] = await query(
      `select tgrelid::regclass::text, tgname, tgenabled from pg_trigger where not tgisinternal order by 1, 2`,
    );
    state['sequences'] = await query(
      `select schemaname, sequencename, last_value from pg_sequences
       where schemaname in ('data', 'accounts', 'events', 'embargo') order by 1, 2`,
    );
    return state;
  });
}

/** A database of its own, its command line, and its state. */
async function emptyDatabase(t: ExecutionContext) {
  const database = await createTestDatabase();
  t.teardown(() => database.drop());
  return {
    url: database.url,
    almanac: commandLine(settingsOf(database.url)),
    state: () => stateOf(database.url),
  };
}

/** Without what a restore changes on purpose: the numbers that nobody may have seen before. */
function withoutNumbers(state: Record<string, unknown>): Record<string, unknown> {
  const sequences = (state['sequences'] as { sequencename: string }[]).filter(
    ({ sequencename }) => sequencename !== 'loads_load_no_seq',
  );
  return { ...state, 'data.loads': null, 'accounts.change_counter': null, sequences };
}

/** The numbers by which gateways and clients know what they have seen. */
async function numbersOf(url: string): Promise<{ load: number; change: number; nextLoad: number }> {
  const [row] = await onDatabase(url, (query) =>
    query(
      `select (select max(load_no) from data.loads)::float8 as load, no::float8 as change,
              nextval('data.loads_load_no_seq')::float8 as "nextLoad" from accounts.change_counter`,
    ),
  );
  return row as { load: number; change: number; nextLoad: number };
}

/** The backup with its text changed. */
function changed(change: (text: string) => string, of = file): string {
  const before = gunzipSync(readFileSync(of)).toString();
  const after = change(before);
  if (after === before) throw new Error('nothing was changed');
  const other = path.join(folder, `${createHash('sha256').update(after).digest('hex')}.gz`);
  writeFileSync(other, gzipSync(after, { level: 1 }));
  return other;
}

const withMigrations = (list: string, of = file) =>
  changed((text) => text.replace(/"migrations":\[[^\]]*\]/, `"migrations":[${list}]`), of);
const first = '{"name":"000001_data","checksum":"1"}';
const last =
  '{"name":"000160_heartbeat","checksum":"e737a6fc67ef8b3ac5c4fd18bebe63eb512295de73c0fc01da55cb2e166ecaa8"}';
const ofBeforeBaseline = (of: string) => withMigrations(`${first},${last}`, of);

const linesTables = ['data.confirmations', 'data.observations', 'data.statements', 'data.series_dims'];

/** Gives the tables the columns by which the last version before the baseline named a line: the series, and a number within it. */
async function nameLinesAsBefore(query: Query): Promise<void> {
  await query(`create temp table lines as
    select line_no, series_no, row_number() over (partition by series_no order by line_no) - 1 as dims_no from data.series_dims`);
  for (const table of linesTables) {
    await query(
      `alter table ${table} add column if not exists series_no integer, add column dims_no integer`,
    );
    await query(
      `update ${table} o set series_no = d.series_no, dims_no = d.dims_no from lines d where d.line_no = o.line_no`,
    );
    await query(`alter table ${table} drop column line_no cascade`);
  }
}

/** All that is stored of points, by their series; and its combinations of dimension values in their order. */
function pointsOf(url: string): Promise<Record<string, unknown>[]> {
  const rowsOf = (table: string) => `
    select count(*)::int as rows, md5(string_agg(r, '|' order by r)) as content from (
      select concat(series_no, dims, to_jsonb(o) - 'line_no') as r from ${table} o join data.series_dims using (line_no)) r`;
  return onDatabase(url, (query) =>
    query(
      `${linesTables.slice(0, 3).map(rowsOf).join(' union all ')}
       union all select count(*)::int, md5(string_agg(concat(series_no, dims), '|' order by series_no, line_no)) from data.series_dims`,
    ),
  );
}

test.serial(
  'every table, constraint, trigger and sequence is as it was, after a restore into an empty database',
  async (t) => {
    const target = await emptyDatabase(t);
    const { code, stdout, stderr } = await target.almanac(['restore', file, '--json']);
    t.is(code, 0, stderr);
    const told = JSON.parse(stdout) as { tables: number; rows: number; made_at: string };
    t.deepEqual(withoutNumbers(await target.state()), withoutNumbers(stateBefore));
    const filled = Object.values(stateBefore).filter((table) => ((table as { rows?: number }).rows ?? 0) > 0);
    t.true(filled.length > 25, 'the demo fills most tables');
    t.true(told.rows > 10_000);
    t.is(told.tables, Object.keys(stateBefore).length - 3);
    t.true(Date.parse(told.made_at) <= Date.now());
    t.deepEqual(
      await onDatabase(target.url, (query) =>
        query(`select 1 from data.series where description = E'a\\tb\\nc\\\\.\\n\\\\.\\n\\\\N é€😀'`),
      ),
      [{ '?column?': 1 }],
    );
    const added = await target.almanac(['accounts', 'create', 'new@b.example']);
    t.is(added.code, 0, 'it takes writes: sequences and triggers go on');
    const made = await target.almanac(['releases', 'now', '1']);
    t.is(made.code, 0, 'what is under embargo is there with its file');
  },
);

test.serial('the file appears whole, for its owner alone, and says what it is', async (t) => {
  t.is(statSync(file).mode & 0o777, 0o600);
  const lines = gunzipSync(readFileSync(file)).toString().split('\n');
  t.like(JSON.parse(lines[0] ?? ''), { format: 'almanac-backup', format_version: 1 });
  t.like(JSON.parse(lines.at(-2) ?? ''), { end: 'almanac-backup' });
  const nowhere = path.join(folder, 'no-folder', 'x.gz');
  const failed = await almanac(['backup', nowhere]);
  t.is(failed.code, 1);
  t.regex(failed.stderr, /ENOENT/);
  const asService = commandLine(settingsOf(serviceUrl(source.url, 'almanac_data_api')));
  const refused = await asService(['backup', path.join(folder, 'refused.gz')]);
  t.is(refused.code, 1);
  t.regex(refused.stderr, /may not read everything: a backup needs that of the owner/);
  t.deepEqual(
    readdirSync(folder).toSorted(),
    ['demo.backup.gz', 'release.csv'],
    'what is unfinished is removed',
  );
  const text = await almanac(['backup', path.join(folder, 'again.gz')]);
  t.regex(text.stdout, /^\d+ rows of \d+ tables in \d+ bytes, [\d.]+ s\n$/);
  t.true(existsSync(path.join(folder, 'again.gz')));
});

test.serial('a database that is not empty is refused, and replaced whole with --replace', async (t) => {
  const target = await emptyDatabase(t);
  await target.almanac(['accounts', 'create', 'other@b.example']);
  const before = await target.state();
  const refused = await target.almanac(['restore', file]);
  t.is(refused.code, 1);
  t.regex(refused.stderr, /This database is not empty\. .*--replace/);
  t.deepEqual(await target.state(), before);
  const { code, stdout, stderr } = await target.almanac(['restore', file, '--replace']);
  t.is(code, 0, stderr);
  t.regex(
    stdout,
    /^\d+ rows of \d+ tables, as of .*\nEmpty Redis, if there is one, and start all services again/,
  );
  t.deepEqual(withoutNumbers(await target.state()), withoutNumbers(stateBefore));
});

test.serial('no number of before is given again: of loads, and of cached credentials', async (t) => {
  const target = await emptyDatabase(t);
  await onDatabase(target.url, async (query) => {
    await query(`select setval('data.loads_load_no_seq', 1000000)`);
    await query('update accounts.change_counter set no = 1000000');
  });
  const started = Date.now();
  t.is((await target.almanac(['restore', file])).code, 0);
  const first = await numbersOf(target.url);
  t.true(first.load >= started && first.change >= started);
  t.is(first.nextLoad, first.load + 1);
  t.is((await target.almanac(['restore', file, '--replace'])).code, 0);
  const second = await numbersOf(target.url);
  t.true(second.load > first.nextLoad && second.change > first.change);
});

test.serial('mails that waited in the replaced database are gone', async (t) => {
  const target = await emptyDatabase(t);
  await target.almanac(['accounts', 'create', 'other@b.example']);
  t.is((await target.almanac(['accounts', 'send-reset', 'other@b.example'])).code, 0);
  const { code, stderr } = await target.almanac(['restore', file, '--replace']);
  t.is(code, 0, stderr);
  t.is(
    (await target.almanac(['accounts', 'send-reset', 'demo@almanac.example'])).code,
    0,
    'pg-boss begins anew',
  );
  t.deepEqual(
    (await mailJobs(target.url)).map(({ data }) => data),
    [{ mail: 'reset_password', email: 'demo@almanac.example' }],
  );
});

test.serial(
  'a backup of the last version before the baseline is restored, and one of an earlier version is refused',
  async (t) => {
    const target = await emptyDatabase(t);
    for (const list of [first, last.replace('e737', 'e738'), `${first},${last.replace('e737', 'e738')}`]) {
      const refused = await target.almanac(['restore', withMigrations(list)]);
      t.is(refused.code, 1);
      t.regex(refused.stderr, /with another schema/);
    }
    t.is((await target.almanac(['restore', file])).code, 0);
    const pointsBefore = await pointsOf(target.url);
    const older = path.join(folder, 'older.gz');
    await onDatabase(target.url, async (query) => {
      await query('alter table data.series drop column row_version');
      await query('drop table embargo.interruptions, data.facet_counts');
      await query('drop function data.refresh_search');
      await query('alter table data.search_entries drop column geography cascade');
      await nameLinesAsBefore(query);
    });
    t.is((await target.almanac(['backup', older])).code, 0);
    const other = await emptyDatabase(t);
    const lacking = await other.almanac(['restore', older]);
    t.is(lacking.code, 1, 'only a backup of before may lack a column or a table');
    t.regex(lacking.stderr, /are not those of the backup/);
    const { code, stderr } = await other.almanac(['restore', ofBeforeBaseline(older)]);
    t.is(code, 0, stderr);
    t.deepEqual(await pointsOf(other.url), pointsBefore);
    const [stateOfOther, ofOldest] = [withoutNumbers(await other.state()), withoutNumbers(stateBefore)];
    for (const table of [...linesTables, 'data.series', 'embargo.interruptions'])
      for (const state of [stateOfOther, ofOldest]) state[table] = null;
    t.deepEqual(stateOfOther, ofOldest);
    const versions = 'select count(*)::int as series, max(row_version)::int as newest from data.series';
    const [row] = await onDatabase(other.url, (query) => query(versions));
    t.like(row, { newest: 0 });
  },
);

test.serial('a row of a backup of before the baseline that names no line is refused', async (t) => {
  const changedBefore = await emptyDatabase(t);
  t.is((await changedBefore.almanac(['restore', file])).code, 0);
  await onDatabase(changedBefore.url, async (query) => {
    await nameLinesAsBefore(query);
    await query(
      'update data.observations set dims_no = 9999 where ctid = (select min(ctid) from data.observations)',
    );
  });
  const older = path.join(folder, 'lines.gz');
  t.is((await changedBefore.almanac(['backup', older])).code, 0);
  const target = await emptyDatabase(t);
  const before = await target.state();
  const { code, stderr } = await target.almanac(['restore', ofBeforeBaseline(older)]);
  t.is(code, 1);
  t.regex(stderr, /is damaged: data\.observations has rows of combinations of dimension values that/);
  t.deepEqual(await target.state(), before);
});

for (const [what, broken, message] of [
  [
    'is cut off between two tables',
    () => changed((text) => text.slice(0, text.indexOf('\n{"table":"data.loads"') + 1)),
    /is cut off: it ends within the end of data\.loads/,
  ],
  [
    'is cut off within a table',
    () => changed((text) => text.slice(0, text.indexOf('\n{"table":"data.observations"') - 100)),
    /is cut off: it ends within data\.observations/,
  ],
  [
    'lacks its last line',
    () => changed((text) => text.slice(0, text.lastIndexOf('\n{"end"') + 1)),
    /is cut off: it ends within its last line/,
  ],
  [
    'has another value',
    () => changed((text) => text.replace('demo@almanac.example', 'evil@almanac.example')),
    /is damaged: the rows of accounts\.accounts are not those/,
  ],
  [
    'has a row less',
    () => changed((text) => text.replace(/\n[^\n]*\n\\\.\n(\{"table":"data\.series")/, '\n\\.\n$1')),
    /damaged: the rows of data\.series are not/,
  ],
  ['goes on after its end', () => changed((text) => `${text}more\n`), /or it is damaged: its end/],
  [
    'says another count',
    () => changed((text) => text.replace(/("end":"almanac-backup","rows":)\d+/, '$17')),
    /states 7 rows, and has \d+/,
  ],
  [
    'is of another format',
    () => changed((text) => text.replace('"format_version":1', '"format_version":2')),
    /not a backup of this version of Almanac, or it is damaged: its header/,
  ],
  [
    'is of another schema',
    () =>
      changed((text) =>
        text.replace(
          /\{"name":"000012_webhooks","checksum":"\w+"\}/,
          '{"name":"000013_other","checksum":"0"}',
        ),
      ),
    /with another schema: the backup has 000013_other, this database does not; this database has 000012_webhooks/,
  ],
  [
    'has a migration of another text',
    () => changed((text) => text.replace(/("000012_webhooks","checksum":")\w/, '$1x')),
    /the texts of 000012_webhooks differ/,
  ],
  [
    'is not gzip',
    () => {
      const other = path.join(folder, 'text.gz');
      writeFileSync(other, 'not gzip');
      return other;
    },
    /is not a gzip file, or it is damaged or cut off/,
  ],
  [
    'has a damaged byte',
    () => {
      const other = path.join(folder, 'byte.gz');
      const bytes = readFileSync(file);
      const at = bytes.length >> 1;
      bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
      writeFileSync(other, bytes);
      return other;
    },
    /damaged|cut off|invalid|malformed|extra data|missing data/,
  ],
  [
    'is cut off within its gzip',
    () => {
      const other = path.join(folder, 'half.gz');
      writeFileSync(other, readFileSync(file).subarray(0, 100_000));
      return other;
    },
    /cut off/,
  ],
] as const)
  test.serial(`a backup that ${what} is refused, and nothing has changed`, async (t) => {
    const target = await emptyDatabase(t);
    await target.almanac(['accounts', 'create', 'other@b.example']);
    const before = await target.state();
    const { code, stderr } = await target.almanac(['restore', broken(), '--replace']);
    t.is(code, 1);
    t.regex(stderr, message);
    t.deepEqual(await target.state(), before);
  });

test.serial('a row that refers to none is refused', async (t) => {
  const target = await emptyDatabase(t);
  // Rows and sums that agree with each other, as somebody would write who makes a backup by hand.
  const orphan = changed((text) => {
    const table = /\n\{"table":"accounts\.accounts","rows":1,"sha256":"\w+"\}/;
    const empty = createHash('sha256').digest('hex');
    const begins = text.indexOf('\n') + 1;
    const ends = text.search(table);
    const rest = text.slice(ends).replace(/"rows":1,"sha256":"\w+"/, `"rows":0,"sha256":"${empty}"`);
    return `${text.slice(0, begins)}\\.${rest}`.replace(
      /("end":"almanac-backup","rows":)(\d+)/,
      (_whole, name: string, rows: string) => name + String(Number(rows) - 1),
    );
  });
  const { code, stderr } = await target.almanac(['restore', orphan]);
  t.is(code, 1);
  t.regex(stderr, /violates foreign key constraint "api_keys_account_id_fkey"/);
});

test.serial('a database that is in use is refused', async (t) => {
  const target = await emptyDatabase(t);
  const service = new pg.Client({ connectionString: target.url, application_name: 'almanac data-api' });
  await service.connect();
  t.teardown(() => service.end());
  const byRole = new pg.Client({ connectionString: serviceUrl(target.url, 'almanac_accounts_api') });
  await byRole.connect();
  t.teardown(() => byRole.end());
  const { code, stderr } = await target.almanac(['restore', file]);
  t.is(code, 1);
  t.regex(stderr, /in use \(almanac data-api, almanac_accounts_api\)\. Stop all services/);
});

test.serial('a backup is of one moment, and what happens meanwhile is not in it', async (t) => {
  const target = await emptyDatabase(t);
  const other = path.join(folder, 'meanwhile.gz');
  const [made] = await Promise.all([
    almanac(['backup', other]),
    almanac(
      [
        'ingest',
        'observations',
        '-',
        '--create',
        '--set',
        'series_id=NEW,name=N,unit=One,frequency=daily,source=T',
      ],
      {
        stdin: 'date,value\n2024-01-01,1\n',
      },
    ),
    almanac(['accounts', 'create', 'meanwhile@b.example']),
  ]);
  t.is(made.code, 0, made.stderr);
  const restored = await target.almanac(['restore', other]);
  t.is(restored.code, 0, restored.stderr);
  const [row] = await onDatabase(target.url, (query) =>
    query(`select count(*)::int as series, sum(observation_count)::int as points,
      (select count(*)::int from data.observations where superseded_on = 'infinity' and value is not null) as counted from data.series`),
  );
  t.is(row?.['points'], row?.['counted']);
});

test.serial('a backup goes through a pipe, from one database into another', async (t) => {
  const target = await emptyDatabase(t);
  const program = path.join(projectRoot, 'almanac.js');
  const { stdout, stderr } = await promisify(execFile)(
    'sh',
    [
      '-c',
      '"$0" "$1" backup - --json | DATABASE_URL="$2" "$0" "$1" restore - --json',
      process.execPath,
      program,
      target.url,
    ],
    { env: { ...process.env, ...settingsOf(source.url) } },
  );
  const [made, restored] = [stderr, stdout].map((line) => JSON.parse(line) as { rows: number });
  t.is(made?.rows, restored?.rows);
  t.true((made?.rows ?? 0) > 10_000);
});

test.serial('a backup whose reader disconnects, or whose disk is full, fails with a message', async (t) => {
  const program = path.join(projectRoot, 'almanac.js');
  const env = { ...process.env, ...settingsOf(source.url) };
  const { stdout } = await promisify(execFile)(
    'sh',
    [
      '-c',
      '{ { "$0" "$1" backup - 2>&3; echo "code $?" >&3; } | head -c 10 >/dev/null; } 3>&1',
      process.execPath,
      program,
    ],
    { env },
  );
  t.regex(stdout, /^almanac: write EPIPE\ncode 1\n$/);
  const database = openDatabase(source.url, silentLog, { applicationName: 'tests' });
  t.teardown(() => database.close());
  let taken = 0;
  const full = new Writable({
    write(chunk: Buffer, _encoding, done) {
      taken += chunk.length;
      done(taken > 100_000 ? new Error('no space left') : null);
    },
  });
  await t.throwsAsync(
    writeBackup(database, full, () => undefined),
    { message: 'no space left' },
  );
  t.deepEqual(await database.query('select 1 as one'), [{ one: 1 }], 'the connections serve on');
});

test.serial('backup and restore take a file, and no more', async (t) => {
  for (const name of ['backup', 'restore'])
    for (const words of [[name], [name, 'a', 'b']]) {
      const { code, stderr } = await almanac(words);
      t.is(code, 2);
      t.regex(stderr, /missing required argument 'file'|too many arguments/);
    }
  const missing = await almanac(['restore', path.join(folder, 'missing.gz')]);
  t.is(missing.code, 1);
  t.regex(missing.stderr, /ENOENT/);
});

// almanac backup and almanac restore: a restore brings back exactly what was backed up, or changes nothing.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import pg from 'pg';
import { projectRoot } from '../../kernel/project.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { openDatabase } from '../../kernel/database.ts';
import { writeBackup } from '../../cli/backup/backup.ts';
import { until } from '../run/until.ts';
import { silentLog } from '../services/harness.ts';
import { mailJobs } from '../auth/mail-jobs.ts';
import { commandLine, settingsOf } from './terminal.ts';
import {
  folder,
  file,
  source,
  almanac,
  stateBefore,
  backUpDemo,
  removeBackups,
  onDatabase,
  emptyDatabase,
  withoutNumbers,
  numbersOf,
  changed,
} from './backed-up.ts';

test.before(backUpDemo);
test.after.always(removeBackups);

test.serial(
  'every table, constraint, trigger and sequence is as it was, after a restore into an empty database',
  async (t) => {
    const target = await emptyDatabase(t);
    const { code, stdout, stderr } = await target.almanac(['restore', file, '--json']);
    t.is(code, 0, stderr);
    const reported = JSON.parse(stdout) as { tables: number; rows: number; made_at: string };
    t.deepEqual(withoutNumbers(await target.state()), withoutNumbers(stateBefore));
    const filled = Object.values(stateBefore).filter((table) => ((table as { rows?: number }).rows ?? 0) > 0);
    t.true(filled.length > 25, 'the demo fills most tables');
    t.true(reported.rows > 10_000);
    t.is(reported.tables, Object.keys(stateBefore).length - 3);
    t.true(Date.parse(reported.made_at) <= Date.now());
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

test.serial('a backup that Ctrl-C ends leaves no part of its file', async (t) => {
  const into = mkdtempSync(path.join(folder, 'ended-'));
  t.teardown(() => rmSync(into, { recursive: true }));
  await onDatabase(source.url, async (query) => {
    await query('begin');
    await query('lock table data.footnotes in access exclusive mode'); // it waits for this table
    const child = spawn(
      process.execPath,
      [path.join(projectRoot, 'almanac.js'), 'backup', path.join(into, 'b.gz')],
      { env: { ...process.env, ...settingsOf(source.url) }, stdio: 'ignore' },
    );
    t.teardown(() => child.kill('SIGKILL'));
    const closed = new Promise((resolve) => child.once('close', (_, signal) => resolve(signal)));
    await until('it writes', () => readdirSync(into).length > 0);
    child.kill('SIGINT');
    t.is(await closed, 'SIGINT');
  });
  t.deepEqual(readdirSync(into), []);
});

test.serial('the file appears only once complete, for its owner alone, and states what it is', async (t) => {
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

test.serial('of two backups to one file at once, each is whole, and the file is one of them', async (t) => {
  const into = mkdtempSync(path.join(folder, 'twice-'));
  t.teardown(() => rmSync(into, { recursive: true }));
  const twice = path.join(into, 'b.gz');
  for (const { code, stderr } of await Promise.all([1, 2].map(() => almanac(['backup', twice]))))
    t.is(code, 0, stderr);
  t.deepEqual(readdirSync(into), ['b.gz']);
  const target = await emptyDatabase(t);
  const { code, stderr } = await target.almanac(['restore', twice]);
  t.is(code, 0, stderr);
});

test.serial('a backup takes the place of a file alone, not of a folder or a pipe', async (t) => {
  const into = mkdtempSync(path.join(folder, 'others-'));
  t.teardown(() => rmSync(into, { recursive: true }));
  const pipe = path.join(into, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const name of [into, pipe]) {
    const { code, stderr } = await almanac(['backup', name]);
    t.is(code, 2);
    t.true(stderr.includes(`${name} is not a file. Name a file, or - for standard output.`), stderr);
  }
  t.deepEqual(readdirSync(into), ['pipe']);
  t.true(statSync(pipe).isFIFO());
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

test.serial('numbers of loads and of cached credentials are never reused after a restore', async (t) => {
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

test.serial('a row that refers to a missing row is refused', async (t) => {
  const target = await emptyDatabase(t);
  // Rows and sums that match each other, as in a backup made by hand.
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

test.serial('a backup shows one moment and contains no later changes', async (t) => {
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

test.serial('a backup can be piped from one database into another', async (t) => {
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
  let writtenBytes = 0;
  const full = new Writable({
    write(chunk: Buffer, _encoding, done) {
      writtenBytes += chunk.length;
      done(writtenBytes > 100_000 ? new Error('no space left') : null);
    },
  });
  await t.throwsAsync(
    writeBackup(database, full, () => undefined),
    { message: 'no space left' },
  );
  t.deepEqual(await database.query('select 1 as one'), [{ one: 1 }], 'the connections serve on');
});

test.serial('backup and restore accept one file and no other argument', async (t) => {
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

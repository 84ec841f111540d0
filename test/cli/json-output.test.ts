// `--json` of every command, in a process whose standard output is a pipe: scripts read one line and parse it.
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { projectRoot } from '../../kernel/project.ts';
import { freePort } from '../services/instance.ts';
import { createTestDatabase } from '../services/harness.ts';
import { startFileServer } from '../ingest/file-server.ts';
import { commandLine, declaredCommands, documentOf, ingestWords, settingsOf } from './terminal.ts';

const testDatabase = await createTestDatabase();
test.after.always(() => testDatabase.drop());

const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
const almanac = commandLine(settingsOf(testDatabase.url));

/** Runs commands one after the other in one process. @returns its output; the last line of standard error has the exit codes. */
async function runAsProcess(commands: readonly (readonly string[])[], env: Record<string, string>) {
  const program = `
    const { main } = await import(${JSON.stringify(path.join(projectRoot, 'cli/main.ts'))});
    const { Readable } = await import('node:stream');
    const { env, stdout, stderr } = process;
    const codes = [];
    for (const words of ${JSON.stringify(commands)}) {
      const stdin = Readable.from([Buffer.from('correct horse battery staple\\n')]);
      codes.push(await main(words, { env, stdin, stdout, stderr }));
    }
    stderr.write('\\n' + JSON.stringify(codes));
    process.exit();`;
  const words = ['--input-type=module', '--eval', program];
  return promisify(execFile)(process.execPath, words, { env: { ...process.env, ...env }, cwd: folder });
}

function fileOf(name: string, text: string): string {
  const file = path.join(mkdtempSync(path.join(folder, 'files-')), name);
  writeFileSync(file, text);
  return file;
}

/** `--json` and words that a command ends well with: after those before it, in a database with keys of ada@b.example. */
function commandsOf(sourceUrl: string, keys: readonly string[]): string[][] {
  const csv = fileOf('data.csv', 'series_id,date,value\nA,2024-01-01,1\nB,2024-01-01,1\nD,2024-01-01,1\n');
  const later = fileOf('later.csv', 'series_id,date,value\nA,2024-01-01,2\n');
  const backup = path.join(folder, 'backup.gz');
  const source = `version: 1\nname: P\ntables:\n  - file: ${sourceUrl}\n    schedule: daily 10:30\n    header: 1\n    first: 2\n    date: { column: date }\n    values: value\n    series: { id: P, unit: USD, frequency: monthly, source: Tests }\n`;
  const published = path.dirname(fileOf('almanac.yml', source));
  const ingest = ingestWords(csv);
  const embargo = ['ingest', 'observations', later, '--release-at', '2199-01-01T00:00:00Z'];
  const ada = 'ada@b.example';
  return [
    ['migrate'],
    ['migrate', '--wait'],
    ingest,
    [...ingest, '--dry-run'],
    embargo,
    embargo,
    ['releases', 'list'],
    ['releases', 'show', '1'],
    ['releases', 'cancel', '1'],
    ['releases', 'now', '2'],
    ['publish', published],
    ['sources', 'list'],
    ['sources', 'show', 'P.source'],
    ['sources', 'fetch', 'P.source'],
    ['sources', 'remove', 'P.source'],
    ['accounts', 'create', 'bob@b.example'],
    ['accounts', 'list'],
    ['accounts', 'set-plan', ada, 'starter'],
    ['accounts', 'set-role', ada, 'operator'],
    ['accounts', 'set-password', ada],
    ['accounts', 'send-reset', ada],
    ['accounts', 'remove-second-factor', ada],
    ['accounts', 'disable', ada],
    ['accounts', 'enable', ada],
    ['keys', 'create', ada],
    ['keys', 'list', ada],
    ['keys', 'revoke', keys[0] ?? ''],
    ['keys', 'rotate', keys[1] ?? ''],
    ['usage', ada],
    ['vintages', 'A'],
    ['loads', 'list'],
    ['loads', 'show', '1'],
    ['loads', 'retract', '1', '--dry-run'],
    ['series', 'set', 'A', 'unit=Two'],
    ['series', 'break', 'A', 'unit=Three', '--from', '2024-01-01'],
    ['series', 'rename', 'A', 'C'],
    ['series', 'merge', 'B', 'D'],
    ['series', 'delete', 'C'],
    ['series', 'restore', 'C'],
    ['dashboard', 'build'],
    ['backup', backup],
    ['restore', backup, '--replace'],
    ['check'],
  ].map((words) => [...words, '--json']);
}

test('with --json every command prints only its answer on standard output', async (t) => {
  const keys: string[] = [];
  await almanac(['accounts', 'create', 'ada@b.example']);
  for (let i = 0; i < 2; i += 1)
    keys.push(String(documentOf(t, await almanac(['keys', 'create', 'ada@b.example', '--json']))['id']));
  const server = await startFileServer(t);
  server.serve('date,value\n2026-01,1');
  const commands = commandsOf(`${server.url}/source.csv`, keys);
  const run = new Set(commands.map((words) => words.join(' ')));
  for (const { path: words, flags } of await declaredCommands()) {
    const name = words.join(' ');
    t.is(
      [...run].some((each) => each.startsWith(`${name} `)),
      flags.includes('--json'),
      name,
    );
  }

  const { stdout, stderr } = await runAsProcess(commands, {
    ...settingsOf(testDatabase.url),
    ...{ SOURCE_ALLOW_CIDRS: '127.0.0.0/8', SOURCE_ALLOW_HTTP: 'true', LOG_LEVEL: 'trace' },
    REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
  });
  const codes = JSON.parse(stderr.slice(stderr.lastIndexOf('\n') + 1)) as number[];
  t.deepEqual(
    commands.filter((_words, i) => codes[i] !== 0).map((words) => words[0]),
    ['check'], // of Redis
    stderr,
  );
  const answers = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  t.is(answers.length, commands.length);
  t.deepEqual(
    answers.filter((answer) => 'level' in answer),
    [],
  );
});

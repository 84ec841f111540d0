// The file with settings: .env of the project, or the one that SETTINGS_FILE names.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { main } from '../../cli/main.ts';
import { commandLine } from './terminal.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
test.after.always(() => rmSync(folder, { recursive: true }));

function fileWith(name: string, ...lines: readonly string[]): string {
  const file = path.join(folder, name);
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

/** Lists accounts: without a database, the command names the DATA_DIR that it was given. */
const directoryOf = (stderr: string) => /There is no database in (.+?)\. /.exec(stderr)?.[1];

async function byDefaultFile(settingsFile: string, env: Record<string, string> = {}) {
  let stderr = '';
  const code = await main(['accounts', 'list'], {
    env,
    settingsFile,
    stdin: process.stdin,
    stdout: { write: () => true },
    stderr: { write: (text) => (stderr += text) },
  });
  return { code, stderr };
}

test('every command reads settings from the file of the project, unless the environment has them', async (t) => {
  const file = fileWith(
    'default',
    '# a comment',
    `DATA_DIR="${path.join(folder, 'by file')}"`,
    'LOG_LEVEL=warn',
  );
  const { code, stderr } = await byDefaultFile(file);
  t.is(code, 1);
  t.is(directoryOf(stderr), path.join(folder, 'by file'));
  const own = path.join(folder, 'by environment');
  t.is(directoryOf((await byDefaultFile(file, { DATA_DIR: own })).stderr), own);
  const none = await byDefaultFile(path.join(folder, 'no such file'), { DATA_DIR: own });
  t.is(directoryOf(none.stderr), own);
});

test('the first setting of a file counts, also if an editor has put a byte order mark before it', async (t) => {
  const file = fileWith('marked', `\uFEFFDATA_DIR=${path.join(folder, 'marked data')}`);
  t.is(directoryOf((await byDefaultFile(file)).stderr), path.join(folder, 'marked data'));
});

test('SETTINGS_FILE names another file, which is read in place of the default and must be there', async (t) => {
  const almanac = commandLine({});
  const named = fileWith('named', `DATA_DIR=${path.join(folder, 'named')}`);
  const env = { SETTINGS_FILE: named };
  t.is(directoryOf((await almanac(['accounts', 'list'], { env })).stderr), path.join(folder, 'named'));
  const wrong = fileWith('wrong', 'DATA_DIR=/nowhere');
  t.is(directoryOf((await byDefaultFile(wrong, env)).stderr), path.join(folder, 'named'));
  for (const missing of [path.join(folder, 'missing'), folder]) {
    const { code, stderr } = await almanac(['accounts', 'list'], { env: { SETTINGS_FILE: missing } });
    t.is(code, 1);
    t.regex(
      stderr,
      /SETTINGS_FILE must be a file of lines NAME=value that can be read \((?:ENOENT|EISDIR)\)/,
    );
  }
});

test('faults and misspelled names in the file are reported like those of the environment', async (t) => {
  const file = fileWith('faults', 'PORT=many', 'REDIS_ULR=redis://127.0.0.1');
  const { code, stderr } = await byDefaultFile(file);
  t.is(code, 1);
  t.regex(stderr, /PORT must/);
  t.regex(stderr, /REDIS_ULR is not a setting and has no effect; did you mean REDIS_URL\?/);
});

// Commands with the settings, the user and the folder that docker-compose.yml gives the service "cli", on code that this user cannot write.
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { composeWith, documentedEnvFile } from './compose-file.ts';
import { openDatabase } from '../../kernel/database.ts';
import { projectRoot } from '../../kernel/project.ts';
import { endChildren, startChild } from '../run/processes.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { seriesRow } from '../ingest/loading.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await endChildren();
  await database.close();
  await testDatabase.drop();
});
const isRoot = process.getuid?.() === 0;

/** The folder of files as an operator has it after the documented steps, and commands that see it as their containers do. */
function installed(t: ExecutionContext) {
  const envFile = documentedEnvFile(t);
  const load = path.join(path.dirname(envFile), 'load');
  const cli = composeWith(t, envFile).services['cli'];
  t.is(cli?.working_dir, '/load');
  t.is(cli?.volumes?.[0], './load:/load');
  const [uid = 0, gid = 0] = (cli?.user ?? '').split(':').map(Number);
  const given = Object.entries(cli?.environment ?? {}).map(([name, value]) => [name, String(value)]);
  const env = {
    ...Object.fromEntries(given),
    ...{ DATABASE_URL: testDatabase.url, DATABASE_PASSWORD: '', REDIS_URL: '', REDIS_PASSWORD: '' },
    PATH: process.env['PATH'],
  };
  const run = async (...words: string[]) => {
    const child = startChild(process.execPath, [path.join(projectRoot, 'almanac.js'), ...words], {
      ...{ name: words.join(' '), env, cwd: load },
      ...(isRoot && { uid, gid }),
    });
    return { code: await child.exit(), output: child.output() };
  };
  return { load, run, uid };
}

const facts = ['--yes', '--set', 'source=Tests', '--set', 'unit=Index'];
const rows = 'Date,Rate\n2024-01-01,1\n2024-02-01,2\n2024-03-01,3\n';

test('publish stores almanac.yml in the folder of files, and the next run reads it with the edits made there', async (t) => {
  const { load, run, uid } = installed(t);
  mkdirSync(path.join(load, 'kept'));
  if (isRoot) chownSync(path.join(load, 'kept'), uid, uid);
  writeFileSync(path.join(load, 'kept/kept.csv'), rows);
  const first = await run('publish', 'kept', ...facts);
  t.is(first.code, 0, first.output);
  const entries = path.join(load, 'kept/almanac.yml');
  t.is(statSync(entries).uid, uid);
  const second = await run('publish', 'kept', '--json');
  t.is(second.code, 0, second.output);
  t.like(JSON.parse(second.output.trim().split('\n').at(-1) ?? ''), { unchanged: 1 });
  writeFileSync(entries, readFileSync(entries, 'utf8').replace('unit: Index', 'unit: Percent'));
  const third = await run('publish', 'kept');
  t.is(third.code, 0, third.output);
  t.is((await seriesRow(database, 'kept'))?.['unit'], 'Percent');
});

test('the entry of a URL is stored there too', async (t) => {
  const { load, run } = installed(t);
  const server = createServer((_request, response) => void response.end(rows));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/fetched.csv`;
  const ran = await run('publish', url, ...facts);
  t.is(ran.code, 0, ran.output);
  t.true(readFileSync(path.join(load, 'almanac.yml'), 'utf8').includes(`file: ${url}`));
});

test('a folder that the commands may not write in is refused before anything is asked or loaded, with its owner', async (t) => {
  const { load, run, uid } = installed(t);
  writeFileSync(path.join(load, 'closed.csv'), rows);
  if (isRoot) chownSync(load, 0, 0);
  chmodSync(load, 0o555);
  const ran = await run('publish', '.', ...facts);
  chmodSync(load, 0o755);
  t.is(ran.code, 1, ran.output);
  const owner = isRoot ? 0 : uid;
  t.true(
    ran.output.includes(
      `The user with the id ${uid} may not write in ${load}, which belongs to the one with the id ${owner}.`,
    ),
    ran.output,
  );
  t.is(await seriesRow(database, 'closed'), undefined);
});

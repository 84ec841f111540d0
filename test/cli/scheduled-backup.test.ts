// almanac backup --schedule, as the service "backup" of docker-compose.yml runs it: its files can be restored.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { openDatabase } from '../../kernel/database.ts';
import { projectRoot } from '../../kernel/project.ts';
import { endChildren, startServing } from '../run/processes.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { seriesRow } from '../ingest/loading.ts';
import { composeWith } from '../deploy/compose-file.ts';
import { commandLine, settingsOf } from './terminal.ts';

test.after.always(() => endChildren());

test('a scheduled backup is restored into an empty database', async (t) => {
  const [source, target] = [await createTestDatabase(), await createTestDatabase()];
  const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  const restored = openDatabase(target.url, silentLog, { applicationName: 'test' });
  t.teardown(async () => {
    await restored.close();
    await Promise.all([source.drop(), target.drop()]);
    rmSync(folder, { recursive: true });
  });
  await commandLine(settingsOf(source.url))(['seed']);
  const { command = [], volumes = [] } = composeWith(t).services['backup'] ?? {};
  t.true(volumes.includes('./backups:/backups'));
  const words = command.map((word) => (word === '/backups' ? folder : word));
  const child = await startServing(
    /\.gz: \d+ rows of \d+ tables/,
    process.execPath,
    [path.join(projectRoot, 'almanac.js'), ...words],
    { name: 'backup', env: { PATH: process.env['PATH'], ...settingsOf(source.url) } },
  );
  t.is(await child.end('SIGTERM'), 0, child.output());
  const [made = '', ...more] = readdirSync(folder);
  t.deepEqual(more, []);
  const ran = await commandLine(settingsOf(target.url))(['restore', path.join(folder, made)]);
  t.is(ran.code, 0, ran.stderr);
  t.truthy(await seriesRow(restored, 'DEMO.CPI'));
});

test('a schedule, a number or a folder that cannot be is refused', async (t) => {
  const almanac = commandLine({});
  for (const [words, message] of [
    [['backup', '/tmp', '--schedule', 'sometimes'], /--schedule must be "every N minutes"/],
    [['backup', '/tmp', '--schedule', 'daily', '--keep', '0'], /--keep must be a whole number/],
    [['backup', '/tmp/x.gz', '--keep', '3'], /--keep goes with --schedule/],
    [['backup', '/not/there', '--schedule', 'daily'], /There is no folder \/not\/there/],
  ] as const) {
    const { code, stderr } = await almanac(words);
    t.is(code, 2, stderr);
    t.regex(stderr, message);
  }
});

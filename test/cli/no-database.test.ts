// The commands without an embedded database.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { commands } from '../../cli/main.ts';
import { commandLine } from './terminal.ts';

const almanac = commandLine({});

test('only start, seed, migrate and restore create a database; every other command reports that the database is missing, and makes nothing', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const dataDir = path.join(folder, 'nowhere');
  const env = { DATA_DIR: dataDir };
  const published = path.join(folder, 'published');
  mkdirSync(published);
  writeFileSync(path.join(published, 'cpi.csv'), 'date,value\n2024-01,100\n2024-02,101\n');
  const others: Record<string, string[]> = {
    ingest: ['ingest', 'observations', '-'],
    publish: ['publish', published, '--yes'],
    loads: ['loads', 'list'],
    series: ['series', 'delete', 'CLI'],
    releases: ['releases', 'list'],
    sources: ['sources', 'list'],
    accounts: ['accounts', 'list'],
    keys: ['keys', 'list', 'a@b.example'],
    usage: ['usage', 'a@b.example'],
    vintages: ['vintages', 'CLI'],
    check: ['check'],
    backup: ['backup', path.join(folder, 'backup.gz')],
  };
  const creating = ['start', 'seed', 'migrate', 'restore'];
  const needingNone = ['dashboard', 'completion'];
  t.deepEqual(
    [...Object.keys(others), ...creating, ...needingNone].toSorted(),
    commands.map(({ name }) => name).toSorted(),
  );
  for (const madeFirst of [false, true]) {
    if (madeFirst) mkdirSync(path.join(dataDir, 'outbox'), { recursive: true }); // a directory is no database
    for (const words of Object.values(others)) {
      const { code, stdout, stderr } = await almanac(words, { env });
      t.is(code, 1, words.join(' '));
      t.true((stdout + stderr).includes(`There is no database in ${dataDir}. "almanac start" creates one`));
      t.deepEqual(madeFirst ? readdirSync(dataDir) : existsSync(dataDir), madeFirst ? ['outbox'] : false);
    }
  }
});

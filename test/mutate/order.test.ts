// Which tests run first for a change, and to which of several files a failure belongs.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { projectRoot } from '../../kernel/project.ts';
import { fileOf } from './ava.ts';
import { ranAt, type TestFacts } from './coverage.ts';
import { projectFiles } from './draw.ts';
import { mutantOfPatch, type Mutant } from './mutant.ts';
import { orderTests } from './order.ts';

const files = projectFiles(projectRoot);

function facts(ms: number, ran: Record<string, number[]>): TestFacts {
  return { ms, ran, hashes: {} };
}

function mutantAt(file: string, offset: number): Mutant {
  return { where: '', diff: '', texts: [], places: [{ file, offset }] };
}

test('a part that ran begins at its first offset and ends before its last', (t) => {
  const { ran } = facts(1, { 'kernel/a.ts': [2, 4, 8, 9] });
  const offsets = Array.from({ length: 10 }, (_, i) => i);
  t.deepEqual(
    offsets.filter((offset) => ranAt({ ms: 1, hashes: {}, ran }, 'kernel/a.ts', offset)),
    [2, 3, 8],
  );
  t.false(ranAt({ ms: 1, hashes: {}, ran }, 'kernel/b.ts', 2));
});

test('the test next to a file comes first, then tests with similar names, then quick ones, then all others', (t) => {
  const file = 'data-api/markets/trade.sql.ts';
  const ran = { [file]: [0, 100] };
  const map = {
    'test/v1/search.test.ts': facts(3_000, ran),
    'test/v1/status.test.ts': facts(2_000, ran),
    'test/v1/trade.test.ts': facts(3_000, ran),
    'data-api/trade.test.ts': facts(3_000, ran),
    'test/chaos.test.ts': facts(90_000, { [file]: [200, 300] }),
  };
  t.deepEqual(orderTests(mutantAt(file, 50), map, projectRoot, files), {
    covering: [
      'data-api/trade.test.ts',
      'test/v1/trade.test.ts',
      'test/v1/status.test.ts',
      'test/v1/search.test.ts',
    ],
    others: ['test/chaos.test.ts'],
    count: 4,
  });
});

test('of many files that run a change the nearest come first, and the others follow with the remaining ones', (t) => {
  const file = 'kernel/http/server.ts';
  const names = [
    'kernel/http/server.test.ts',
    ...Array.from({ length: 9 }, (_, i) => `test/v1/${i}.test.ts`),
  ];
  const map = Object.fromEntries(names.map((name, i) => [name, facts(1_000 - i, { [file]: [0, 9] })]));
  const { covering, others, count } = orderTests(mutantAt(file, 5), map, projectRoot, files);
  t.is(covering[0], names[0]);
  t.is(covering.length, 1);
  t.deepEqual([...covering, ...others].sort(), names.toSorted());
  t.is(count, 10);
});

test('a change of a migration is tried on the tests of all migrations, then on those of the files that name its table', (t) => {
  const migration = 'migrations/000009_keys_and_quota.sql';
  const map = {
    'test/v1/status.test.ts': facts(10_000, { 'data-api/discovery/discovery.sql.ts': [0, 1] }),
    'test/migrations/constraints.test.ts': facts(1_000, {}),
    'test/internal/heartbeat.test.ts': facts(1_000, {
      'accounts-api/heartbeat/gateways.sql.ts': [0, 1],
    }),
  };
  const { covering } = orderTests(
    mutantAt(
      migration,
      readFileSync(path.join(projectRoot, migration), 'utf8').indexOf('accounts.gateways ('),
    ),
    map,
    projectRoot,
    files,
  );
  t.deepEqual(covering, ['test/migrations/constraints.test.ts', 'test/internal/heartbeat.test.ts']);
});

test('a TAP title names its file without the common prefix of the run’s files', (t) => {
  const run = ['test/v1/keys.test.ts', 'test/auth/keys.test.ts', 'test/v1/usage.test.ts'];
  t.is(fileOf('v1 › keys › a key is revoked', run), 'test/v1/keys.test.ts');
  t.is(fileOf('auth › keys › a key › is revoked', run), 'test/auth/keys.test.ts');
  t.is(
    fileOf('usage › a call counts', ['test/v1/keys.test.ts', 'test/v1/usage.test.ts']),
    'test/v1/usage.test.ts',
  );
  t.is(fileOf('a key is revoked', ['test/v1/keys.test.ts']), 'test/v1/keys.test.ts');
  t.is(fileOf('POLICY_NOT_FOUND', run), undefined);
});

test('a patch is tried unchanged: its files, and the places it changes', (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-mutate-test-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: directory, encoding: 'utf8' });
  git('init', '-q');
  writeFileSync(path.join(directory, 'a.ts'), 'one\ntwo\nthree\n');
  git('add', '.');
  writeFileSync(path.join(directory, 'a.ts'), 'one\ntoo\nthree\n');
  const patch = path.join(directory, 'a.patch');
  writeFileSync(patch, git('diff'));
  git('checkout', '-q', 'a.ts');
  t.deepEqual(mutantOfPatch(directory, patch), {
    where: 'a.ts:2',
    diff: 'a.patch',
    texts: [{ file: 'a.ts', text: 'one\ntoo\nthree\n' }],
    places: [
      { file: 'a.ts', offset: 5 },
      { file: 'a.ts', offset: 5 },
    ],
  });
});

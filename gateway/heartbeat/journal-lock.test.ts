import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { silentLog } from '../../test/services/harness.ts';
import { within } from '../../test/run/until.ts';
import { claimDirectory } from './journal-lock.ts';

const roots = mkdtempSync(path.join(tmpdir(), 'almanac-journals-'));
test.after.always(() => rmSync(roots, { recursive: true }));
const newRoot = () => mkdtempSync(path.join(roots, 'of-'));

const claim = (root: string) => claimDirectory(root, silentLog);
const leave = (directory: string, name: string) => writeFileSync(path.join(directory, `${name}.jsonl`), '');
const batchesIn = (directory: string) =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .toSorted();

test('each running gateway has its own directory, and later gateways reuse the directories', (t) => {
  const root = newRoot();
  const claims = [claim(root), claim(root), claim(root)];
  t.deepEqual(
    claims.map((each) => path.basename(each.path)),
    ['1', '2', '3'],
  );
  for (const each of claims) each.release();
  const [again, second] = [claim(root), claim(root)];
  t.deepEqual(
    [again.path, second.path],
    claims.slice(0, 2).map((each) => each.path),
  );
  again.release();
  second.release();
});

test('a gateway takes over the batches of ended gateways, and nothing from running ones', (t) => {
  const root = newRoot();
  const [first, running, third] = [claim(root), claim(root), claim(root)];
  leave(first.path, 'a');
  leave(running.path, 'b');
  leave(third.path, 'c');
  first.release();
  third.release();
  mkdirSync(path.join(root, '8080'));
  leave(path.join(root, '8080'), 'of-an-older-version');
  mkdirSync(path.join(root, 'notes'));
  leave(path.join(root, 'notes'), 'of-somebody');
  const successor = claim(root);
  t.is(successor.path, first.path);
  t.deepEqual(batchesIn(successor.path), ['a.jsonl', 'c.jsonl', 'of-an-older-version.jsonl']);
  t.deepEqual(batchesIn(running.path), ['b.jsonl']);
  t.deepEqual(batchesIn(path.join(root, 'notes')), ['of-somebody.jsonl']);
  successor.release();
  running.release();
});

test('a process keeps its directory until it ends, however it ends', async (t) => {
  const root = newRoot();
  const script = `
    import { claimDirectory } from ${JSON.stringify(path.join(import.meta.dirname, 'journal-lock.ts'))};
    const { path } = claimDirectory(${JSON.stringify(root)}, console);
    setImmediate(() => {
      gc(); // nothing refers to the claim
      process.stdout.write(path);
    });
    setInterval(() => undefined, 60_000);`;
  const other = spawn(process.execPath, ['--expose-gc', '--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => other.kill('SIGKILL'));
  const [theirs] = (await within('it has claimed one', once(other.stdout, 'data'))) as [Buffer];
  leave(String(theirs), 'served');
  const ours = claim(root);
  t.not(ours.path, String(theirs));
  t.deepEqual(batchesIn(ours.path), []);
  ours.release();
  const ended = once(other, 'exit');
  other.kill('SIGSTOP');
  const beside = claim(root);
  t.deepEqual(batchesIn(beside.path), [], 'one that is only paused keeps its own');
  beside.release();
  other.kill('SIGKILL');
  await within('it ends', ended);
  const successor = claim(root);
  t.deepEqual(batchesIn(successor.path), ['served.jsonl']);
  successor.release();
});

test('a directory that cannot be locked is refused with its name', (t) => {
  const root = newRoot();
  writeFileSync(path.join(root, 'file'), '');
  t.throws(() => claim(path.join(root, 'file')), { code: 'EEXIST' });
});

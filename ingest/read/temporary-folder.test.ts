// Temporary folders of killed processes are deleted, and no others.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { projectRoot } from '../../kernel/project.ts';
import { startFileServer } from '../../test/ingest/file-server.ts';
import { endChildren, startServing, type ServingChild } from '../../test/run/processes.ts';
import { fetchFile } from './fetch-url.ts';
import { makeTemporaryFolder, removeLeftFolders } from './temporary-folder.ts';

test.after.always(endChildren);

/** A process that owns a folder with a file in it. */
async function startOwner(inside: string): Promise<{ child: ServingChild; folder: string }> {
  const module = JSON.stringify(path.join(projectRoot, 'ingest/read/temporary-folder.ts'));
  const script = `
    import { writeFileSync } from 'node:fs';
    import { makeTemporaryFolder } from ${module};
    const folder = await makeTemporaryFolder(${JSON.stringify(inside)});
    writeFileSync(folder.path + '/a.csv', 'date,value');
    process.stdout.write('has ' + folder.path + '\\n');
    setInterval(() => undefined, 1000);`;
  const words = ['--input-type=module', '--eval', script];
  const child = await startServing(/^has (.+)$/m, process.execPath, words, { name: 'holder' });
  return { child, folder: child.ready[1] ?? '' };
}

const place = () => mkdtempSync(path.join(tmpdir(), 'tf-'));

test('the folder of a killed process is deleted, and that of a running or paused process stays', async (t) => {
  const inside = place();
  const [killed, lives, stopped] = await Promise.all([
    startOwner(inside),
    startOwner(inside),
    startOwner(inside),
  ]);
  const own = await makeTemporaryFolder(inside);
  stopped.child.process.kill('SIGSTOP');
  await removeLeftFolders(inside);
  t.is(readdirSync(inside).length, 4);
  await killed.child.end('SIGKILL');
  await removeLeftFolders(inside);
  t.false(existsSync(killed.folder));
  for (const { folder } of [lives, stopped]) t.true(existsSync(path.join(folder, 'a.csv')));
  await own.remove();
  t.false(existsSync(own.path));
});

test('a folder of another machine, one that is being created, and other things with such a name stay', async (t) => {
  const inside = place();
  const { child, folder } = await startOwner(inside);
  await child.end('SIGKILL');
  const [left] = readdirSync(inside);
  const ours = left?.replace(/[^-]*$/, '') ?? '';
  const others = [`${ours}aaaaaa`, 'almanac-fetch-00000000-aaaaaa', `${ours}file`];
  mkdirSync(path.join(inside, others[0] ?? ''));
  mkdirSync(path.join(inside, others[1] ?? ''));
  writeFileSync(path.join(inside, others[1] ?? '', 'lock'), '');
  writeFileSync(path.join(inside, others[2] ?? ''), '');
  await removeLeftFolders(inside);
  t.false(existsSync(folder));
  t.deepEqual(readdirSync(inside).toSorted(), others.toSorted());
});

test('a folder whose path is too long for a socket can be created, and only its owner deletes it', async (t) => {
  const inside = path.join(place(), 'long'.repeat(20));
  mkdirSync(inside);
  const folder = await makeTemporaryFolder(inside);
  await removeLeftFolders(inside);
  t.deepEqual(readdirSync(folder.path), []);
  await folder.remove();
  t.deepEqual(readdirSync(inside), []);
});

test('a fetch deletes the remains of a killed process’s fetch', async (t) => {
  const { child, folder } = await startOwner(tmpdir());
  await child.end('SIGKILL');
  const server = await startFileServer(t);
  server.serve('date,value\n2026,1\n');
  const fetched = await fetchFile(`${server.url}/a.csv`);
  t.false(existsSync(folder));
  t.true(existsSync(fetched?.file ?? ''));
  await fetched?.remove();
  t.false(existsSync(path.dirname(fetched?.file ?? '')));
});

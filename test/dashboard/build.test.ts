// The build of the dashboard. It is made once for a state of the sources, so that these tests build at most once.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { builtDashboard } from '../../cli/dashboard.ts';
import { readDashboard } from '../../gateway/pages/dashboard-files.ts';
import { projectRoot } from '../../kernel/settings.ts';

const run = promisify(execFile);

test('two builds at once end with one and the same, whole build', async (t) => {
  const words = [path.join(projectRoot, 'almanac.js'), 'dashboard', 'build', '--json'];
  const built = await Promise.all([
    builtDashboard(),
    run(process.execPath, words).then(
      ({ stdout }) => (JSON.parse(stdout) as { directory: string }).directory,
    ),
  ]);
  t.is(built[0], built[1]);
  t.true((await readDashboard(built[0])).has('/index.html'));
  const left = readdirSync(path.dirname(built[0])).filter((name) => name.startsWith('unfinished'));
  t.deepEqual(left, []);
});

test('a build that is there is used as it is', async (t) => {
  const directory = await builtDashboard();
  const { mtimeMs } = statSync(path.join(directory, 'index.html'));
  t.is(await builtDashboard(), directory);
  t.is(statSync(path.join(directory, 'index.html')).mtimeMs, mtimeMs);
});

test('the page has no inline code or style, which its policy forbids, and loads nothing from elsewhere', async (t) => {
  const html = readFileSync(path.join(await builtDashboard(), 'index.html'), 'utf8');
  t.notRegex(html, /<style|style=|\son\w+=/);
  for (const [, attributes = ''] of html.matchAll(/<script([^>]*)>/g))
    t.regex(attributes, / src="\/assets\//);
  for (const [, target = ''] of html.matchAll(/(?:src|href)="([^"]*)"/g)) t.regex(target, /^\/assets\//);
});

test('the JavaScript of the first page is below 100 kB, compressed by gzip', async (t) => {
  const directory = await builtDashboard();
  const size = (name: string) => gzipSync(readFileSync(path.join(directory, name)), { level: 9 }).length;
  const html = readFileSync(path.join(directory, 'index.html'), 'utf8');
  const entry = /src="\/(assets\/[^"]+\.js)"/.exec(html)?.[1] ?? '';
  // The front page with all that it imports, whichever way.
  const needed = new Set<string>();
  const add = (name: string) => {
    if (needed.has(name)) return;
    needed.add(name);
    const text = readFileSync(path.join(directory, name), 'utf8');
    const imported = text.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g);
    for (const [, other = ''] of imported) add(`assets/${other}`);
  };
  add(entry);
  const home = readdirSync(path.join(directory, 'assets')).find((name) => /^home-.*\.js$/.test(name));
  add(`assets/${home}`);
  const total = [...needed].reduce((sum, name) => sum + size(name), 0);
  t.log(`${(total / 1000).toFixed(1)} kB in ${needed.size} files`);
  t.true(total < 100_000, `${total} bytes`);
  t.true(total > 10_000, 'the files were found');
});

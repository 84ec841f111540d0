// The build of the dashboard. It is made once for a state of the sources, so that most of these tests build at most once.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { builtDashboard } from '../../cli/dashboard.ts';
import { palettes } from '../../domain/chart/palette.ts';
import { readDashboard } from '../../gateway/pages/dashboard.ts';

test('two builds at once end with one and the same, whole build', async (t) => {
  // ChildRunner from the builds of other tests, which may be running.
  const into = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  t.teardown(() => rmSync(into, { recursive: true }));
  const [one, other] = await Promise.all([builtDashboard({ into }), builtDashboard({ into })]);
  t.is(one, other);
  t.true((await readDashboard(one)).has('/index.html'));
  t.deepEqual(readdirSync(into), [path.basename(one)]);
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

test('the charts of pages and of files have the same colours', async (t) => {
  const assets = path.join(await builtDashboard(), 'assets');
  const sheets = readdirSync(assets).filter((name) => name.endsWith('.css'));
  const styles = sheets.map((name) => readFileSync(path.join(assets, name), 'utf8')).join('');
  const { light, dark, page } = palettes;
  for (const [i, name] of page.series.entries()) {
    const property = `${name.slice('var('.length, -1)}:`;
    const value = styles.slice(styles.indexOf(property)).split(';', 1)[0] ?? '';
    t.regex(value, new RegExp(`${light.series[i]}.*${dark.series[i]}`), property);
  }
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

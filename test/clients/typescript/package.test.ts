// The TypeScript client as a program meets it: installed by npm from its archive and from its folder, in a project of its own, under the
// machine's Node and under the project's, against the services.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { projectRoot } from '../../../kernel/project.ts';
import { startServices } from '../../services/services.ts';

const source = path.join(projectRoot, 'clients/typescript');
const modules = path.join(projectRoot, 'node_modules');
const run = promisify(execFile);

/** The compiler prints errors on its standard output and exits with 1 or 2. */
function compile(directory: string): Promise<string> {
  return run(path.join(modules, '.bin/tsc'), ['-p', directory]).then(
    () => 'compiled',
    (error: unknown) => (error as { stdout: string }).stdout,
  );
}

/** The environment of someone else's project: without npm's settings and this project's programs. */
function foreignProjectEnv(directory: string): NodeJS.ProcessEnv {
  const filtered = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  return {
    ...Object.fromEntries(filtered),
    PATH: folders.filter((each) => !each.endsWith(path.join('node_modules', '.bin'))).join(path.delimiter),
    npm_config_cache: path.join(directory, 'cache'),
    npm_config_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  };
}

/** Copies the folder as in a clone after `npm ci`, with the compiler in a parent folder. @returns the path of the copy. */
async function clonedIn(directory: string): Promise<string> {
  const folder = path.join(directory, 'clone/clients/typescript');
  const names = (await readdir(source)).filter((name) => name !== 'dist' && name !== 'node_modules');
  await mkdir(folder, { recursive: true });
  for (const name of names) await cp(path.join(source, name), path.join(folder, name));
  await symlink(modules, path.join(directory, 'clone/node_modules'));
  return folder;
}

const program = `
import { createClient } from 'almanac-client';
import { AlmanacError } from 'almanac-client/errors';
import type { GetSeriesByIdResponse } from 'almanac-client/types';
declare const process: { argv: string[] };

const client = createClient({ baseUrl: process.argv[2] ?? '', apiKey: process.argv[3] ?? '' });
const series: GetSeriesByIdResponse = await client.get('/v1/series/{id}', { path: { id: 'GDP' }, query: { limit: 1 } });
const values: (number | null | undefined)[] = [];
for await (const point of client.rows('/v1/series/{id}', { path: { id: 'GDP' }, query: { limit: 2, sort: 'desc' } })) {
  values.push(point.value);
}
const ids: (string | undefined)[] = [];
for await (const { id } of client.rows('/v1/catalog', { query: { limit: 1 } })) ids.push(id);
const failed = await client
  .get('/v1/series/{id}', { path: { id: 'GDP' }, query: { transform: 'mom' } })
  .catch((error: unknown) => (error instanceof AlmanacError ? [error.status, error.code, error.message] : error));

// @ts-expect-error: the compiler knows that a record has no rows
void (() => client.rows('/v1/plans/{id}'));
// @ts-expect-error: nor has an answer without a cursor
void (() => client.rows('/v1/series/{id}/latest', { path: { id: 'GDP' } }));
// @ts-expect-error: it knows the parameters
void (() => client.rows('/v1/funds', { query: { colour: 'blue' } }));

console.log(JSON.stringify({ unit: series.meta.unit, values, ids, failed }));
`;

const compilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  target: 'es2024',
  module: 'nodenext',
  types: [],
  lib: ['es2024', 'dom', 'dom.iterable'],
  outDir: 'compiled',
  rootDir: '.',
};

/** A project with `program` and the example of the README. */
async function writeProject(directory: string): Promise<void> {
  const readme = await readFile(path.join(source, 'README.md'), 'utf8');
  const files = {
    'program.ts': program,
    'example.ts': /^```ts\n([^]*?)^```$/m.exec(readme)?.[1] ?? '!',
    'package.json': '{"type":"module","private":true}',
    'tsconfig.json': JSON.stringify({ compilerOptions, include: ['program.ts', 'example.ts'] }),
  };
  await mkdir(directory);
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(directory, name), text);
}

test('npm installs the package from its archive and from its folder; it compiles, as does the example of its README, and a program reads a series, pages and an error with it', async (t) => {
  const directory = await mkdtemp(path.join(tmpdir(), 'almanac-client-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const services = await startServices();
  t.teardown(() => services.close());
  const rows = ['2023-03-31,1.5', '2023-06-30,2', '2023-09-30,3', '2023-12-31,4', '2024-03-31,5.25'];
  const set = { name: 'GDP', unit: 'Rupees', frequency: 'quarterly' };
  await services.ingest(`series_id,date,value\n${rows.map((row) => `GDP,${row}\n`).join('')}`, { set });
  await services.ingest('series_id,date,value\nCPI,2024-01-31,1\n', { set: { name: 'CPI' } });
  const { key } = await services.accountWithKey();

  const env = foreignProjectEnv(directory);
  const fromArchive = await clonedIn(path.join(directory, 'one'));
  const fromFolder = await clonedIn(path.join(directory, 'two'));
  const packing = await run('npm', ['pack', '--pack-destination', directory], { cwd: fromArchive, env });
  const archive = path.join(directory, packing.stdout.trim().split('\n').at(-1) ?? '');
  for (const [name, installed] of [
    ['archive', archive],
    ['folder', fromFolder],
  ] as const) {
    const project = path.join(directory, name);
    await writeProject(project);
    await run('npm', ['install', installed], { cwd: project, env });
    t.is(await compile(project), 'compiled', name);
    for (const node of ['node', process.execPath]) {
      const words = [path.join(project, 'compiled/program.js'), services.url, key];
      const { stdout } = await run(node, words, { env });
      t.deepEqual(
        JSON.parse(stdout),
        {
          unit: 'Rupees',
          values: [5.25, 4, 3, 2, 1.5],
          ids: ['CPI', 'GDP'],
          failed: [
            400,
            'transform_not_applicable',
            '"mom" has no meaning for quarterly data. Use yoy or pct_change.',
          ],
        },
        `${name}, ${node}`,
      );
    }
  }
  const packed = await readdir(path.join(directory, 'archive/node_modules/almanac-client'));
  t.deepEqual(packed.sort(), ['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'package.json']);
});

// The TypeScript client as a program meets it: compiled as a package, in a project of its own, against the services.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { projectRoot } from '../../../kernel/project.ts';
import { startServices } from '../../services/services.ts';

const source = path.join(projectRoot, 'clients/typescript');
const compiler = path.join(projectRoot, 'node_modules/.bin/tsc');
const run = promisify(execFile);

/** The compiler tells what is wrong on its standard output, and ends with 1 or 2. */
function compile(...words: string[]): Promise<string> {
  return run(compiler, words).then(
    () => 'compiled',
    (error: unknown) => (error as { stdout: string }).stdout,
  );
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

test('the package compiles, as does the example of its README, and a program reads a series, pages and an error with it', async (t) => {
  const directory = await mkdtemp(path.join(tmpdir(), 'almanac-client-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const services = await startServices();
  t.teardown(() => services.close());
  const rows = ['2023-03-31,1.5', '2023-06-30,2', '2023-09-30,3', '2023-12-31,4', '2024-03-31,5.25'];
  const set = { name: 'GDP', unit: 'Rupees', frequency: 'quarterly' };
  await services.ingest(`series_id,date,value\n${rows.map((row) => `GDP,${row}\n`).join('')}`, { set });
  await services.ingest('series_id,date,value\nCPI,2024-01-31,1\n', { set: { name: 'CPI' } });
  const { key } = await services.accountWithKey();

  const installed = path.join(directory, 'node_modules/almanac-client');
  await mkdir(installed, { recursive: true });
  t.is(await compile('-p', source, '--outDir', path.join(installed, 'dist')), 'compiled');
  await copyFile(path.join(source, 'package.json'), path.join(installed, 'package.json'));
  await writeFile(path.join(directory, 'program.ts'), program);
  const readme = await readFile(path.join(source, 'README.md'), 'utf8');
  await writeFile(path.join(directory, 'example.ts'), /^```ts\n([^]*?)^```$/m.exec(readme)?.[1] ?? '!');
  await writeFile(path.join(directory, 'package.json'), '{"type":"module"}');
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    target: 'es2024',
    module: 'nodenext',
    types: [],
  };
  const options = {
    ...compilerOptions,
    lib: ['es2024', 'dom', 'dom.iterable'],
    outDir: 'compiled',
    rootDir: '.',
  };
  await writeFile(
    path.join(directory, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['program.ts', 'example.ts'] }),
  );
  t.is(await compile('-p', directory), 'compiled');

  const { stdout } = await run(process.execPath, [
    path.join(directory, 'compiled/program.js'),
    services.url,
    key,
  ]);
  t.deepEqual(JSON.parse(stdout), {
    unit: 'Rupees',
    values: [5.25, 4, 3, 2, 1.5],
    ids: ['CPI', 'GDP'],
    failed: [
      400,
      'transform_not_applicable',
      '"mom" has no meaning for quarterly data. Use yoy or pct_change.',
    ],
  });
});

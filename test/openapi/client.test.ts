// A client generated from the document compiles under the strictest rules, and its types match the answers.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { projectRoot } from '../../kernel/project.ts';
import { startServices } from '../services/services.ts';

const run = promisify(execFile);

/** As a program that uses the client would be written: the compiler knows every field that it reads. */
const program = `
declare const process: { argv: string[] };
import { client } from './client/client.gen.js';
import { getCatalog, getSeriesById, getUsage, postKeys } from './client/sdk.gen.js';

// An endpoint accepts one credential of several kinds; a client that also sends the key as a session is refused.
client.setConfig({ baseUrl: process.argv[2], auth: ({ name }) => (name === 'X-API-Key' ? process.argv[3] : undefined) });

const series = await getSeriesById({ path: { id: 'GDP' }, query: { from: '2024-02', fields: ['date', 'value'] } });
const list = await getCatalog({ query: { limit: 1, fields: ['id', 'frequency'] } });
const usage = await getUsage();
const made = await postKeys({ body: { name: 'made by a client' } });
const missing = await getSeriesById({ path: { id: 'NOWHERE' } });

const point: { date?: string; value?: number | null } | undefined = series.data?.data[0];
const frequency: 'daily' | 'weekly' | 'monthly' | 'quarterly' | 'semiannual' | 'annual' | 'irregular' | undefined =
  list.data?.data[0]?.frequency;
console.log(JSON.stringify({
  point,
  unit: series.data?.meta.unit,
  count: list.data?.count,
  frequency,
  limit: usage.data?.data.limit,
  made: made.response?.status,
  name: made.data?.data.name,
  code: missing.error?.error.code,
  status: missing.response?.status,
}));
`;

test('a client generated from the document compiles, and fetches a series, a list, a record, a change and an error', async (t) => {
  const directory = await mkdtemp(path.join(tmpdir(), 'almanac-client-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const services = await startServices();
  t.teardown(() => services.close());
  await services.ingest('series_id,date,value\nGDP,2024-01-31,1.50\nGDP,2024-02-29,2\n', {
    set: { name: 'GDP' },
  });
  const { key } = await services.accountWithKey();

  const generator = path.join(projectRoot, 'test/openapi/generator/generate.ts');
  await run(process.execPath, [generator, path.join(directory, 'client')]);
  await writeFile(path.join(directory, 'program.ts'), program);
  await writeFile(path.join(directory, 'package.json'), '{"type":"module"}');
  await writeFile(
    path.join(directory, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        target: 'es2024',
        module: 'nodenext',
        lib: ['es2024', 'dom', 'dom.iterable'],
        types: [],
        outDir: 'compiled',
        rootDir: '.',
      },
      include: ['program.ts', 'client/**/*.ts'],
    }),
  );
  // The compiler reports errors on its standard output and exits with 1 or 2.
  const compiler = path.join(projectRoot, 'node_modules/.bin/tsc');
  const reported = await run(compiler, ['-p', directory]).then(
    () => 'compiled',
    (error: unknown) => (error as { stdout: string }).stdout,
  );
  t.is(reported, 'compiled');

  const { stdout } = await run(process.execPath, [
    path.join(directory, 'compiled/program.js'),
    services.url,
    key,
  ]);
  t.deepEqual(JSON.parse(stdout), {
    point: { date: '2024-02-29', value: 2 },
    unit: 'Index',
    count: 1,
    frequency: 'monthly',
    limit: 250_000,
    made: 201,
    name: 'made by a client',
    code: 'not_found',
    status: 404,
  });
});

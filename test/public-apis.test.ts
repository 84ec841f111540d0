// The project uses only public APIs of packages, Node and browsers: nothing is imported from inside a package, read by a private
// name, accessed by a cast or overwritten, and no statement names another package's tables.
import path from 'node:path';
import test from 'ava';
import { API } from 'typescript/unstable/sync';
import { projectRoot } from '../kernel/project.ts';
import { reachesOf, type Reach } from './public-apis/reaches.ts';

/** Reaches that are public all the same, each with the reason. */
const published: readonly (Reach & { because: string })[] = [
  {
    file: 'gateway/response-headers.ts',
    kind: 'overwritten',
    what: 'ServerResponse.writeHead',
    because: "`app.response` is Express' documented place for methods of its responses",
  },
  ...['test/openapi/document.test.ts', 'test/openapi/check-answers.ts'].map((file) => ({
    file,
    kind: 'import' as const,
    what: 'ajv/dist/2020.js',
    because: "Ajv's documentation has this path for JSON Schema 2020-12; its package lists no entries",
  })),
  ...['cli/installation.test.ts', 'test/cli/roles.test.ts'].map((file) => ({
    file,
    kind: 'foreign table' as const,
    what: 'jobs.job',
    because: 'tested are the rights of our roles in the schema, by who may read its tables',
  })),
  {
    file: 'accounts-api/jobs/jobs.test.ts',
    kind: 'foreign table',
    what: 'jobs.job',
    because:
      'makes the rows that a worker leaves which began a day ago or is dead; pg-boss makes no such rows',
  },
];

function reachesIn(api: API, config: string): Reach[] {
  const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
  if (project === undefined) throw new Error(`There is no project ${config}.`);
  const files = project.program
    .getSourceFileNames()
    .filter((name) => name.startsWith(projectRoot) && !/\/node_modules\/|\/\.\w/.test(name))
    .filter((name) => name !== import.meta.filename); // which contains the planted code
  return files.flatMap((name) => {
    const file = project.program.getSourceFile(name);
    if (file === undefined) throw new Error(`${name} cannot be read.`);
    return reachesOf(project, file, projectRoot);
  });
}

test('nothing reaches behind what a package, Node or the browser publishes', (t) => {
  const api = new API({ cwd: projectRoot });
  t.teardown(() => api.close());
  const found = ['tsconfig.json', 'dashboard/tsconfig.json'].flatMap((config) =>
    reachesIn(api, path.join(projectRoot, config)),
  );
  const nameOf = ({ file, kind, what }: Reach) => `${file}: ${kind}: ${what}`;
  const names = [...new Set(found.map(nameOf))].toSorted();
  t.deepEqual(names, published.map(nameOf).toSorted());
});

/** One use of a private API each, as it was or may be written; the first line of each is reported. */
const planted: Record<string, string> = {
  'import: express-gateway/lib/logger': "export const loggers = require('express-gateway/lib/logger');",
  'import: _http_common': "import '_http_common';",
  'private name: _httpMessage': 'export const answerOf = (socket: { _httpMessage?: unknown }) => socket;',
  'private name: _storeHeader':
    "export const store = (response: ServerResponse) => response['_storeHeader'];",
  'private name: _events': 'export const of = ({ _events: all }: any) => all;',
  'cast: Client with connection':
    'export const cut = (client: pg.Client) => (client as unknown as { connection: object }).connection;',
  'cast: IncomingMessage with more':
    'interface More extends IncomingMessage { more: string }\nexport const more = (request: IncomingMessage) => (request as More).more;',
  'overwritten: Sequelize.query':
    'export const watch = (all: Sequelize) => Object.assign(all, { query() {} });',
  'overwritten: ServerResponse.end':
    'export const end = (response: ServerResponse) => void (response.end = () => response);',
  'overwritten: pg.Client.prototype': 'export const { connect } = pg.Client.prototype;',
  'overwritten: Server.close':
    "export const keep = (server: Server) => Object.defineProperty(server, 'close', { value() {} });",
  'overwritten: Object.setPrototypeOf({}, null)': 'Object.setPrototypeOf({}, null);',
  'foreign table: jobs.queue': "export const queues = 'select name from jobs.queue';",
  'foreign table: pgboss.job':
    'export const jobs = (id: string) => `select from pgboss.job where id = ${id}`;',
  'internals: getOwnPropertySymbols':
    'export const hidden = (of: object) => Object.getOwnPropertySymbols(of);',
  'internals: binding': "export const binding = (process as any).binding('util');",
  'internals: ERR_ASSERTION': "export const code = 'ERR_ASSERTION';",
};
const imports = `
  import type { IncomingMessage, Server, ServerResponse } from 'node:http';
  import { createRequire } from 'node:module';
  import pg from 'pg';
  import type { Sequelize } from 'sequelize';
  const require = createRequire(import.meta.url);`;

test('each reach that is planted is found', (t) => {
  const folder = path.join(projectRoot, 'test/public-apis/planted');
  const sources = Object.values(planted).map((text, i) => [
    path.join(folder, `${i}.ts`),
    `${imports}\n${text}`,
  ]);
  const config = path.join(folder, 'tsconfig.json');
  const settings = { extends: '../../../tsconfig.json', include: [], files: sources.map(([name]) => name) };
  const files = new Map([...(sources as [string, string][]), [config, JSON.stringify(settings)]]);
  const api = new API({
    cwd: projectRoot,
    fs: {
      readFile: (name) => files.get(name),
      fileExists: (name) => (files.has(name) ? true : undefined),
      directoryExists: (name) => (name === folder ? true : undefined),
    },
  });
  t.teardown(() => api.close());
  const found = reachesIn(api, config).filter(({ file }) => file.startsWith('test/public-apis/planted/'));
  const byFile = Object.groupBy(found, ({ file }) => file);
  for (const [i, what] of Object.keys(planted).entries()) {
    const names = byFile[`test/public-apis/planted/${i}.ts`]?.map((each) => `${each.kind}: ${each.what}`);
    t.true(names?.includes(what), `${what}: ${names?.join() ?? 'nothing'}`);
  }
});

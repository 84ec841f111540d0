// The house rules that can be checked: imports between services, where SQL is allowed, packages that must not be installed.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { dashboardSources } from '../cli/dashboard.ts';
import { errorTable } from '../kernel/errors.ts';
import { projectRoot } from '../kernel/project.ts';
import { drawing, drawingFile } from '../scripts/draw-architecture.ts';
import { importedFiles, importsOf, sources } from '../scripts/imports.ts';
import { secretSettings, settingNames } from '../kernel/settings/variables.ts';

const services = ['gateway', 'data-api', 'accounts-api', 'ingest'];

/** The imports allowed to each folder besides itself. The gateway and accounts-api must not depend on the field. */
const walls: Record<string, readonly string[]> = {
  kernel: [],
  domain: ['kernel'],
  migrations: ['kernel'],
  embedded: ['kernel'],
  gateway: ['kernel'],
  'accounts-api': ['kernel'],
  'data-api': ['kernel', 'domain'],
  ingest: ['kernel', 'domain'],
  clients: [],
};

/** The imports allowed to the dashboard besides itself: it runs in a browser and gets all its facts from the API. */
const ofDashboard = [
  'clients/typescript/',
  'domain/chart/',
  'domain/dims-text.ts',
  'domain/aggregates.ts',
  'domain/periods.ts',
  'domain/transforms.ts',
  'kernel/text/counted.ts',
  'kernel/dates.ts',
  'kernel/formula.ts',
];

test('kernel imports nothing, domain only kernel, and no service imports another', (t) => {
  for (const [folder, others] of Object.entries(walls)) {
    for (const file of sources(folder).filter((name) => !name.endsWith('.test.ts'))) {
      for (const target of importedFolders(file)) {
        t.true(target === folder || others.includes(target), `${file} imports from ${target}/`);
      }
    }
  }
});

const parts = ['gateway', 'accounts-api', 'data-api', 'ingest', 'dashboard', 'cli', 'domain', 'kernel'];
for (const part of parts) {
  test(`no two files of ${part} import each other, at whatever remove`, (t) => {
    t.deepEqual(circlesOf(importsOf(part)), []);
  });
}

for (const part of parts) {
  test(`no two folders of ${part} import each other, at whatever remove`, (t) => {
    const folders = importsOf(part).map(([file, targets]): [string, string[]] => [
      path.dirname(file),
      targets.map((target) => path.dirname(target)),
    ]);
    t.deepEqual(circlesOf(folders.filter(([folder]) => folder !== part)), []);
  });
}

test('the drawing of the parts shows the imports of today', (t) => {
  t.is(readFileSync(drawingFile, 'utf8'), drawing(), 'run `npm run draw`');
});

test('no folder of the gateway imports what puts the gateway together', (t) => {
  const above = ['main', 'options', 'parts', 'pipeline', 'server'].map((name) => `gateway/${name}.ts`);
  const files = sources('gateway').filter(
    (name) => !name.endsWith('.test.ts') && path.dirname(name) !== 'gateway',
  );
  for (const file of files)
    for (const target of importedFiles(file)) t.false(above.includes(target), `${file} imports ${target}`);
});

test('a folder of ingest imports only folders that are below it', (t) => {
  const floors = [
    'operator',
    'publisher',
    'bulk',
    'demo',
    'history',
    'plan',
    'preview',
    'reshape',
    'detect',
    'entry',
    'load',
    'datasets',
    'read',
    'cells',
  ];
  const floorOf = (file: string) => floors.indexOf(file.split(path.sep)[1] ?? '');
  for (const file of sources('ingest').filter((name) => !name.endsWith('.test.ts') && floorOf(name) >= 0))
    for (const target of importedFiles(file).filter((name) => floorOf(name) >= 0))
      t.true(floorOf(file) <= floorOf(target), `${file} imports ${target}`);
});

test('the gateway and the kernel have at most two scripts for Redis', (t) => {
  const scripts = ['gateway', 'kernel'].flatMap((folder) =>
    readdirSync(path.join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.lua'))
      .map((name) => path.join(folder, name)),
  );
  t.deepEqual(scripts.sort(), [
    'gateway/limits/calls-per-second.lua',
    'gateway/limits/concurrent-answers.lua',
  ]);
});

test('a process that serves imports at its start no service, and no package that it may never need', (t) => {
  const needed = new Set(['cli/main.ts', 'cli/commands/start.ts']);
  for (const file of needed)
    for (const target of staticImports(file)) if (target.endsWith('.ts')) needed.add(target);
  t.true(needed.has('migrations/run.ts'), 'imports of imports are among them');
  const loadedLater = ['redis', 'stripe', 'umzug', '@zxcvbn-ts/language-common', '@resvg/resvg-js'];
  for (const file of needed) t.false(services.includes(file.split(path.sep)[0] ?? ''), file);
  for (const folder of [...services, 'kernel', 'migrations', 'cli'])
    for (const file of sources(folder).filter((name) => !name.endsWith('.test.ts')))
      for (const target of staticImports(file))
        t.false(loadedLater.includes(target), `${file} imports ${target}`);
});

test('the publisher has no code that reads a workbook, a web page or a file that nobody described: only its child processes have', (t) => {
  const needed = new Set(['ingest/main.ts']);
  for (const file of needed)
    for (const target of staticImports(file)) if (target.endsWith('.ts')) needed.add(target);
  t.true(needed.has('ingest/load/load.ts'), 'it loads the text of releases');
  const ofChildProcesses =
    /^ingest\/(?:preview\/|reshape\/|plan\/plan|read\/(?:workbook|html-table|table-rows|zip-parts))/;
  t.deepEqual(
    [...needed].filter((file) => ofChildProcesses.test(file)),
    [],
  );
});

test('the dashboard imports only the client, the charts, the names of frequencies and transforms, the grammar of filters, days and the rule for formulas', (t) => {
  const files = sources('dashboard').filter((name) => !/^dashboard\/(?:vite\.config|build\/)/.test(name));
  for (const file of files) {
    for (const target of importedFiles(file)) {
      const isAllowed = ['dashboard/', ...ofDashboard].some((folder) => target.startsWith(folder));
      t.true(isAllowed, `${file} imports ${target}`);
    }
  }
  t.true(files.length > 10);
});

test('all that the dashboard imports, at whatever remove, is among what its build is named after', (t) => {
  const reached = new Set(sources('dashboard').filter((name) => !name.endsWith('.test.ts')));
  for (const file of reached) for (const target of importedFiles(file)) reached.add(target);
  const isNamed = (file: string) =>
    dashboardSources.some((source) => file === source || file.startsWith(`${source}/`));
  t.deepEqual(
    [...reached].filter((file) => !isNamed(file)),
    [],
  );
  t.true(reached.has('kernel/dates.ts'), 'imports of imports are among them');
});

test('no folder holds more than sixteen source files side by side', (t) => {
  for (const top of [...Object.keys(walls), 'cli', 'dashboard', 'openapi', 'test']) {
    const counts = Object.entries(
      Object.groupBy(
        sources(top).filter((file) => !file.endsWith('.test.ts')),
        (file) => path.dirname(file),
      ),
    );
    for (const [folder, files = []] of counts) t.true(files.length <= 16, `${folder}: ${files.length}`);
  }
});

test('SQL is only in files named *.sql.ts, in migrations and beside the launcher of PostgreSQL', (t) => {
  const statement = /[`'"]\s*(?:select|insert into|update|delete from|with \w+ as)\s/i;
  for (const folder of [...services, 'kernel', 'domain']) {
    for (const file of sources(folder).filter((name) => !/\.(sql|test)\.ts$/.test(name))) {
      t.notRegex(readFileSync(path.join(projectRoot, file), 'utf8'), statement, file);
    }
  }
});

test('no statement finds a row by where PostgreSQL keeps it or by who wrote it, which hold within one partition only', (t) => {
  for (const folder of ['ingest', 'data-api', 'accounts-api', 'cli'])
    for (const file of sources(folder))
      t.notRegex(
        readFileSync(path.join(projectRoot, file), 'utf8'),
        /\b(?:ctid|[cx]min|[cx]max|tableoid)\b/,
        file,
      );
});

test('every statement that changes a series counts its version on', (t) => {
  const folders = ['ingest', 'data-api', 'accounts-api', 'cli', 'migrations'];
  const statements = folders.flatMap((folder) =>
    readdirSync(path.join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ts|sql)$/.test(name) && !name.endsWith('.test.ts'))
      .flatMap((name) => {
        const text = readFileSync(path.join(projectRoot, folder, name), 'utf8');
        return text.match(/\bupdate\s+data\.series\s[^`;]*/g) ?? [];
      }),
  );
  t.true(statements.length > 10);
  for (const statement of statements) t.regex(statement, /^[^']*\brow_version = (?:\w\.)?row_version \+ 1\b/);
});

test('accounts-api begins every transaction by inTransaction, which waits until the change applies at every gateway', (t) => {
  for (const file of sources('accounts-api').filter((name) => name !== 'accounts-api/database.ts')) {
    t.notRegex(read(file), /sequelize\s*\.transaction\(/, file);
  }
});

test('no module reads the environment but the command line and the tests', (t) => {
  for (const folder of [...services, 'kernel', 'domain', 'migrations', 'embedded']) {
    for (const file of sources(folder).filter((name) => !name.endsWith('.test.ts'))) {
      t.notRegex(
        readFileSync(path.join(projectRoot, file), 'utf8'),
        file === 'gateway/engine/express-gateway.ts'
          ? /process\.env\b(?!\['(EG_|LOG_LEVEL)|;)/
          : /process\.env\b(?!\['(EG_|NODE_ENV))/,
        file,
      );
    }
  }
});

test('every source file opens with a sentence that says what it is', (t) => {
  for (const folder of [...Object.keys(walls), 'cli', 'dashboard', 'openapi']) {
    for (const file of sources(folder).filter((name) => !/\.(?:test|gen)\.ts$/.test(name))) {
      t.regex(readFileSync(path.join(projectRoot, file), 'utf8'), /^\/\/ \S/, file);
    }
  }
});

test('the packages of OpenTelemetry are loaded only when tracing is opened', (t) => {
  for (const file of sources('.').filter((name) => name !== 'test/architecture.test.ts')) {
    for (const [line] of read(file).matchAll(/^.*['"]@opentelemetry\/.*$/gm)) {
      t.is(file, 'kernel/tracing/tracing.ts');
      t.regex(line, /^import type |^    import\('/, line);
    }
  }
});

test('.env.example documents every setting and no other', (t) => {
  const documented = [...read('.env.example').matchAll(/^#? ?([A-Z][A-Z0-9_]+)=/gm)].map(
    (match) => match[1] ?? '',
  );
  t.deepEqual(documented.sort(), [...settingNames].sort());
});

test('.env.example names every secret setting, which may be given as a file, and no other', (t) => {
  const [, list = ''] = /These are secret:\n((?:# {3}.*\n)+)/.exec(read('.env.example')) ?? [];
  t.deepEqual((list.match(/[A-Z][A-Z0-9_]+/g) ?? []).sort(), [...secretSettings].sort());
});

test('docs/errors.md lists every error code with its status and meaning', (t) => {
  const documented = [...read('docs/errors.md').matchAll(/^\| (\d{3}) \| `([a-z_]+)` \| (.+) \|$/gm)];
  const table = Object.entries(errorTable).map(([code, { status, meaning }]) => [
    String(status),
    code,
    meaning,
  ]);
  t.deepEqual(documented.map((row) => row.slice(1)).sort(), table.sort());
});

test('docs/decisions/dependencies.md says of every runtime dependency why it is here', (t) => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
  const rows = [...read('docs/decisions/dependencies.md').matchAll(/^\| ([^|]+) \|/gm)];
  const named = rows.flatMap((row) => (row[1] ?? '').split(',').map((name) => name.trim()));
  for (const name of Object.keys(dependencies)) {
    t.true(
      named.includes(name) || (name.startsWith('json-schema-') && named.includes('json-schema-*')),
      name,
    );
  }
});

test('no package with a known hole is in the lockfile', (t) => {
  // name → the releases that must never come back; found in express-gateway's own tree or by advisories since.
  const denied: Record<string, (version: string) => boolean> = {
    'http-proxy': (version) => !isStub(version),
    ejs: (version) => !isStub(version) && below(version, '3.1.10'),
    jsonwebtoken: (version) => !isStub(version) && below(version, '9.0.3'),
    passport: (version) => below(version, '0.6.0'),
    got: (version) => below(version, '11.8.5'),
    'pac-resolver': (version) => below(version, '5.0.0'),
    ip: () => true,
    axios: () => true,
    braces: (version) => below(version, '3.0.3'),
    micromatch: (version) => below(version, '4.0.8'),
    'glob-parent': (version) => below(version, '5.1.2'),
    'unset-value': (version) => below(version, '2.0.1'),
    formidable: () => true,
    superagent: (version) => !isStub(version),
    'base-x': (version) => below(version, '4.0.1'),
    uuid: (version) => version !== '3.4.0' && below(version, '11.1.1'), // 3.4.0 is gateway/engine/stubs/uuid
    'js-yaml': (version) => below(version, version.startsWith('3.') ? '3.14.2' : '4.1.1'),
    vm2: () => true,
    jws: (version) => below(version, '3.2.3'),
  };
  const lock = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { version?: string; link?: boolean }>;
  };
  for (const [where, { version, link }] of Object.entries(lock.packages)) {
    const name = where.slice(where.lastIndexOf('node_modules/') + 'node_modules/'.length);
    if (version === undefined || link === true || !Object.hasOwn(denied, name)) continue;
    t.false(denied[name]?.(version), `${where}@${version}`);
  }
  t.true(Object.keys(lock.packages).length > 100);
});

test('the project names no package registry and no machine of its makers', (t) => {
  for (const file of [...sources('.'), 'README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'package.json']) {
    if (file === 'test/architecture.test.ts') continue;
    t.notRegex(read(file), /registry\.npmjs|deb\.debian\.org|\/work\//, file);
  }
  t.notRegex(read('package-lock.json'), /"resolved": "https?:/);
});

function read(file: string): string {
  return readFileSync(path.join(projectRoot, file), 'utf8');
}

/** The top-level folders that a file imports from, by relative path. */
function importedFolders(file: string): string[] {
  return importedFiles(file).map((target) => target.split(path.sep)[0] ?? '');
}

/** Those that import themselves through others. @param imports who imports what; a name may come several times. */
function circlesOf(imports: readonly (readonly [string, readonly string[]])[]): string[] {
  const targets = new Map<string, Set<string>>();
  for (const [from, all] of imports)
    targets.set(from, new Set([...(targets.get(from) ?? []), ...all.filter((to) => to !== from)]));
  return [...targets.keys()].filter((start) => {
    const reached = new Set(targets.get(start));
    for (const each of reached) for (const next of targets.get(each) ?? []) reached.add(next);
    return reached.has(start);
  });
}

/** The imports of the file: packages by name, files as paths from the project's root. Types and `import()` are left out. */
function staticImports(file: string): string[] {
  const specifiers = [...read(file).matchAll(/^import (?!type )[^;]*?'([^']+)';$/gm)].map(
    (match) => match[1] ?? '',
  );
  return specifiers.map((name) => (name.startsWith('.') ? path.join(path.dirname(file), name) : name));
}

/** The empty package that npm's overrides put in the place of what express-gateway never runs. */
function isStub(version: string): boolean {
  return version === '1.0.0';
}

function below(version: string, fixed: string): boolean {
  const [a, b] = [version, fixed].map((text) => text.split('-')[0]?.split('.').map(Number) ?? []);
  for (let i = 0; i < 3; i += 1) {
    if ((a?.[i] ?? 0) !== (b?.[i] ?? 0)) return (a?.[i] ?? 0) < (b?.[i] ?? 0);
  }
  return false;
}

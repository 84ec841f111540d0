// How the command line and the converters start: from any folder, through links, and under a Node of the machine that is too old.
// The project is a small one, of the real starters and of a program that reports how it was started.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { projectRoot } from '../../kernel/project.ts';
import { startChild, startServing } from '../run/processes.ts';

/** Makes a Node report an old version; a Node that it starts reports its real one. */
const old = `--import=data:text/javascript,${encodeURIComponent(
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } })",
)}`;

const program = `process.on('SIGTERM', () => {
  process.stdout.write('asked to stop');
  process.exit(7);
});
const [word] = process.argv.slice(2);
console.log(JSON.stringify({ node: process.versions.node, cwd: process.cwd(), words: process.argv.slice(2) }));
if (word === 'start') console.log(process.execArgv.filter((flag) => flag.startsWith('--max')).join(' '));
if (word === 'fail') process.exit(3);
if (word === 'killed') process.kill(process.pid, 'SIGKILL');
if (word === 'serve') setInterval(() => undefined, 1000);
`;

/** A project in a folder with a space in its name, and a folder elsewhere. */
function setUp(t: ExecutionContext) {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'almanac-starting-')));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const project = path.join(directory, 'the project');
  const elsewhere = path.join(directory, 'else where');
  const node = path.join(project, 'node_modules/.bin/node');
  for (const made of [path.dirname(node), path.join(project, 'examples/funds'), elsewhere])
    mkdirSync(made, { recursive: true });
  for (const file of ['almanac', 'almanac.js', 'own-node.js', 'package.json', 'examples/convert.js'])
    copyFileSync(path.join(projectRoot, file), path.join(project, file));
  for (const folder of ['converters', 'markets']) mkdirSync(path.join(project, 'examples', folder));
  symlinkSync(process.execPath, node);
  writeFileSync(path.join(project, 'almanac.ts'), program);
  writeFileSync(
    path.join(project, 'examples/funds/some.ts'),
    `// A converter.\n// Usage: some <file>\n${program}`,
  );
  writeFileSync(path.join(project, 'examples/funds/shared.ts'), '// No converter.\n');
  const env = { ...process.env, PATH: machinePath() };
  const name = 'the project';
  return {
    ...{ project, elsewhere, node, options: { name, cwd: elsewhere, env } },
    async run(file: string, ...words: string[]) {
      const child = startChild(file, words, { name, cwd: elsewhere, env });
      const code = await child.exit();
      return { code, output: child.output() };
    },
  };
}

/** PATH without the entries that npm adds: it has the machine's Node of any version, or none. */
function machinePath(): string {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  return folders.filter((folder) => !folder.endsWith(path.join('node_modules', '.bin'))).join(path.delimiter);
}

const words = ['ingest', 'a b', '$HOME "*"', ''];

test('the starter runs the command line from any folder, through links, and from a folder with a space in its name', async (t) => {
  const { project, elsewhere, run } = setUp(t);
  const starter = path.join(project, 'almanac');
  symlinkSync('../the project/almanac', path.join(elsewhere, 'near'));
  mkdirSync(path.join(elsewhere, 'bin'));
  symlinkSync('../near', path.join(elsewhere, 'bin/linked'));
  symlinkSync(project, path.join(elsewhere, 'folder'));
  const commands = [starter, './near', './bin/linked', path.join(elsewhere, 'bin/linked'), 'folder/almanac'];
  for (const command of commands) {
    const { code, output } = await run(command, ...words);
    t.deepEqual(
      [code, JSON.parse(output)],
      [0, { node: process.versions.node, cwd: elsewhere, words }],
      command,
    );
  }
  t.is((await run(starter, 'fail')).code, 3);
});

test('under an old Node, and under whatever node the machine has, almanac.js and the converters start the project’s own', async (t) => {
  const { project, elsewhere, run } = setUp(t);
  const entries = [
    [path.join(project, 'almanac.js')],
    [path.join(project, 'examples/convert.js'), 'funds/some'],
  ];
  for (const entry of entries) {
    const { code, output } = await run(process.execPath, old, ...entry, ...words);
    t.deepEqual([code, JSON.parse(output)], [0, { node: process.versions.node, cwd: elsewhere, words }]);
    t.is((await run(process.execPath, old, ...entry, 'fail')).code, 3, 'its exit code is passed on');
    t.is((await run(process.execPath, old, ...entry, 'killed')).code, null, 'and the signal that ended it');
    const here = await run(process.execPath, ...entry, ...words);
    t.deepEqual(JSON.parse(here.output), { node: process.versions.node, cwd: elsewhere, words });
    const machine = await run(
      '/bin/sh',
      '-c',
      'command -v node > /dev/null || { echo none; exit; }; exec node "$@"',
      'sh',
      ...entry,
      'x',
    );
    if (machine.output === 'none\n') continue;
    t.deepEqual(JSON.parse(machine.output), { node: process.versions.node, cwd: elsewhere, words: ['x'] });
  }
});

test('services run with heap limits, which NODE_OPTIONS and the command line override; other commands have no limit', async (t) => {
  const { project, elsewhere, options } = setUp(t);
  const program = path.join(project, 'almanac.js');
  const limitsOf = async (flags: string[], given: string[], nodeOptions = '') => {
    const env = { ...options.env, NODE_OPTIONS: nodeOptions };
    const child = startChild(process.execPath, [...flags, program, ...given], {
      name: 'x',
      cwd: elsewhere,
      env,
    });
    t.is(await child.exit(), 0);
    const [reported = '', ...rest] = child.output().trim().split('\n');
    t.deepEqual((JSON.parse(reported) as { words: unknown }).words, given);
    return rest.join('\n');
  };
  const ofService = '--max-semi-space-size=8 --max-old-space-size=256';
  for (const flags of [[], [old]]) {
    t.is(await limitsOf(flags, ['start', 'gateway']), ofService);
    t.is(await limitsOf(flags, ['start']), '--max-semi-space-size=8 --max-old-space-size=512');
    t.is(await limitsOf(flags, ['ingest', 'start']), '');
  }
  t.is(await limitsOf([], ['start', 'gateway'], '--max_old_space_size=300'), '--max-semi-space-size=8');
  t.is(
    await limitsOf(['--max-old-space-size=300', '--max-semi-space-size=16'], ['start', 'worker']),
    '--max-old-space-size=300 --max-semi-space-size=16',
  );
});

test('compiled code is cached for the next start; a start also works if it cannot be cached or coverage is measured', async (t) => {
  const { project, elsewhere, options } = setUp(t);
  const caches = path.join(project, 'node_modules/.cache');
  const start = async (more: Record<string, string> = {}) => {
    const all: NodeJS.ProcessEnv = { ...options.env, ...more };
    const { NODE_COMPILE_CACHE: _ofTheSuite, ...env } = all;
    const command = [path.join(project, 'almanac.js'), 'check'];
    const child = startChild(process.execPath, command, { name: 'x', cwd: elsewhere, env });
    t.is(await child.exit(), 0);
    t.deepEqual((JSON.parse(child.output()) as { words: unknown }).words, ['check']);
  };
  await start({ NODE_V8_COVERAGE: path.join(elsewhere, 'coverage') });
  t.false(existsSync(caches));
  writeFileSync(caches, 'a file where the directory would be');
  await start();
  rmSync(caches);
  await start();
  const cached = readdirSync(path.join(caches, 'almanac'), { recursive: true, encoding: 'utf8' });
  t.true(cached.length > 1, cached.join(', '));
  await start();
});

test('a signal to an old Node reaches the project’s own, which stops in good order', async (t) => {
  const { project, options } = setUp(t);
  const child = await startServing(
    /serve/,
    process.execPath,
    [old, path.join(project, 'almanac.js'), 'serve'],
    options,
  );
  t.is(await child.end('SIGTERM'), 7);
  t.true(child.output().endsWith('asked to stop'));
});

test('an old Node without the project’s own one names the command that installs it', async (t) => {
  const { project, node, run } = setUp(t);
  rmSync(node);
  const { code, output } = await run(process.execPath, old, path.join(project, 'almanac.js'), 'check');
  t.is(code, 1);
  t.is(
    output,
    `Almanac needs Node 26, and this is Node 20.0.0. npm installs one with it: type "npm ci" in ${project}, without --omit=optional.\n`,
  );
});

test('an unknown converter is reported with the usage of all converters', async (t) => {
  const { project, run } = setUp(t);
  const convert = path.join(project, 'examples/convert.js');
  t.deepEqual(await run(process.execPath, old, convert, 'funds/shared'), {
    code: 2,
    output: 'There is no converter "funds/shared".\n\nUsage:\n  some <file>\n',
  });
  const listed = await run(process.execPath, path.join(projectRoot, 'examples/convert.js'));
  const named = [...listed.output.matchAll(/^ {2}node examples\/convert\.js (\S+) /gm)].map(
    ([, name]) => `${name}.ts`,
  );
  const files = readdirSync(path.join(projectRoot, 'examples'), { recursive: true, encoding: 'utf8' });
  t.deepEqual(
    named.toSorted(),
    files.filter((file) => /^(?!.*\/(out|xlsx?|zip)\.ts$).*\.ts$/.test(file)).toSorted(),
    'each by the name that it is run by',
  );
});

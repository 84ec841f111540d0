// Help, examples, version and completion of the command line, and the modules that it loads for them.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { commands } from '../../cli/main.ts';
import { projectRoot } from '../../kernel/project.ts';
import { commandLine, declaredCommands } from './terminal.ts';

const almanac = commandLine({});
const { version } = JSON.parse(readFileSync(path.join(projectRoot, 'package.json'), 'utf8')) as {
  version: string;
};

test('help of all commands is a result if it is asked for, and an error if a command is missing', async (t) => {
  for (const words of [['help'], ['--help'], ['-h']]) {
    const { code, stdout, stderr } = await almanac(words);
    t.deepEqual([code, stderr], [0, '']);
    const flowing = stdout.replaceAll(/\s+/g, ' ');
    for (const { name, summary } of commands) t.true(flowing.includes(` ${name} ${summary} `), name);
  }
  const { code, stdout, stderr } = await almanac([]);
  t.deepEqual([code, stdout], [2, '']);
  t.regex(stderr, /^Usage: almanac <command>/);
});

test('help of each command has its flags, their meanings and examples, and changes nothing', async (t) => {
  for (const { path, command } of await declaredCommands()) {
    const name = path.join(' ');
    const { code, stdout, stderr } = await almanac([...path, '--help']);
    t.deepEqual([code, stderr], [0, ''], name);
    t.true(stdout.startsWith(`Usage: almanac ${name} `), stdout);
    const flowing = stdout.replaceAll(/\s+/g, ' ');
    for (const { flags, description } of command.options) {
      t.true(description !== '');
      t.true(flowing.includes(`${flags} ${description}`.replaceAll(/\s+/g, ' ')), `${name}: ${flags}`);
    }
    t.regex(stdout, /\n\nExamples:\n {2}\S/, name);
    t.is((await almanac(['help', ...path])).stdout, stdout);
  }
});

test('every example in the help is an existing command with arguments and flags that it accepts', async (t) => {
  let tried = 0;
  for (const { path: ofHelp } of await declaredCommands()) {
    const { stdout } = await almanac([...ofHelp, '--help']);
    const [, examples = ''] = stdout.split('\nExamples:\n');
    for (const [example] of examples.matchAll(/\balmanac [^|<>\n]*/g)) {
      const words = execFileSync('sh', ['-c', `set -f; printf '%s\\n' ${example}`], { encoding: 'utf8' })
        .trimEnd()
        .split('\n')
        .slice(1);
      const declared = (await declaredCommands()).find(({ path }) =>
        path.every((word, i) => words[i] === word),
      );
      let ran = false;
      const { command, path = [] } = declared ?? {};
      command?.action(() => void (ran = true));
      await command?.parseAsync(words.slice(path.length), { from: 'user' });
      t.true(ran, example);
      tried += 1;
    }
  }
  t.true(tried > 20);
});

test('--version prints the version of the package', async (t) => {
  t.deepEqual(await almanac(['--version']), { code: 0, stdout: `${version}\n`, stderr: '' });
});

test('a command is loaded when it is called, without the others', (t) => {
  for (const [words, loaded] of [
    [['--help'], []],
    [['ingest', '--help'], ['ingest.ts']],
    [
      ['vintages', '--help'],
      ['vintages.sql.ts', 'vintages.ts'],
    ],
  ] as const) {
    const modules = modulesOf(words);
    const inCommands = modules.filter((file) => file.startsWith('cli/commands/'));
    t.deepEqual(
      inCommands.map((file) => path.basename(file)),
      loaded,
    );
    const services = modules.filter((file) => /^(?:gateway|data-api|accounts-api)\//.test(file));
    t.deepEqual(services, []);
  }
});

/** The files of the project that a command loads, as its coverage shows. */
function modulesOf(words: readonly string[]): string[] {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  try {
    const env = { ...process.env, NODE_V8_COVERAGE: directory };
    execFileSync(process.execPath, [path.join(projectRoot, 'almanac.ts'), ...words], { env });
    const reported = readdirSync(directory).flatMap((file) => {
      const { result } = JSON.parse(readFileSync(path.join(directory, file), 'utf8')) as {
        result: { url: string }[];
      };
      return result.map(({ url }) => url);
    });
    const root = new URL(`file://${projectRoot}/`).href;
    return reported
      .filter((url) => url.startsWith(root) && !url.includes('/node_modules/'))
      .map((url) => url.slice(root.length))
      .sort();
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('bash completes commands, subcommands, flags and the words that an argument may be', async (t) => {
  const complete = await bashCompletion(t.teardown.bind(t));
  t.deepEqual(complete('ing'), ['ingest']);
  t.deepEqual(complete('keys', ''), ['create', 'list', 'revoke', 'rotate']);
  t.deepEqual(complete('start', 'g'), ['gateway']);
  t.deepEqual(complete('ingest', 'commodity-i'), ['commodity-items']);
  t.deepEqual(complete('ingest', 'series', 's'), [], 'a file, which bash completes by itself');
  t.deepEqual(complete('keys', 'create', 'a@b.example', '--name', ''), [], 'the value of a flag');
  for (const { path, flags } of await declaredCommands())
    t.deepEqual(complete(...path, '--').toSorted(), [...flags, '--help'].toSorted(), path.join(' '));
});

async function bashCompletion(
  teardown: (work: () => void) => void,
): Promise<(...words: string[]) => string[]> {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  teardown(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'completion');
  writeFileSync(file, (await almanac(['completion', 'bash'])).stdout);
  return (...words) => {
    const script = `source "$1"; shift; COMP_WORDS=(almanac "$@"); COMP_CWORD=$#; _almanac; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', file, ...words], {
      encoding: 'utf8',
    });
    if (stderr !== '') throw new Error(stderr);
    return stdout.split('\n').filter((line) => line !== '');
  };
}

test('the scripts for zsh and fish have every command with its flags and their meanings', async (t) => {
  const zsh = (await almanac(['completion', 'zsh'])).stdout;
  const fish = (await almanac(['completion', 'fish'])).stdout;
  t.regex(zsh, /^#compdef almanac\n/);
  for (const { path, flags, command } of await declaredCommands()) {
    const place = path.map((word) => ` ${word}`).join('');
    const ofZsh = zsh.split('\n').find((line) => line.startsWith(`    ('${place}') `)) ?? '';
    const ofFish = fish.split('\n').filter((line) => line.includes(` '__almanac_at \\'${place}\\''`));
    for (const flag of flags) {
      t.true(ofZsh.includes(`'${flag}:`), `${place} ${flag}`);
      const line = ofFish.find((each) => each.includes(` -l ${flag.slice(2)} `)) ?? '';
      const takesValue = command.options.find(({ long }) => long === flag)?.required ?? false;
      t.is(line.includes(' -r '), takesValue, `${place} ${flag}`);
      t.regex(line, / -d '.+'$/);
    }
  }
});

// Runs the examples of the documentation as a reader would: the files that a page shows are written, its commands
// are run in order, in one directory. Hides which fences are examples: ```sh, ```python and ```r are run, ```csv FILE and
// ```json FILE are written, all others are ignored.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { projectRoot } from '../../kernel/project.ts';
import { startServing } from '../run/processes.ts';

export interface Example {
  page: string;
  /** The line of the page on which the fence opens. */
  line: number;
  kind: 'sh' | 'python' | 'r' | 'file';
  /** The name of the file; empty for commands. */
  file: string;
  text: string;
}

/** The examples of a page, in order. @param page a path from the project's root. */
export function examplesOf(page: string): Example[] {
  const text = readFileSync(path.join(projectRoot, page), 'utf8');
  return [...text.matchAll(/^```(\w+)(?: (\S+))?\n([^]*?)^```$/gm)].flatMap((match): Example[] => {
    const [, language = '', file = '', body = ''] = match;
    const line = text.slice(0, match.index).split('\n').length;
    if (language === 'sh' || language === 'python' || language === 'r')
      return [{ page, line, kind: language, file: '', text: body }];
    return file === '' ? [] : [{ page, line, kind: 'file', file, text: body }];
  });
}

export interface Place {
  /** Where the files are written and the commands run. */
  directory: string;
  /** The gateway that represents http://127.0.0.1:8080. */
  url: string;
  /** The key that represents `pk_live_…`. */
  apiKey: string;
  /** The environment of the installation. */
  env: NodeJS.ProcessEnv;
  /** Where docs-commands.ts listens; needed by examples with `npx almanac`. */
  commandsUrl?: string;
}

/** Runs one example. @returns its output. @throws Error with the output if it fails. */
export async function runExample(example: Example, place: Place): Promise<string> {
  const text = example.text
    .replaceAll('http://127.0.0.1:8080', place.url)
    .replaceAll('pk_live_…', place.apiKey)
    .replaceAll('key_…', '$(cat .last-key)');
  if (example.kind === 'file') {
    const file = path.join(place.directory, example.file);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return '';
  }
  const [program, ...words] = commandOf(example.kind, text);
  const child = spawn(program, words, {
    cwd: place.directory,
    env: { ...place.env, COMMANDS: place.commandsUrl ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([readText(child.stdout), readText(child.stderr)]);
  const status = await closed;
  if (status !== 0)
    throw new Error(`${example.page}:${example.line} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}

function commandOf(kind: 'sh' | 'python' | 'r', text: string): [string, ...string[]] {
  if (kind === 'sh') return ['bash', '-c', prelude + text];
  return kind === 'python' ? ['python3', '-c', text] : ['Rscript', '--vanilla', '-e', text];
}

/**
 * Failures end the example; `npx almanac` is this tree's, run by docs-commands.ts; the last key that was made represents
 * `key_…`. Standard input goes along where a word asks for it.
 */
const prelude = `set -euo pipefail
npx() {
  shift
  { printf '%s\\0' "$PWD" "$#" "$@"; case " $* " in *' - '*) cat;; esac; } |
    command curl -sS --fail-with-body --data-binary @- "$COMMANDS" | tee .output
  { grep -o 'key_[a-z2-7]\\{20\\}' .output || true; } | tail -n 1 > .found
  if [ -s .found ]; then cp .found .last-key; fi
}
curl() { command curl -sS --fail-with-body "$@"; }
`;

/** Starts docs-commands.ts as a process of an installation, and ends with it. @returns where it listens. */
export async function startCommands(env: NodeJS.ProcessEnv): Promise<string> {
  const words = [path.join(projectRoot, 'test/docs/docs-commands.ts')];
  const options = { name: 'docs-commands.ts', cwd: projectRoot, env };
  const child = await startServing(/^http:\S+\n/, process.execPath, words, options);
  return child.output().trim();
}

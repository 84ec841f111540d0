// A fresh clone of this repository in a folder with a space in its name, installed and started by the two commands of the README.
// Hides the environment, which has no settings of the person who runs the tests, and a free port.
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { projectRoot } from '../../../kernel/project.ts';
import { runProgram } from '../../clients/run-program.ts';
import { startServing } from '../../run/processes.ts';
import { endProcesses } from '../../run/run-processes.ts';
import { recordSecret } from '../../run/traces.ts';
import { freePort } from '../../services/instance.ts';

export interface FreshClone {
  /** The folder that a stranger works in, above the clone. */
  directory: string;
  url: string;
  options: { cwd: string; env: NodeJS.ProcessEnv };
  /** The key that the first start prints. */
  apiKey: string;
  /** Ends it as Ctrl-C does. @returns its exit code. */
  stop(): Promise<number | null>;
  remove(): Promise<void>;
}

const clone = 'my almanac';

/** @param linkModules links the packages of this tree, instead of `npm ci`. */
export async function startFreshClone(linkModules: boolean): Promise<FreshClone> {
  const directory = mkdtempSync(path.join(tmpdir(), 'a stranger '));
  chmodSync(directory, 0o755); // where root runs this, PostgreSQL's own user must get in
  const cwd = path.join(directory, clone);
  const port = await freePort();
  const mark = { name: 'ALMANAC_STRANGER', value: path.basename(directory) };
  const options = { cwd, env: { ...foreignEnv(), PORT: String(port), [mark.name]: mark.value } };
  const remove = async () => {
    const left = await endProcesses({ mark: `${mark.name}=${mark.value}`, directory });
    if (left.length > 0) throw new Error(`These do not end: ${JSON.stringify(left)}`);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await runProgram('git', ['clone', '--quiet', projectRoot, clone], { ...options, cwd: directory });
    if (linkModules) symlinkSync(path.join(projectRoot, 'node_modules'), path.join(cwd, 'node_modules'));
    else await runProgram('npm', ['ci'], options);
    const serving = await startServing(/\nAPI: [^]*\n\n$/, 'npm', ['start'], {
      name: 'npm start',
      ...options,
    });
    const apiKey = /^API key: (pk_live_\w+)$/m.exec(serving.output())?.[1];
    if (apiKey === undefined) throw new Error(`The first start prints no key:\n${serving.output()}`);
    recordSecret(apiKey);
    return {
      ...{ directory, url: `http://127.0.0.1:${port}`, options, apiKey, remove },
      stop: () => serving.end('SIGINT'),
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Copies a folder of files to where the stranger works. @returns its path there, relative to the clone. */
export function copyBeside({ directory }: FreshClone, from: string): string {
  const name = path.basename(from);
  mkdirSync(path.join(directory, 'my data'), { recursive: true });
  cpSync(from, path.join(directory, 'my data', name), { recursive: true });
  chmodSync(path.join(directory, 'my data', name), 0o755); // `publish` writes almanac.yml there
  return path.join('..', 'my data', name);
}

const isOfThisMachine =
  /^(?:PATH|HOME|USER|LANG|TMPDIR|ALMANAC_TEST_RUN_\w+|NODE_COMPILE_CACHE|npm_config_\w+|https?_proxy|no_proxy)$/i;

/** The environment of any machine, without the settings of the person who runs the tests. */
function foreignEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => isOfThisMachine.test(name)));
}

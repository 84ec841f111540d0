// Runs AVA on some test files of a copy. Hides its output: the failed files are read from TAP.
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Copy } from './copy.ts';

export interface AvaRun {
  status: 'passed' | 'failed' | 'timed out';
  /** The files that failed; those that it cannot distinguish are all of them. */
  failed: string[];
  /** The title of the first test that failed. */
  title: string;
  output: string;
  ms: number;
}

export interface AvaOptions {
  timeoutMs: number;
  signal: AbortSignal;
  failFast?: boolean;
  /** How many files run at once. */
  concurrency?: number;
  env?: Record<string, string>;
}

const graceMs = 3_000;

export async function runAva(copy: Copy, files: readonly string[], options: AvaOptions): Promise<AvaRun> {
  options.signal.throwIfAborted();
  const args = ['--tap', ...(options.failFast === true ? ['--fail-fast'] : [])];
  if (options.concurrency !== undefined) args.push('--concurrency', String(options.concurrency));
  const startedAtMs = Date.now();
  const child = spawn(process.execPath, ['node_modules/ava/entrypoints/cli.js', ...args, ...files], {
    cwd: copy.root,
    env: { ...withoutOurs(process.env), ...copy.env, NO_COLOR: '1', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a separate process group, which can be ended at once
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-2_000_000)));
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  // A process that still has the pipes of an ended AVA open must not block this.
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const end = new AbortController();
  const limit = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)]);
  const stopped = new Promise<'stopped'>((resolve) => {
    limit.addEventListener('abort', () => resolve('stopped'), { signal: end.signal });
  });
  const code = await Promise.race([closed, exited.then((status) => grace(closed, status)), stopped]);
  end.abort();
  await endGroup(child.pid, exited);
  options.signal.throwIfAborted();
  const status = code === 'stopped' ? 'timed out' : code === 0 ? 'passed' : 'failed';
  return {
    status,
    ...(status === 'failed' ? failures(output, files) : { failed: [], title: '' }),
    output,
    ms: Date.now() - startedAtMs,
  };
}

/** The directory for the coverage of a run: a new one below the copy's directory for temporary files. */
export function coverageDirectory(copy: Copy): string {
  return mkdtempSync(path.join(copy.env['TMPDIR'] ?? '', 'coverage-'));
}

async function grace(closed: Promise<number | null>, status: number | null): Promise<number | null> {
  return Promise.race([closed, sleep(graceMs, status, { ref: false })]);
}

async function endGroup(pid: number | undefined, exited: Promise<unknown>): Promise<void> {
  if (pid === undefined) return;
  if (!signalGroup(pid, 'SIGTERM')) return;
  await Promise.race([exited, sleep(graceMs, undefined, { ref: false })]);
  signalGroup(pid, 'SIGKILL');
}

/** @returns false where nothing of the group runs any more. */
function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

function failures(output: string, files: readonly string[]): { failed: string[]; title: string } {
  const titles = [...output.matchAll(/^not ok \d+ - (.*)$/gm)].map(([, title = '']) => title);
  const found = new Set(titles.flatMap((title) => fileOf(title, files) ?? []));
  for (const file of files) if (output.includes(`No tests found in ${file}`)) found.add(file);
  return { failed: found.size > 0 ? [...found] : [...files], title: titles[0] ?? 'AVA' };
}

/** AVA puts the path before a title if it runs several files, without their common part. */
export function fileOf(title: string, files: readonly string[]): string | undefined {
  if (files.length === 1) return files[0];
  const matches = files.map((file) => {
    const parts = file.replace(/\.test\.ts$/, '').split('/');
    const from = parts.findIndex((_, i) => title.startsWith(`${parts.slice(i).join(' › ')} › `));
    return { file, parts: from === -1 ? 0 : parts.length - from };
  });
  const best = matches.toSorted((a, b) => b.parts - a.parts)[0];
  return best !== undefined && best.parts > 0 ? best.file : undefined;
}

/** Servers and coverage of a run that this one is part of are not passed on. */
function withoutOurs(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { NODE_V8_COVERAGE: _coverage, npm_lifecycle_event: _event, ...others } = env;
  return others;
}

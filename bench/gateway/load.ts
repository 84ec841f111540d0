// Puts load on one target and measures its cost: wrk on a core of its own, and the CPU time of the target's processes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const cores = Number(process.env['BENCH_CORES'] ?? availableParallelism());

/** The target's alone. */
export const targetCore = '0';
/** The load's, and that of all that has no other. */
export const otherCore = '1';
/** Cores of their own where the machine has them, as in a cluster, so that the load does not wait for its own peers. */
export const upstreamCore = cores >= 4 ? '3' : otherCore;
export const redisCore = cores >= 3 ? '2' : otherCore;

export interface Target {
  name: string;
  /** What wrk asks for. */
  url: string;
  /** Sent in turn, one a request. Made anew for each measurement: an identity is good for a minute. */
  headers(): readonly Record<string, string>[];
  /** The processes that are the target. */
  pids: readonly number[];
}

export interface Measured {
  requests: number;
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  cpuUsPerRequest: number;
}

/** One request. @throws Error with the answer where it is not 200. */
export async function probe(target: Target): Promise<void> {
  const response = await fetch(target.url, { headers: target.headers()[0] ?? {} });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${target.name} answered ${response.status}: ${body}`);
}

const ticksPerSecond = 100; // USER_HZ, fixed on Linux
const wrkScript = path.join(import.meta.dirname, 'in-turn.lua');

/** Runs wrk for a while. @throws Error where one answer is not 2xx: what is measured must be served. */
export async function load(target: Target, seconds: number, connections: number): Promise<Measured> {
  const options = ['-t1', '--timeout', '10s', `-c${connections}`, `-d${seconds}s`, '--latency'];
  const headers = target.headers().map((set) => Object.entries(set).flat().join('\t'));
  const words = ['-c', otherCore, 'wrk', ...options, '-s', wrkScript, target.url, '--', ...headers];
  const cpuBefore = cpuSeconds(target.pids);
  const output = await outputOf('taskset', words);
  const cpu = cpuSeconds(target.pids) - cpuBefore;
  const requests = Number(/(\d+) requests in/.exec(output)?.[1]);
  if (!(requests > 0) || /Non-2xx|Socket errors/.test(output)) {
    throw new Error(`${target.name} did not serve everything:\n${output}`);
  }
  return {
    requests,
    requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]),
    p50Ms: percentileMs(output, 50),
    p99Ms: percentileMs(output, 99),
    cpuUsPerRequest: (cpu * 1e6) / requests,
  };
}

async function outputOf(command: string, words: readonly string[]): Promise<string> {
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(child, 'close');
  return Buffer.concat(chunks).toString();
}

function percentileMs(output: string, percent: number): number {
  const [, number, unit] = new RegExp(`${percent}%\\s+([\\d.]+)(us|ms|s)`).exec(output) ?? [];
  return Number(number) * ({ us: 0.001, ms: 1, s: 1000 }[unit ?? ''] ?? Number.NaN);
}

function cpuSeconds(pids: readonly number[]): number {
  const ticks = pids.map((pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(fields[11]) + Number(fields[12]); // utime and stime; the fields before are cut off
  });
  return ticks.reduce((sum, each) => sum + each, 0) / ticksPerSecond;
}

export interface Program {
  pid: number;
  /** The first group of the pattern it was waited for by. */
  said: string;
  stop(): Promise<void>;
}

/** Where and with what a program runs. */
export interface Start {
  core: string;
  /** What it prints goes here, as an access log does: a pipe would have to be emptied while it is measured. */
  outputFile: string;
  env?: Record<string, string>;
}

/** Starts a program on a core and waits until its output matches. @throws Error with what it printed where it ends first. */
export async function startOn(
  { core, outputFile, env = {} }: Start,
  command: readonly string[],
  ready: RegExp,
): Promise<Program> {
  const output = openSync(outputFile, 'w');
  const child = spawn('taskset', ['-c', core, ...command], {
    env: { ...process.env, ...env },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const ended = once(child, 'close');
  await once(child, 'spawn');
  for (;;) {
    const printed = readFileSync(outputFile, 'utf8');
    const said = ready.exec(printed)?.[1];
    if (said !== undefined) {
      const pid = child.pid ?? 0; // taskset becomes the program: the id stays
      return { pid, said, stop: async () => void (child.kill('SIGTERM') && (await ended)) };
    }
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`${command.join(' ')} ended:\n${printed}`);
    }
    await pause(20);
  }
}

/** The processes that a process has started. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
}

// Puts load on one target and measures its cost: wrk on a core of its own, and the CPU time of the target's processes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cpuSeconds, otherCore } from './processes.ts';

export interface Target {
  name: string;
  /** The URL that wrk requests. */
  url: string;
  /** Whether each call has a URL of its own. */
  newUrls?: boolean;
  /** The header sets, sent in turn. Created for each measurement, as an identity is valid for a minute. */
  headers(): readonly Record<string, string>[];
  /** The processes of the target; their child processes count too. */
  pids: readonly number[];
  /** The other processes that serve its calls: services, stores, the upstream. */
  behind: readonly number[];
}

export interface Measured {
  requests: number;
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  cpuUsPerRequest: number;
  /** Including everything behind the target. */
  systemCpuUsPerRequest: number;
}

export interface Load {
  seconds: number;
  connections: number;
  /** How long a connection waits before each request, on average; by default it does not wait. */
  pauseMs?: number;
}

/** Sends one request. @throws Error with the answer if it is not 200. */
export async function probe(target: Target): Promise<void> {
  const response = await fetch(target.url, { headers: target.headers()[0] ?? {} });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${target.name} answered ${response.status}: ${body}`);
}

const wrkScript = path.join(import.meta.dirname, 'requests.lua');
/** More sets of headers than this are passed in a file. */
const argumentsMax = 1_000;
let runs = 0;

/** Runs wrk for a while. @throws Error if any answer is not 2xx: only served calls are measured. */
export async function load(target: Target, { seconds, connections, pauseMs = 0 }: Load): Promise<Measured> {
  const options = ['-t1', '--timeout', '10s', `-c${connections}`, `-d${seconds}s`, '--latency'];
  const headers = target.headers().map((set) => Object.entries(set).flat().join('\t'));
  const file =
    headers.length > argumentsMax ? path.join(tmpdir(), `almanac-bench-headers-${process.pid}`) : undefined;
  if (file !== undefined) writeFileSync(file, `${headers.join('\n')}\n`);
  runs += 1;
  const sets = file === undefined ? headers : [`@${file}`];
  const own = [target.newUrls === true ? `${process.pid}-${runs}` : '', String(pauseMs), ...sets];
  const words = ['-c', otherCore, 'wrk', ...options, '-s', wrkScript, target.url, '--', ...own];
  const [cpuBefore, behindBefore] = [cpuSeconds(target.pids), cpuSeconds(target.behind)];
  const output = await outputOf('taskset', words);
  if (file !== undefined) rmSync(file);
  const cpu = cpuSeconds(target.pids) - cpuBefore;
  const behind = cpuSeconds(target.behind) - behindBefore;
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
    systemCpuUsPerRequest: ((cpu + behind) * 1e6) / requests,
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

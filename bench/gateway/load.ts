// Load on one target and what it cost: wrk on a core of its own, the CPU time of the target's processes beside it.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Core 0 is the target's; load, upstream, Redis and PostgreSQL share core 1. */
export const targetCore = '0';
export const otherCore = '1';

export interface Target {
  name: string;
  /** What wrk asks for. */
  url: string;
  /** Made anew for each measurement: an identity is good for a minute. */
  headers(): Record<string, string>;
  /** The processes that are the target. */
  pids: readonly number[];
}

export interface Measured {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  cpuUsPerRequest: number;
}

const ticksPerSecond = 100; // USER_HZ, fixed on Linux

/** Runs wrk for a while. @throws Error where one answer is not 2xx: what is measured must be served. */
export function load(target: Target, seconds: number, connections: number): Measured {
  const headers = Object.entries(target.headers()).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const cpuBefore = cpuSeconds(target.pids);
  const wrk = spawnSync(
    'taskset',
    [
      '-c',
      otherCore,
      'wrk',
      '-t1',
      '--timeout',
      '10s',
      `-c${connections}`,
      `-d${seconds}s`,
      '--latency',
      ...headers,
      target.url,
    ],
    { encoding: 'utf8' },
  );
  const cpu = cpuSeconds(target.pids) - cpuBefore;
  const requests = Number(/(\d+) requests in/.exec(wrk.stdout)?.[1]);
  if (!(requests > 0) || /Non-2xx|Socket errors/.test(wrk.stdout)) {
    throw new Error(`${target.name} did not serve everything:\n${wrk.stdout}${wrk.stderr}`);
  }
  return {
    requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(wrk.stdout)?.[1]),
    p50Ms: percentileMs(wrk.stdout, 50),
    p99Ms: percentileMs(wrk.stdout, 99),
    cpuUsPerRequest: (cpu * 1e6) / requests,
  };
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

/** Starts a program on a core and waits until its output matches. @throws Error with what it printed where it ends first. */
export async function startOn(
  core: string,
  command: readonly string[],
  ready: RegExp,
  env: Record<string, string> = {},
): Promise<Program> {
  const words = ['-c', core, ...command];
  const child: ChildProcess = spawn('taskset', words, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const said = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`${command.join(' ')} ended with ${code}:\n${output}`)));
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        const match = ready.exec(output);
        if (match !== null) resolve(match[1] ?? '');
      });
    }
  });
  return {
    pid: child.pid ?? 0, // taskset becomes the program: the id stays
    said,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** The processes that a process has started. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
}

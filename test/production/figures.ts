// Resources that the processes of a run use, as the system reports: memory, sockets, CPU, and the delay of their event loops. Hides /proc.
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { cpuSeconds } from '../../bench/gateway/processes.ts';

export interface Watched {
  name: string;
  pid: number;
}

/** Of one process at one moment. */
export interface Sample {
  memoryMb: number;
  sockets: number;
  /** The 99th percentile of the last second; NaN: not reported. */
  lagMs: number;
  cpuSeconds: number;
}

/** @param lagDirectory where `report-lag.ts` writes. */
export function sampleOf({ pid }: Watched, lagDirectory: string): Sample {
  const resident = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return {
    memoryMb: Number(resident) / 1024,
    sockets: readdirSync(`/proc/${pid}/fd`).filter((fd) => isSocket(`/proc/${pid}/fd/${fd}`)).length,
    lagMs: lagIn(path.join(lagDirectory, String(pid))),
    cpuSeconds: cpuSeconds([pid]),
  };
}

/** A file that is closed meanwhile does not count. */
function isSocket(descriptor: string): boolean {
  try {
    return readlinkSync(descriptor).startsWith('socket:');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function lagIn(file: string): number {
  try {
    return Number.parseFloat(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Number.NaN;
    throw error;
  }
}

export function median(values: readonly number[]): number {
  const known = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  return known[Math.floor(known.length / 2)] ?? Number.NaN;
}

/** Figures that grow: the median of the last quarter of the samples exceeds that of the second quarter by more than the usual variation. */
export function notFlat({ name }: Watched, samples: readonly Sample[]): string[] {
  const quarter = Math.floor(samples.length / 4);
  const [early, late] = [samples.slice(quarter, 2 * quarter), samples.slice(-quarter)];
  const grows = (of: keyof Sample, factor: number, more: number) => {
    const [from, to] = [median(early.map((each) => each[of])), median(late.map((each) => each[of]))];
    return to > from * factor + more ? `${name}: ${of} grew from ${from.toFixed(1)} to ${to.toFixed(1)}` : [];
  };
  const mostMb = Math.max(...samples.map(({ memoryMb }) => memoryMb));
  return [
    ...[grows('memoryMb', 1.05, 10)].flat(),
    ...[grows('sockets', 1, 5)].flat(),
    ...[grows('lagMs', 2, 20)].flat(),
    ...(mostMb > memoryMaxMb ? [`${name}: ${mostMb.toFixed(0)} MB, more than ${memoryMaxMb}`] : []),
  ];
}

/** Of each service. */
const memoryMaxMb = 256;

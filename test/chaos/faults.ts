// The faults of the chaos run and their times: a list drawn from the seed before the run, and carried out as drawn.
import { setTimeout as pause } from 'node:timers/promises';
import type { ServiceLinks } from './links.ts';
import type { Random } from './random.ts';
import type { RedisUnit } from './redis-units.ts';
import { until } from '../run/until.ts';
import type { Service, Unit } from './units.ts';

export interface Cluster {
  gateways: Service[];
  dataApis: Service[];
  /** From each service to the services that it calls. */
  serviceLinks: ReadonlyMap<Unit, ServiceLinks>;
  accountsApis: Service[];
  workers: Service[];
  postgres: Unit;
  /** Of PostgreSQL. Undefined: there is none. */
  replica: Unit | undefined;
  /** Undefined: the cluster runs without. */
  redis: RedisUnit | undefined;
}

export type What =
  | ('killed' | 'stopped' | 'stalled')
  // Of Redis.
  | ('emptied' | 'scripts forgotten' | 'read-only')
  // Of Redis with a replica: its master is killed, and restarts when the replica has replaced it.
  | 'failed over'
  // Of a service: its connections pass no bytes any longer, and neither end learns that the other has closed. New ones work.
  | 'connections lost'
  // Of a gateway: its connections to every data-api break, or deliver nothing to it any longer. It reaches accounts-api.
  | ('cut off' | 'deafened')
  // Of a gateway: it is notified by another data-api meanwhile. Answers that this one had read by then arrive at the end.
  | 'deafened to one'
  // Of a gateway or a data-api.
  | 'clock moved';

export interface Fault {
  atMs: number;
  unit: Unit;
  what: What;
  forMs: number;
  /** How far its clock is moved. */
  aheadMs: number;
}

/** A fault as it came about. Times are `performance.now()`. */
export interface InjectedFault {
  unit: string;
  what: What;
  /** Just before it was done. */
  fromMs: number;
  /** When the fault was complete: a killed unit had ended. */
  doneMs: number;
  /** When the fault was over: an ended unit served again. */
  restoredMs: number;
}

// More, and clients would see nothing but trouble.
const atOnceMax = 2;
// A fault that would be this late is skipped: a slow machine cannot carry out all drawn faults, and would fall further and further behind.
const lateMaxMs = 5_000;
const longestMs = 1_800;
const longestStallMs = 3_000; // of a service
const shortestMs = 100;
/**
 * A gateway and a data-api may be moved at once, in opposite directions. Tokens of the gateway are accepted where the clocks differ by less than 30 s,
 * so neither is moved by half of that. Accounts-api, which fills months up to a minute early, and the workers keep the machine's time.
 */
const clockMaxMs = 12_000;
const restartMs = 1_500; // about the time until a service serves again
const quietAtEndMs = 1_000;
// A stall of PostgreSQL that outlasts the deadlines of those who wait for it.
const longStallMs = 6_000;

const toDataApi: readonly What[] = ['cut off', 'deafened', 'deafened to one', 'deafened to one'];

function faultKindsOf(unit: Unit, { gateways, dataApis, redis }: Cluster): readonly What[] {
  const kinds: What[] = ['killed', 'stopped', 'stalled'];
  if (unit === redis) {
    const more: What[] = redis?.failOver === undefined ? [] : ['failed over', 'failed over', 'failed over'];
    return [...kinds, 'emptied', 'scripts forgotten', 'read-only', ...more];
  }
  if (dataApis.some((each) => each === unit)) return [...kinds, 'stalled', 'clock moved'];
  if (!gateways.some((each) => each === unit)) return kinds;
  return [...kinds, 'stalled', ...toDataApi, 'clock moved', 'clock moved'];
}

function durationOf(random: Random, unit: Unit, what: What, { postgres, redis }: Cluster): number {
  if (what !== 'stalled' || unit === redis) return random.between(shortestMs, longestMs);
  if (unit !== postgres) return random.between(shortestMs, longestStallMs);
  return random.between(0, 2) < 1 ? longStallMs : random.between(shortestMs, longestMs);
}

export interface Drawing {
  seconds: number;
  /** Whether services lose connections, every fourth fault of one. */
  losesConnections?: boolean;
  without?: What;
}

/** Draws the faults of a run. A unit has one at a time; several units may have theirs at once. */
export function drawFaults(random: Random, cluster: Cluster, drawing: Drawing): Fault[] {
  const { seconds, losesConnections = false, without } = drawing;
  const faults: Fault[] = [];
  const busyUntilMs = new Map<Unit, number>();
  for (let atMs = 300; atMs < seconds * 1000 - quietAtEndMs; atMs += random.between(200, 1_000)) {
    const units = [
      random.pick(cluster.gateways),
      random.pick(cluster.gateways),
      random.pick(cluster.dataApis),
      random.pick(cluster.accountsApis),
      random.pick(cluster.workers),
      cluster.postgres,
      ...(cluster.replica === undefined ? [] : [cluster.replica]),
      ...(cluster.redis === undefined ? [] : [cluster.redis]),
    ];
    const unit = random.pick(units);
    const isLost = losesConnections && cluster.serviceLinks.has(unit) && random.below(4) === 0;
    const what = isLost ? 'connections lost' : random.pick(faultKindsOf(unit, cluster));
    const forMs = durationOf(random, unit, what, cluster);
    // As often by less than a second as by more: both ways.
    const aheadMs = random.pick([-1, 1]) * random.between(1, random.pick([1_000, clockMaxMs]));
    if ((busyUntilMs.get(unit) ?? 0) > atMs || what === without) continue;
    busyUntilMs.set(unit, atMs + forMs + restartMs);
    faults.push({ atMs, unit, what, forMs, aheadMs });
  }
  return faults;
}

/** Carries the faults out, each at its time or a little later; resolves when all are over. @returns the faults that happened. */
export async function carryOut(
  faults: readonly Fault[],
  cluster: Cluster,
  announce: (fault: Fault) => void,
): Promise<InjectedFault[]> {
  const injectedFaults: InjectedFault[] = [];
  const startedAtMs = performance.now();
  const restored = new Map<Unit, Promise<void>>(); // a slow machine may need longer for a restart than was planned
  const active = { count: 0 };
  async function runFault(fault: Fault, before: Promise<void> | undefined): Promise<void> {
    const isLate = () => performance.now() > startedAtMs + fault.atMs + lateMaxMs;
    await pause(Math.max(0, startedAtMs + fault.atMs - performance.now()));
    await before;
    await until('fewer units are in trouble', () => active.count < atOnceMax || isLate());
    if (isLate()) return;
    active.count += 1;
    announce(fault);
    const fromMs = performance.now();
    await inject(fault, cluster);
    const doneMs = performance.now();
    await pause(fault.forMs);
    await restore(fault, cluster);
    active.count -= 1;
    const { unit, what } = fault;
    injectedFaults.push({ unit: unit.name, what, fromMs, doneMs, restoredMs: performance.now() });
  }
  for (const fault of faults) restored.set(fault.unit, runFault(fault, restored.get(fault.unit)));
  await Promise.all(restored.values());
  return injectedFaults;
}

async function inject({ what, unit, aheadMs }: Fault, cluster: Cluster): Promise<void> {
  const { redis } = cluster;
  const links = cluster.serviceLinks.get(unit)?.data ?? [];
  if (what === 'killed') await unit.kill();
  else if (what === 'stopped') await unit.stop();
  else if (what === 'stalled') unit.stall();
  else if (what === 'failed over') await redis?.failOver?.();
  else if (what === 'connections lost')
    for (const link of cluster.serviceLinks.get(unit)?.all ?? []) link.loseAll();
  else if (what === 'cut off') for (const link of links) link.cut();
  else if (what === 'deafened') for (const link of links) link.pauseReplies();
  else if (what === 'deafened to one') links[0]?.pauseReplies();
  else if (what === 'clock moved') clockOf(unit, cluster)?.moveClock(aheadMs);
  else if (what === 'emptied') await redis?.redis.command('flushall');
  else if (what === 'scripts forgotten') await redis?.redis.command('script', 'flush');
  else await redis?.redis.command('config', 'set', 'min-replicas-to-write', '1');
}

async function restore({ what, unit }: Fault, cluster: Cluster): Promise<void> {
  const { redis } = cluster;
  if (what === 'killed' || what === 'stopped' || what === 'failed over') await unit.start();
  else if (what === 'stalled') unit.goOn();
  else if (what === 'cut off' || what === 'deafened' || what === 'deafened to one')
    for (const link of cluster.serviceLinks.get(unit)?.data ?? []) link.restore();
  else if (what === 'clock moved') clockOf(unit, cluster)?.moveClock(0);
  else if (what === 'read-only') await redis?.redis.command('config', 'set', 'min-replicas-to-write', '0');
}

const clockOf = (unit: Unit, { gateways, dataApis }: Cluster) =>
  [...gateways, ...dataApis].find((service) => service === unit);

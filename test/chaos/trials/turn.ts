// The turn of a month under load, while limits change: the clocks of PostgreSQL and of every service are just before the end of a month.
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '../../../accounts-api/database.ts';
import { loadPlans } from '../../../kernel/plans.ts';
import { nextUtcMonth, utcMonth } from '../../../kernel/clock.ts';
import { createClients, type Seen } from '../calls.ts';
import { questionsOf, tenantLimits, type Scene } from '../cluster.ts';
import { carryOut, drawFaults, type Fault, type InjectedFault } from '../faults.ts';
import { balance, outcomeOf, faultsOf, lostSpans } from '../ledger.ts';
import { read } from '../load.ts';
import type { Random } from '../random.ts';
import { spendRemaining } from '../rest.ts';
import { stepDatabaseClock } from './database-clock.ts';
import { judgeMonths, readLedger, type Turn } from './judge-months.ts';
import { startTenants } from './tenants.ts';

export interface TrialOptions {
  scene: Scene;
  random: Random;
  seconds: number;
  /** Without: every service and server is well all the time. */
  hasFaults: boolean;
  announce(fault: Fault, atMs: number): void;
  printLine(line: string): void;
  /** @returns the faults when all services work again. */
  recover(clients: ReturnType<typeof createClients>): Promise<string[]>;
}

const beforeTurnMs = 10 * 60_000;
const clocksReadWithinMs = 3_000; // services read PostgreSQL's clock every second

/** How far the clocks are ahead while the services start: the month ends soon, and later than anything is tried. */
export function aheadOfTurnMs(now: Date): number {
  return nextUtcMonth(now).getTime() - beforeTurnMs - now.getTime();
}

/** Sets all clocks forward so that the month turns in this many ms. */
async function approachTurn({ cluster, databaseUrl, clockAheadMs }: Scene, inMs: number): Promise<Turn> {
  const clusterNow = new Date(Date.now() + clockAheadMs);
  const turnsAt = nextUtcMonth(clusterNow);
  const aheadMs = Math.round(turnsAt.getTime() - inMs - clocksReadWithinMs - Date.now());
  await stepDatabaseClock(databaseUrl, aheadMs);
  for (const unit of [...cluster.gateways, ...cluster.dataApis, ...cluster.accountsApis, ...cluster.workers])
    unit.moveClock(aheadMs - clockAheadMs);
  await pause(clocksReadWithinMs);
  return {
    atMs: performance.now() + turnsAt.getTime() - aheadMs - Date.now(),
    months: [utcMonth(clusterNow), turnsAt.toISOString().slice(0, 10)],
  };
}

/** @returns the faults, as sentences. */
export async function turnMonth(options: TrialOptions): Promise<string[]> {
  const { scene, random, seconds, hasFaults, announce, printLine } = options;
  const { cluster, databaseUrl, plansFile, readers, scout, tenants: who } = scene;
  const faults = hasFaults ? drawFaults(random, cluster, { seconds, without: 'clock moved' }) : [];
  const { plain, all } = await questionsOf(cluster, scout);
  const clients = createClients(cluster.gateways);
  const load = { clients, gateways: cluster.gateways, random };
  const db = connect(databaseUrl);
  const turn = await approachTurn(scene, (seconds * 1000) / 2);
  const clock = { now: () => new Date(Date.parse(turn.months[1]) + performance.now() - turn.atMs) };
  const reading = read(load, readers, all);
  const tenants = startTenants(load, {
    who,
    question: plain,
    deps: { db, plans: loadPlans(plansFile), clock },
  });
  const startedAtMs = performance.now();
  const [injectedFaults] = await Promise.all([
    carryOut(faults, cluster, (fault) => announce(fault, performance.now() - startedAtMs)),
    pause(seconds * 1000),
  ]);
  const wrong = await options.recover(clients);
  await tenants.stop();
  await reading.stop();
  await db.close();
  printLine(
    `limits: ${tenants.changes.length} changes of ${who.length} accounts; ${tenants.repeated} failed and were repeated`,
  );
  const limitNow = (accountId: string) =>
    tenants.changes.findLast((change) => change.accountId === accountId)?.limit ?? tenantLimits.free;
  const atLeast = ({ accountId }: { accountId: string }) =>
    limitNow(accountId) - uncertainAfter(clients.seen, accountId, { turn, injectedFaults });
  const rest = { cluster, clients, databaseUrl, question: plain };
  const { durationMs, refused } = await spendRemaining(rest, who, atLeast, turn.atMs);
  printLine(`rest: served to the end after ${(durationMs / 1000).toFixed(0)} s; not: ${refused.length}`);
  for (const { accountId } of refused)
    wrong.push(`${accountId} is refused before its limit of ${limitNow(accountId)}`);
  for (const gateway of cluster.gateways) await gateway.stop(); // each hands its journal over
  await clients.close();
  wrong.push(...clients.faults);
  if (!hasFaults) wrong.push(...failures(clients.seen));
  wrong.push(...(await balance(databaseUrl, clients.seen, injectedFaults)).flatMap(faultsOf));
  const ledger = await readLedger(databaseUrl);
  const total = { served: [0, 0], billed: [0, 0], atTurn: 0, refused: 0, refusedWithoutFault: 0, callers: 0 };
  for (const accountId of new Set(clients.seen.map((one) => one.accountId))) {
    const own = clients.seen.filter((one) => one.accountId === accountId && one.calls === 1);
    if (own.length < clients.seen.filter((one) => one.accountId === accountId).length) continue; // readers of lists
    const changes = tenants.changes.filter((change) => change.accountId === accountId);
    const isTenant = who.some((tenant) => tenant.accountId === accountId);
    const judged = judgeMonths(accountId, own, {
      ...{ changes, turn, injectedFaults, ledger: ledger.get(accountId) ?? new Map() },
      firstLimit: isTenant ? tenantLimits.free : Infinity,
    });
    wrong.push(...judged.wrong);
    for (const month of [0, 1] as const) {
      total.served[month] = (total.served[month] ?? 0) + judged.served[month];
      total.billed[month] = (total.billed[month] ?? 0) + judged.billed[month];
    }
    total.callers += 1;
    total.atTurn += judged.atTurn;
    total.refused += judged.refused;
    total.refusedWithoutFault += judged.refusedWithoutFault;
  }
  printLine(
    `months of ${total.callers} accounts: served ${total.served.join(' and ')}, at the turn ${total.atTurn}; billed ${total.billed.join(' and ')}; refused ${total.refused}, of which without a fault before ${total.refusedWithoutFault}`,
  );
  printLine(`faults: ${injectedFaults.length} of ${faults.length}`);
  return wrong;
}

/** Calls that may count to the month after the turn, and are not known to. */
function uncertainAfter(
  seen: readonly Seen[],
  accountId: string,
  { turn, injectedFaults }: { turn: Turn; injectedFaults: readonly InjectedFault[] },
): number {
  const spans = lostSpans(injectedFaults);
  return seen.filter(
    (one) =>
      one.accountId === accountId &&
      one.endedAtMs >= turn.atMs - 5 &&
      (outcomeOf(one, spans) === 'cut off' || (one.startedAtMs < turn.atMs && one.status === 200)),
  ).length;
}

function failures(seen: readonly Seen[]): string[] {
  return seen
    .filter(({ status }) => status === null || status >= 500)
    .map(
      ({ accountId, gateway, status, startedAtMs }) =>
        `${status} to ${accountId} at ${gateway}, begun at ${startedAtMs.toFixed(0)}, without a fault`,
    );
}

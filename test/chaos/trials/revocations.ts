// Revocations while accounts-api is killed again and again in the middle of them.
import pg from 'pg';
import { until } from '../../run/until.ts';
import { createClients, type Question } from '../calls.ts';
import { questionsOf } from '../cluster.ts';
import { carryOut, type Cluster, type Fault, type What } from '../faults.ts';
import { balance, faultsOf } from '../ledger.ts';
import { read, revoke, type Victim } from '../load.ts';
import type { Random } from '../random.ts';
import type { Unit } from '../units.ts';
import type { TrialOptions } from './turn.ts';

const atOnce = 8;
const betweenKillsMs = { least: 1_500, most: 6_000 }; // a restart needs seconds on a busy machine, and keys must be revoked in between
const downMs = { least: 100, most: 2_000 };
const betweenFailoversMs = { least: 8_000, most: 15_000 };
const confirmedWithinMs = 20_000;

/** Kills of either accounts-api or both, and where Redis has a replica its failovers. */
function drawKills(random: Random, { accountsApis, redis }: Cluster, seconds: number): Fault[] {
  const faults: Fault[] = [];
  const draw = (unit: Unit, what: What, atMs: number) =>
    void faults.push({ unit, what, atMs, forMs: random.between(downMs.least, downMs.most), aheadMs: 0 });
  const endMs = seconds * 1000;
  for (let atMs = 500; atMs < endMs; atMs += random.between(betweenKillsMs.least, betweenKillsMs.most)) {
    const killed = random.below(4) === 0 ? accountsApis : [random.pick(accountsApis)];
    for (const unit of killed) draw(unit, 'killed', atMs);
  }
  if (redis?.failOver !== undefined) {
    const next = () => random.between(betweenFailoversMs.least, betweenFailoversMs.most);
    for (let atMs = next(); atMs < endMs; atMs += next()) draw(redis, 'failed over', atMs);
  }
  return faults.toSorted((a, b) => a.atMs - b.atMs);
}

/** @returns the faults, as sentences. */
export async function revokeUnderKills(options: TrialOptions): Promise<string[]> {
  const { scene, random, seconds, announce, printLine } = options;
  const { cluster, databaseUrl, readers, scout, victims } = scene;
  const { plain, all } = await questionsOf(cluster, scout);
  const clients = createClients(cluster.gateways);
  const load = { clients, gateways: cluster.gateways, random };
  const faults = drawKills(random, cluster, seconds);
  const reading = read(load, readers, all);
  const revocations = revoke(load, victims, plain, atOnce);
  const startedAtMs = performance.now();
  const kills = { duringRevocations: 0, inFlight: 0 };
  const injectedFaults = await carryOut(faults, cluster, (fault) => {
    announce(fault, performance.now() - startedAtMs);
    if (fault.what !== 'killed') return;
    kills.duringRevocations += revocations.unanswered.size > 0 ? 1 : 0;
    kills.inFlight += revocations.unanswered.size;
  });
  const wrong = await options.recover(clients);
  await revocations.stop();
  await reading.stop();
  const revoked = new Set(revocations.revokedVictims);
  const failed = [...revocations.unanswered];
  const never = victims.filter((victim) => !revoked.has(victim) && !revocations.unanswered.has(victim));
  const askAll = async (who: readonly Victim[], question: Question) => {
    for (const victim of who)
      for (const gateway of cluster.gateways) await clients.ask(gateway, victim, question);
  };
  for (const victim of failed) {
    const deletion: Question = { path: `/v1/keys/${victim.keyId}`, method: 'DELETE', status: 204, calls: 0 };
    const answer = await clients.ask(random.pick(cluster.gateways), victim.manager, deletion);
    if (answer?.status !== 204) wrong.push(`${victim.keyId}: its revocation, repeated, is ${answer?.status}`);
  }
  await askAll([...revoked, ...failed], { path: plain.path, status: 401, calls: 0 });
  await askAll(never.slice(0, 200), plain);
  const managers = new Map([...revoked].map(({ manager }) => [manager.key, manager]));
  for (const manager of managers.values()) await clients.ask(random.pick(cluster.gateways), manager, plain);
  await until(
    'every change is settled',
    async () => (await changesLeft(databaseUrl)) === 0,
    confirmedWithinMs,
  ).catch((error: unknown) => void wrong.push(String(error)));
  for (const gateway of cluster.gateways) await gateway.stop(); // each hands its journal over
  await clients.close();
  wrong.push(...clients.faults, ...revocations.accepted);
  const accounts = await balance(databaseUrl, clients.seen, injectedFaults);
  wrong.push(...accounts.flatMap(faultsOf));
  const sum = (of: 'served' | 'billed') => accounts.reduce((total, account) => total + account[of], 0);
  printLine(
    `revocations: ${revoked.size}, of which ${revocations.repeated} attempts failed and were repeated; calls after them: ${revocations.calledAfter}; accepted: ${revocations.accepted.length}`,
  );
  const failovers = injectedFaults.filter(({ what }) => what === 'failed over').length;
  printLine(
    `kills of accounts-api: ${injectedFaults.length - failovers}, ${kills.duringRevocations} during revocations, of them ${kills.inFlight} in flight; failovers of Redis: ${failovers}; late: ${faults.length - injectedFaults.length}`,
  );
  printLine(`ledger: ${sum('served')} calls served, ${sum('billed')} billed`);
  return wrong;
}

/** Gateways with a lease that have not seen the last change. */
async function changesLeft(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ number: number }>(
      `select count(*)::int as number from accounts.gateways, accounts.change_counter
       where leased_until > clock_timestamp() and seen < no`,
    );
    return rows[0]?.number ?? 0;
  } finally {
    await client.end();
  }
}

// The remaining calls of months after the faults: a gateway is killed with calls in flight, and in the end every limit is served to its last call.
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Caller, Clients, Question } from './calls.ts';
import type { Cluster } from './faults.ts';
import { until } from '../run/until.ts';

export interface RestOptions {
  cluster: Cluster;
  clients: Clients;
  databaseUrl: string;
  question: Question;
}

const servedBefore = 20;
const inFlightCalls = 50;
/** The block of a killed gateway is usable again within this time. */
const recoversWithinMs = 120_000;
const betweenRoundsMs = 2_000;

/**
 * Lets a gateway serve some calls of an account, and kills it while others wait for their answers. These answers must not be in the gateway's
 * cache. The gateway is restarted afterwards.
 */
export async function killWithCallsInFlight(options: RestOptions, who: Caller): Promise<void> {
  const { cluster, clients, databaseUrl, question } = options;
  const [gateway] = cluster.gateways;
  if (gateway === undefined) throw new Error('There is no gateway.');
  for (let i = 0; i < servedBefore; i += 1) await clients.ask(gateway, who, question);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  for (const unit of cluster.dataApis) unit.stall();
  try {
    const asked = Array.from({ length: inFlightCalls }, () => clients.ask(gateway, who, question));
    await until('the calls are charged', async () => {
      const { rows } = await client.query<{ used: number }>(
        'select (used + out)::int as used from accounts.quota_months where account_id = $1',
        [who.accountId],
      );
      return (rows[0]?.used ?? 0) >= servedBefore + inFlightCalls;
    });
    await gateway.kill();
    const cut = (await Promise.all(asked)).filter((answer) => answer?.status === null).length;
    if (cut < inFlightCalls)
      throw new Error(`Only ${cut} of ${inFlightCalls} calls were under way when the gateway was killed.`);
  } finally {
    for (const unit of cluster.dataApis) unit.goOn();
    await client.end();
  }
  await gateway.start();
}

/**
 * Calls for each account until its limit is served; after a fault this can take up to two minutes. @param sinceMs calls that began earlier
 * do not count. @returns how long it took, in ms, and the accounts that were refused until then.
 */
export async function spendRemaining(
  { cluster, clients, question }: RestOptions,
  who: readonly Caller[],
  limit: number | ((who: Caller) => number),
  sinceMs = -Infinity,
): Promise<{ durationMs: number; refused: Caller[] }> {
  const startedAtMs = performance.now();
  const answered = countOf(clients, sinceMs);
  const limitOf = typeof limit === 'number' ? () => limit : limit;
  let refused = [...who];
  let at = 0;
  while (refused.length > 0 && performance.now() - startedAtMs < recoversWithinMs) {
    for (const account of refused) {
      for (let isServed = true; isServed && answered(account) < limitOf(account);) {
        const gateway = cluster.gateways[(at += 1) % cluster.gateways.length];
        const answer = gateway && (await clients.ask(gateway, account, question, [402]));
        isServed = answer?.status === 200;
      }
    }
    refused = refused.filter((account) => answered(account) < limitOf(account));
    if (refused.length > 0) await pause(betweenRoundsMs);
  }
  return { durationMs: performance.now() - startedAtMs, refused };
}

/** The calls of an account that were answered 200, and were begun since then. */
function countOf({ seen }: Clients, sinceMs: number): ({ accountId }: Caller) => number {
  const counts = new Map<string, number>();
  let read = 0;
  return ({ accountId }) => {
    for (; read < seen.length; read += 1) {
      const one = seen[read];
      if (one?.status === 200 && one.startedAtMs >= sinceMs)
        counts.set(one.accountId, (counts.get(one.accountId) ?? 0) + one.calls);
    }
    return counts.get(accountId) ?? 0;
  };
}

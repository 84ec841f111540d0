// What nobody may notice, after the faults: each tier replaced instance by instance, and all of accounts-api killed while Redis is well.
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { allotmentKey } from '../../gateway/quota/redis-shares.ts';
import { utcMonth } from '../../kernel/clock.ts';
import { credentialLeaseMs } from '../../kernel/credentials/cache.ts';
import { until } from '../run/until.ts';
import type { PrivateRedis } from '../services/redis.ts';
import type { Caller, Clients, Question } from './calls.ts';
import type { Cluster } from './faults.ts';
import type { Service } from './units.ts';

export interface RollingOptions {
  cluster: Cluster;
  databaseUrl: string;
  clients: Clients;
  who: Caller;
  question: Question;
}

const betweenCallsMs = { rolling: 5, away: 80 };
const awayMs = 3_000;
// A machine that is crowded with this run may need longer for the restart than a lease lasts: later calls are not judged.
const judgedForMs = 10_000;
/** Calls that the account must be able to draw while accounts-api is away; more than are made. */
const callsAhead = 300;

/** @returns the calls that failed, in words. */
export async function rollEverything(options: RollingOptions): Promise<string[]> {
  const { cluster, clients, who, question } = options;
  const wrong: string[] = [];
  const inTurn = new Set<Service>(cluster.gateways);
  const load = { goesOn: true, doing: '', betweenCallsMs: betweenCallsMs.rolling, judgedUntilMs: Infinity };
  const loops = [0, 1, 2, 3].map(async () => {
    for (let turn = 0; load.goesOn; turn += 1) {
      const gateways = [...inTurn];
      const gateway = gateways[turn % gateways.length] as Service;
      const isJudged = performance.now() < load.judgedUntilMs;
      const seen = await clients.ask(gateway, who, question);
      if (isJudged && seen?.status !== question.status) {
        wrong.push(`while ${load.doing}: ${seen?.status ?? 'no answer'} of ${gateway.name}`);
      }
      await pause(load.betweenCallsMs);
    }
  });
  for (const tier of [cluster.dataApis, cluster.accountsApis, cluster.gateways]) {
    for (const unit of tier) {
      load.doing = `${unit.name} was replaced`;
      inTurn.delete(unit); // as the balancer before the gateways does, within the drain delay
      await unit.stop();
      await unit.start();
      if (tier === cluster.gateways) await until(`${unit.name} is ready`, () => isReady(unit));
      if (tier === cluster.gateways) inTurn.add(unit);
    }
  }
  if (cluster.redis !== undefined) {
    load.betweenCallsMs = betweenCallsMs.away;
    const sinceMs = await databaseNowMs(options); // the gateways that were replaced may still have leases, but renew them no more
    const isUpToDate = async () => (await gatewaysUpToDate(options, sinceMs)) >= cluster.gateways.length;
    await until('every gateway uses the present generation of the cache', isUpToDate);
    const { redis } = cluster.redis;
    await until('the allotment holds enough', async () => {
      await clients.ask(cluster.gateways[0] as Service, who, question);
      return (await callsLeft(redis, who)) > callsAhead;
    });
    load.doing = 'all of accounts-api was away';
    load.judgedUntilMs = performance.now() + judgedForMs;
    await Promise.all(cluster.accountsApis.map((unit) => unit.kill()));
    await pause(awayMs);
    // One after the other: starting all takes both cores of a small machine, and Redis then misses its deadline of 200 ms.
    for (const unit of cluster.accountsApis) await unit.start();
  }
  load.goesOn = false;
  await Promise.all(loops);
  return wrong;
}

async function isReady({ url }: Service): Promise<boolean> {
  const response = await fetch(`${url}/readyz`).catch(() => undefined);
  return response?.status === 200;
}

/** What the account may still draw from its allotment in Redis. PostgreSQL hears of drawn calls only later. */
async function callsLeft(redis: Pick<PrivateRedis, 'command'>, { accountId }: Caller): Promise<number> {
  const key = allotmentKey({ accountId, month: utcMonth(new Date()) });
  const [granted, drawn] = (await redis.command('hmget', key, 'granted', 'drawn')) as (string | null)[];
  return Number(granted ?? 0) - Number(drawn ?? 0);
}

/**
 * The gateways that renewed their lease after that instant, on the present generation of the credential cache. A new generation is known
 * to all within seconds.
 */
async function gatewaysUpToDate({ databaseUrl }: RollingOptions, sinceMs: number): Promise<number> {
  return numberIn(
    databaseUrl,
    `select count(*)::int as number from accounts.credential_leases l join accounts.credential_cache c using (generation)
     where l.leased_until > to_timestamp(($1::float8 + $2::float8) / 1000)`,
    [sinceMs, credentialLeaseMs.redis],
  );
}

async function databaseNowMs({ databaseUrl }: RollingOptions): Promise<number> {
  return numberIn(databaseUrl, 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as number', []);
}

async function numberIn(databaseUrl: string, text: string, values: unknown[]): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ number: number }>(text, values);
    return rows[0]?.number ?? 0;
  } finally {
    await client.end();
  }
}

// After the faults, events that no client may notice: rolling restarts of each tier, and all of accounts-api killed while gateways have leases.
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { utcMonth } from '../../kernel/clock.ts';
import { until } from '../run/until.ts';
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

const betweenCallsMs = { rolling: 5, outage: 80 };
const outageMs = 3_000;
// A machine that is crowded with this run may need longer for the restart than a lease lasts: later calls are not judged.
const judgedForMs = 10_000;
/** Calls that the account must be able to draw at all gateways together while accounts-api is away; more than are made. */
const callsAhead = 300;

/** @returns the calls that failed, in words. */
export async function rollEverything(options: RollingOptions): Promise<string[]> {
  const { cluster, clients, who, question } = options;
  const wrong: string[] = [];
  const inTurn = new Set<Service>(cluster.gateways);
  const load = {
    isRunning: true,
    doing: '',
    betweenCallsMs: betweenCallsMs.rolling,
    judgedUntilMs: Infinity,
  };
  const loops = [0, 1, 2, 3].map(async () => {
    for (let turn = 0; load.isRunning; turn += 1) {
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
  load.betweenCallsMs = betweenCallsMs.outage;
  await until('every gateway holds enough calls', async () => {
    for (const gateway of cluster.gateways) await clients.ask(gateway, who, question);
    return (await smallestBlock(options)) > callsAhead / cluster.gateways.length;
  });
  load.doing = 'all of accounts-api was away';
  load.judgedUntilMs = performance.now() + judgedForMs;
  await Promise.all(cluster.accountsApis.map((unit) => unit.kill()));
  await pause(outageMs);
  // One after the other: starting all takes both cores of a small machine.
  for (const unit of cluster.accountsApis) await unit.start();
  load.isRunning = false;
  await Promise.all(loops);
  return wrong;
}

async function isReady({ url }: Service): Promise<boolean> {
  const response = await fetch(`${url}/readyz`).catch(() => undefined);
  return response?.status === 200;
}

/**
 * The smallest block of the account at any gateway; 0 unless exactly as many gateways as are running have a lease and have seen the
 * last change. A few calls may be drawn already: PostgreSQL knows it at the next report.
 */
async function smallestBlock({ databaseUrl, cluster, who }: RollingOptions): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ gateways: number; held: number }>(
      `select count(*)::int as gateways, coalesce(min(coalesce(granted - spent - returned, 0)), 0)::int as held
       from accounts.gateways as gateway join accounts.change_counter on seen = no
         left join accounts.quota_blocks as block on block.life = gateway.life and account_id = $1 and month = $2
       where leased_until > clock_timestamp()`,
      [who.accountId, utcMonth(new Date())],
    );
    const [found] = rows;
    return found?.gateways === cluster.gateways.length ? found.held : 0;
  } finally {
    await client.end();
  }
}

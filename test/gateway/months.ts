// Gateways reduced to the counting of months: the real modules over the real accounts-api, PostgreSQL and a Redis of their own, with
// a clock to set and journals that settle on request.
import { reclaimLostAllotments } from '../../accounts-api/quota/allotments.ts';
import { createAccounts } from '../../gateway/accounts.ts';
import { BatchRefused, createJournal, type Journal } from '../../gateway/quota/journal.ts';
import { createMonth, type Month, type QuotaOutage } from '../../gateway/quota/month.ts';
import { createAllotments } from '../../gateway/quota/allotments.ts';
import { createProcessAllotments } from '../../gateway/quota/process-allotments.ts';
import { createRedisAllotments } from '../../gateway/quota/redis-allotments.ts';
import { createUpstreams } from '../../gateway/upstream/upstreams.ts';
import { openRedis, script, type RedisLink } from '../../kernel/redis.ts';
import type { AccountsService } from '../services/accounts-service.ts';
import { silentLog, testIdentitySecret } from '../services/harness.ts';
import { until } from '../run/until.ts';

export interface CountingGateway {
  month: Month;
  journal: Journal;
  redis: RedisLink | undefined;
  /** Hands over all that is journalled, what late answers bring included. */
  settle(): Promise<void>;
  /** As a kill does: what is journalled is lost. */
  crash(): void;
}

export async function startCountingGateway(
  service: Pick<AccountsService, 'url' | 'clock'>,
  redisUrl: string | undefined,
  outage: QuotaOutage = 'bounded',
): Promise<CountingGateway> {
  const redis = redisUrl === undefined ? undefined : openRedis(redisUrl, silentLog);
  await redis?.opened();
  const upstreams = createUpstreams('accounts-api', [service.url]);
  const accounts = createAccounts({ upstreams, identitySecret: testIdentitySecret });
  const { clock } = service;
  let crashed = false;
  const journal = createJournal({
    send: (batch) => (crashed ? Promise.reject(new BatchRefused('crashed')) : accounts.settle(batch)),
    flushEveryMs: 2 ** 30, // only when told
    closeWithinMs: 10_000,
    clock,
    log: silentLog,
  });
  const topUps = { accounts, journal, clock };
  const inProcess = createProcessAllotments({ journal });
  return {
    month: createMonth({
      inRedis: redis && createAllotments(createRedisAllotments({ redis, journal, clock }), topUps),
      inProcess: createAllotments(inProcess, topUps),
      ...{ journal, outage, clock },
    }),
    journal,
    redis,
    async settle() {
      await redis?.allAnswered(10_000);
      inProcess.close();
      await journal.close();
    },
    crash() {
      crashed = true;
      inProcess.close(); // its timer; nobody hears what it returns
      redis?.close();
      void journal.close().then(() => accounts.close());
    },
  };
}

const nothing = script('return 1');

/** Resolves when Redis is spoken to again. */
export async function connected({ redis }: CountingGateway): Promise<void> {
  if (redis === undefined) return;
  await until('Redis is spoken to again', () =>
    redis.run(nothing, 'almanac:probe', []).then(
      () => true,
      () => false,
    ),
  );
}

/**
 * Serves what is left of a month, also what comes back of allotments that were lost and of answers that came late. A round in which
 * a busy machine opened a gateway's circuit says nothing: what lies in an allotment can then not be drawn.
 * @param serve asks for some calls. @returns how many were served.
 */
export async function serveTheRest(
  service: Pick<AccountsService, 'clock' | 'deps'>,
  gateways: readonly CountingGateway[],
  serve: () => Promise<number>,
): Promise<number> {
  let served = 0;
  for (let emptyRounds = 0; emptyRounds < 2;) {
    await Promise.all(gateways.map(connected));
    let inRound = 0;
    for (let more = 1; more > 0; inRound += more) more = await serve();
    served += inRound;
    for (const gateway of gateways) await gateway.settle();
    service.clock.advance(61_000);
    await reclaimLostAllotments(service.deps);
    if (inRound === 0 && gateways.every(({ redis }) => redis?.isUsable !== false)) emptyRounds += 1;
  }
  return served;
}

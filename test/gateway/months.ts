// Gateways reduced to the counting of months: the real modules over the real accounts-api, PostgreSQL and a Redis of their own, with
// a clock to set and journals that settle on request.
import { reclaimLostAllotments } from '../../accounts-api/quota/allotments.ts';
import { createAccounts } from '../../gateway/accounts.ts';
import { BatchRefused, createJournal, type Journal } from '../../gateway/quota/journal.ts';
import { createMonth, type Month, type QuotaOutage, type Take } from '../../gateway/quota/month.ts';
import { createAllotments } from '../../gateway/quota/allotments.ts';
import { createProcessAllotments } from '../../gateway/quota/process-allotments.ts';
import { createRedisAllotments } from '../../gateway/quota/redis-allotments.ts';
import { createUpstreams } from '../../gateway/upstream/upstreams.ts';
import { utcMonth } from '../../kernel/clock.ts';
import { openRedis, RedisUnavailable, script, type RedisLink } from '../../kernel/redis.ts';
import type { AccountsService } from '../services/accounts-service.ts';
import { silentLog, testIdentitySecret } from '../services/harness.ts';
import { until } from '../run/until.ts';

export interface CountingGateway {
  /** Takes calls that are served at once. */
  take(accountId: string, calls: number, limit: number | null): Promise<Take>;
  /** Takes calls that are under way until their hold ends. */
  begin: Month['take'];
  journal: Journal;
  redis: RedisLink | undefined;
  /** The allotments in Redis that it may have drawn from. */
  allotments: ReadonlySet<string>;
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
  // As the clock of the test has it, and it goes on meanwhile.
  const startMs = clock.now().getTime();
  const nowMs = () => performance.now() + clock.now().getTime() - startMs;
  const topUps = { accounts, clock, nowMs, log: silentLog };
  const inProcess = createProcessAllotments({ journal, accounts, nowMs, log: silentLog });
  const inRedis = redis && createRedisAllotments({ redis, journal, clock, nowMs });
  const month = createMonth({
    inRedis: inRedis && createAllotments(inRedis, topUps),
    inProcess: createAllotments(inProcess, topUps),
    ...{ journal, outage, clock },
  });
  const allotments = new Set<string>();
  const begin: Month['take'] = (accountId, calls, limit) => {
    allotments.add(`almanac:allotment:{${accountId}}:${utcMonth(clock.now())}`);
    return month.take(accountId, calls, limit);
  };
  return {
    allotments,
    begin,
    async take(accountId, calls, limit) {
      const take = await begin(accountId, calls, limit);
      take.hold?.end(true);
      return take;
    },
    journal,
    redis,
    async settle() {
      await redis?.allAnswered(10_000);
      inRedis?.tell();
      await redis?.allAnswered(10_000);
      inProcess.close();
      await until('the journal is handed over', async () => {
        await journal.flush();
        const { entries, batches } = journal.backlog();
        return entries + batches === 0;
      });
    },
    crash() {
      crashed = true;
      inRedis?.close();
      redis?.close();
      inProcess.close(); // its timer; nobody hears what it returns
      void journal.close().then(() => accounts.close());
    },
  };
}

/** Has a minute and a half pass, for accounts-api and for the shares of gateways in Redis, and what is lost comes back. */
export async function passLeases(
  service: Pick<AccountsService, 'clock' | 'deps'>,
  gateways: readonly CountingGateway[],
): Promise<void> {
  service.clock.advance(90_001);
  for (const { redis, allotments } of gateways)
    for (const key of allotments) {
      await redis?.run(age, key, []).catch((error: unknown) => {
        if (!(error instanceof RedisUnavailable)) throw error; // the next round tries again
      });
    }
  await reclaimLostAllotments(service.deps);
}

const age = script(`
if redis.call('exists', KEYS[1]) == 0 then return 0 end
local fields = redis.call('hgetall', KEYS[1])
for i = 1, #fields, 2 do
  local calls, seen = string.match(fields[i + 1], '^(%d+ %d+ %d+) (%d+)$')
  if calls then redis.call('hset', KEYS[1], fields[i], calls .. ' ' .. string.format('%d', seen - 90001)) end
end
return 1`);

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
    await passLeases(service, gateways);
    if (inRound === 0 && gateways.every(({ redis }) => redis?.isUsable !== false)) emptyRounds += 1;
  }
  return served;
}

// Gateways as far as they count months: the real modules over the real accounts-api, PostgreSQL and a Redis of their own, with
// a clock to move and journals that settle when told.
import { createAccounts } from '../../gateway/accounts.ts';
import { BatchRefused, createJournal, type Journal } from '../../gateway/journal.ts';
import { createMonth, type Month, type QuotaOutage } from '../../gateway/month.ts';
import { createPurses } from '../../gateway/purses.ts';
import { createUpstreams } from '../../gateway/upstreams.ts';
import { openRedis, script, type RedisLink } from '../../kernel/redis.ts';
import type { AccountsRoom } from '../accounts-room.ts';
import { silentLog, testIdentitySecret } from '../harness.ts';

export interface CountingGateway {
  month: Month;
  journal: Journal;
  redis: RedisLink | undefined;
  /** Hands over all that is journalled. */
  settle(): Promise<void>;
  /** As a kill does: what is journalled is lost. */
  crash(): void;
}

export async function startCountingGateway(
  room: Pick<AccountsRoom, 'url' | 'clock'>,
  redisUrl: string | undefined,
  outage: QuotaOutage = 'bounded',
): Promise<CountingGateway> {
  const redis = redisUrl === undefined ? undefined : openRedis(redisUrl, silentLog);
  await redis?.opened();
  const upstreams = createUpstreams('accounts-api', [room.url]);
  const accounts = createAccounts({ upstreams, identitySecret: testIdentitySecret });
  const { clock } = room;
  let crashed = false;
  const journal = createJournal({
    send: (batch) => (crashed ? Promise.reject(new BatchRefused('crashed')) : accounts.settle(batch)),
    flushEveryMs: 2 ** 30, // only when told
    closeWithinMs: 10_000,
    clock,
    log: silentLog,
  });
  const purses = redis && createPurses({ redis, accounts, journal, clock });
  return {
    month: createMonth({ accounts, purses, journal, outage, clock }),
    journal,
    redis,
    settle: () => journal.close(),
    crash() {
      crashed = true;
      redis?.close();
      void journal.close().then(() => accounts.close());
    },
  };
}

const nothing = script('return 1');

/** Resolves when Redis is spoken to again. */
export async function connected({ redis }: CountingGateway): Promise<void> {
  for (;;) {
    const answered = await redis?.run(nothing, 'almanac:probe', []).then(
      () => true,
      () => false,
    );
    if (answered !== false) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

// Spends calls of a month from a purse in Redis that all gateways share. accounts-api fills it from the month, which it
// charges first: a purse that is lost with Redis costs its account nothing for long, and gives it nothing twice.
import { randomUUID } from 'node:crypto';
import { serverLife } from '../kernel/credential-copy.ts';
import { nextUtcMonth, utcMonth, type Clock } from '../kernel/clock.ts';
import { RedisUnavailable, script, type RedisLink } from '../kernel/redis.ts';
import type { Accounts, Grant } from './accounts.ts';
import type { Journal } from './journal.ts';

export interface Purses {
  /** Takes up to so many calls. @param limit of the account's plan. @throws RedisUnavailable; Failure unavailable. */
  take(accountId: string, calls: number, limit: number | null): Promise<Grant>;
  /** The question for up to so many calls that the purse holds already, for those who ask Redis themselves. */
  question(accountId: string, calls: number, limit: number | null): PurseQuestion;
}

/** A question to be asked once, of `spendLua`. One of the two must hear what Redis says. */
export interface PurseQuestion {
  /** KEYS[1] of the script. */
  key: string;
  /** Its ARGV. */
  words: readonly string[];
  /** An answer in time. @returns undefined where Redis ran it too late, and took nothing. */
  note(answer: unknown): Grant | undefined;
  /** One after the deadline: the call was answered otherwise meanwhile, so what was taken for it goes back. */
  noteLate(answer: unknown): void;
}

/**
 * Lua: spends. KEYS: the purse; `life`: that of the server. ARGV: calls wanted, the limit or '', an id for a new purse, an instant
 * of Redis' clock after which nothing may be taken; then, after a refill, the purse that was filled, all that was granted to it,
 * and what is charged elsewhere.
 * A purse of another life of the server may lack what was spent last: it is left for a new one.
 * → the purse's id, calls taken, all granted, all spent, what is charged elsewhere; or null where it is too late.
 */
export const spendLua = `
local now = redis.call('time')
if now[1] * 1000 + now[2] / 1000 > tonumber(ARGV[4]) then return nil end
local purse = redis.call('hmget', KEYS[1], 'life', 'id', 'granted', 'spent', 'elsewhere')
if purse[1] ~= life then
  redis.call('del', KEYS[1])
  redis.call('hset', KEYS[1], 'life', life, 'id', ARGV[3], 'granted', 0, 'spent', 0, 'elsewhere', 0)
  redis.call('expire', KEYS[1], 35 * 24 * 3600)
  purse = { life, ARGV[3], 0, 0, 0 }
end
local granted, spent, elsewhere = tonumber(purse[3]), tonumber(purse[4]), tonumber(purse[5])
if ARGV[5] == purse[2] then
  granted = math.max(granted, tonumber(ARGV[6]))
  elsewhere = tonumber(ARGV[7])
  redis.call('hset', KEYS[1], 'granted', granted, 'elsewhere', elsewhere)
end
local free = granted - spent
if ARGV[2] ~= '' then free = math.min(free, tonumber(ARGV[2]) - elsewhere - spent) end
local taken = math.max(0, math.min(tonumber(ARGV[1]), free))
if taken > 0 then spent = redis.call('hincrby', KEYS[1], 'spent', taken) end
return { purse[2], taken, granted, spent, elsewhere }`;

const spend = script(`local life = ${serverLife}${spendLua}`);

/** KEYS: the purse. ARGV: its id. Removes it where it is still that one. */
const discard = script(
  `if redis.call('hget', KEYS[1], 'id') == ARGV[1] then redis.call('del', KEYS[1]) end return 1`,
);

/** In the place of what a refill has brought. */
const noCredit = ['', '', ''];

// A take that was written to a connection just before Redis stalled must not be charged when it goes on, long after.
const takeWithinMs = 1_000;

interface Account {
  id: string;
  /** `YYYY-MM-01`, UTC. */
  month: string;
}

interface Spent {
  purse: string;
  taken: number;
  granted: number;
  used: number;
}

export interface PursesOptions {
  redis: RedisLink;
  accounts: Pick<Accounts, 'refill'>;
  journal: Pick<Journal, 'refund' | 'spent'>;
  clock: Clock;
}

export function createPurses({ redis, accounts, journal, clock }: PursesOptions): Purses {
  function ask(account: Account, calls: number, limit: number | null, filled: readonly string[]) {
    const deadline = Date.now() + redis.clockOffsetMs + takeWithinMs;
    function note(answer: unknown): Spent | undefined {
      if (answer === null || answer === undefined) return undefined;
      const [purse, taken, granted, spent, elsewhere] = answer as SpendAnswer;
      if (taken > 0) journal.spent(account.id, account.month, purse, spent);
      return { purse, taken, granted, used: spent + elsewhere };
    }
    return {
      key: purseKey(account),
      words: [String(calls), String(limit ?? ''), randomUUID(), deadline.toFixed(0), ...filled],
      note,
      noteLate(answer: unknown): void {
        const taken = note(answer)?.taken ?? 0;
        if (taken > 0) journal.refund(account.id, account.month, taken);
      },
    };
  }

  async function trySpend(
    account: Account,
    calls: number,
    limit: number | null,
    filled: readonly string[],
  ): Promise<Spent> {
    const question = ask(account, calls, limit, filled);
    const answer = await redis.run(spend, question.key, question.words, (late) => question.noteLate(late));
    const spent = question.note(answer);
    if (spent === undefined) throw new RedisUnavailable('Redis ran a take too late.');
    return spent;
  }

  return {
    question(id, calls, limit) {
      const now = clock.now();
      const question = ask({ id, month: utcMonth(now) }, calls, limit, noCredit);
      return {
        ...question,
        note(answer) {
          const spent = question.note(answer);
          const resetsAt = nextUtcMonth(now).toISOString();
          return spent && { granted: spent.taken, limit, used: spent.used, resetsAt };
        },
      };
    },
    async take(id, calls, limit) {
      const now = clock.now();
      const account = { id, month: utcMonth(now) };
      const resetsAt = nextUtcMonth(now).toISOString();
      let got = await trySpend(account, calls, limit, noCredit);
      let { taken } = got;
      let bound = limit;
      try {
        while (taken < calls) {
          const lacking = calls - taken;
          const { purse, granted: seen } = got;
          const filled = await accounts.refill({ ...account, purse, seen, calls: lacking });
          bound = filled.limit;
          if (filled.closed) {
            await redis.run(discard, purseKey(account), [purse]);
            got = await trySpend(account, lacking, bound, noCredit);
          } else {
            const credit = [purse, String(filled.granted), String(filled.elsewhere)];
            got = await trySpend(account, lacking, bound, credit);
            // Nothing new was in it, so nothing is left. Else it may be that others were faster: then it is filled again.
            if (filled.granted <= seen && got.purse === purse) {
              taken += got.taken;
              break;
            }
          }
          taken += got.taken;
        }
        return { granted: taken, limit: bound, used: got.used, resetsAt };
      } catch (error) {
        if (taken > 0) journal.refund(id, account.month, taken);
        throw error;
      }
    },
  };
}

type SpendAnswer = [purse: string, taken: number, granted: number, spent: number, elsewhere: number];

function purseKey({ id, month }: Account): string {
  return `almanac:purse:{${id}}:${month}`;
}

// Draws calls of a month from an allotment in Redis that all gateways share. accounts-api fills it from the month, which it
// charges first: an allotment that is lost with Redis costs its account nothing for long, and gives it nothing twice.
import { randomUUID } from 'node:crypto';
import { replicationIdLua } from '../../kernel/credentials/cache.ts';
import { nextUtcMonth, utcMonth, type Clock } from '../../kernel/clock.ts';
import { RedisUnavailable, script, type RedisLink } from '../../kernel/redis.ts';
import type { Accounts, Grant } from '../accounts.ts';
import type { Journal } from './journal.ts';

export interface Allotments {
  /** Takes up to so many calls. @param limit of the account's plan. @throws RedisUnavailable; Failure unavailable. */
  take(accountId: string, calls: number, limit: number | null): Promise<Grant>;
  /** The question for up to so many calls that the allotment holds already, for those who ask Redis themselves. */
  question(accountId: string, calls: number, limit: number | null): DrawQuestion;
}

/** A question to be asked once, of `drawLua`. One of the two must hear what Redis says. */
export interface DrawQuestion {
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
 * Lua: draws. KEYS: the allotment; `replid`: the replication id of the server. ARGV: calls wanted, the limit or '', an id for a new allotment, an instant
 * of Redis' clock after which nothing may be taken; then, after a top-up, the allotment that was filled, all that was granted to it,
 * and what is charged elsewhere.
 * An allotment of another replication id may lack what was drawn last: it is left for a new one.
 * → the allotment's id, calls taken, all granted, all drawn, what is charged elsewhere; or null where it is too late.
 */
export const drawLua = `
local now = redis.call('time')
if now[1] * 1000 + now[2] / 1000 > tonumber(ARGV[4]) then return nil end
local allotment = redis.call('hmget', KEYS[1], 'replid', 'id', 'granted', 'drawn', 'elsewhere')
if allotment[1] ~= replid then
  redis.call('del', KEYS[1])
  redis.call('hset', KEYS[1], 'replid', replid, 'id', ARGV[3], 'granted', 0, 'drawn', 0, 'elsewhere', 0)
  redis.call('expire', KEYS[1], 35 * 24 * 3600)
  allotment = { replid, ARGV[3], 0, 0, 0 }
end
local granted, drawn, elsewhere = tonumber(allotment[3]), tonumber(allotment[4]), tonumber(allotment[5])
if ARGV[5] == allotment[2] then
  granted = math.max(granted, tonumber(ARGV[6]))
  elsewhere = tonumber(ARGV[7])
  redis.call('hset', KEYS[1], 'granted', granted, 'elsewhere', elsewhere)
end
local free = granted - drawn
if ARGV[2] ~= '' then free = math.min(free, tonumber(ARGV[2]) - elsewhere - drawn) end
local taken = math.max(0, math.min(tonumber(ARGV[1]), free))
if taken > 0 then drawn = redis.call('hincrby', KEYS[1], 'drawn', taken) end
return { allotment[2], taken, granted, drawn, elsewhere }`;

const draw = script(`local replid = ${replicationIdLua}${drawLua}`);

/** KEYS: the allotment. ARGV: its id. Removes it where it is still that one. */
const discard = script(
  `if redis.call('hget', KEYS[1], 'id') == ARGV[1] then redis.call('del', KEYS[1]) end return 1`,
);

/** In the place of what a top-up has brought. */
const noCredit = ['', '', ''];

// A take that was written to a connection just before Redis stalled must not be charged when it goes on, long after.
const takeWithinMs = 1_000;

interface Account {
  id: string;
  /** `YYYY-MM-01`, UTC. */
  month: string;
}

interface Drawn {
  allotment: string;
  taken: number;
  granted: number;
  used: number;
}

export interface AllotmentsOptions {
  redis: RedisLink;
  accounts: Pick<Accounts, 'topUp'>;
  journal: Pick<Journal, 'refund' | 'drawn'>;
  clock: Clock;
}

export function createAllotments({ redis, accounts, journal, clock }: AllotmentsOptions): Allotments {
  function ask(account: Account, calls: number, limit: number | null, filled: readonly string[]) {
    const deadline = Date.now() + redis.clockOffsetMs + takeWithinMs;
    function note(answer: unknown): Drawn | undefined {
      if (answer === null || answer === undefined) return undefined;
      const [allotment, taken, granted, drawn, elsewhere] = answer as DrawAnswer;
      if (taken > 0) journal.drawn(account.id, account.month, allotment, drawn);
      return { allotment, taken, granted, used: drawn + elsewhere };
    }
    return {
      key: allotmentKey(account),
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
  ): Promise<Drawn> {
    const question = ask(account, calls, limit, filled);
    const answer = await redis.run(draw, question.key, question.words, (late) => question.noteLate(late));
    const drawn = question.note(answer);
    if (drawn === undefined) throw new RedisUnavailable('Redis ran a take too late.');
    return drawn;
  }

  return {
    question(id, calls, limit) {
      const now = clock.now();
      const question = ask({ id, month: utcMonth(now) }, calls, limit, noCredit);
      return {
        ...question,
        note(answer) {
          const drawn = question.note(answer);
          const resetsAt = nextUtcMonth(now).toISOString();
          return drawn && { granted: drawn.taken, limit, used: drawn.used, resetsAt };
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
          const { allotment, granted: seen } = got;
          const filled = await accounts.topUp({ ...account, allotment, seen, calls: lacking });
          bound = filled.limit;
          if (filled.closed) {
            await redis.run(discard, allotmentKey(account), [allotment]);
            got = await trySpend(account, lacking, bound, noCredit);
          } else {
            const credit = [allotment, String(filled.granted), String(filled.elsewhere)];
            got = await trySpend(account, lacking, bound, credit);
            // Nothing new was in it, so nothing is left. Else it may be that others were faster: then it is filled again.
            if (filled.granted <= seen && got.allotment === allotment) {
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

type DrawAnswer = [allotment: string, taken: number, granted: number, drawn: number, elsewhere: number];

function allotmentKey({ id, month }: Account): string {
  return `almanac:allotment:{${id}}:${month}`;
}

// Draws calls of a month from an allotment in Redis that all gateways share. accounts-api fills it from the month, which it
// charges first: an allotment that is lost with Redis costs its account nothing for long, and gives it nothing twice.
import { randomUUID } from 'node:crypto';
import { replicationIdLua } from '../../kernel/credentials/cache.ts';
import { type Clock, instantText, nextUtcMonth, utcMonth } from '../../kernel/clock.ts';
import { RedisUnavailable, luaFile, script, type RedisLink } from '../../kernel/redis.ts';
import type { Accounts, Grant } from '../accounts.ts';
import type { Journal } from './journal.ts';

export interface Allotments {
  /** Takes up to so many calls. @param limit of the account's plan. @throws RedisUnavailable; Failure unavailable. */
  take(accountId: string, calls: number, limit: number | null): Promise<Grant>;
  /** The question for up to so many calls that the allotment holds already, for those who ask Redis themselves. */
  question(accountId: string, calls: number, limit: number | null): DrawQuestion;
}

/** A question to be asked once, of draw.lua. Pass the reply to exactly one of `note` and `noteLate`. */
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

export const drawLua = luaFile(new URL('draw.lua', import.meta.url));
const draw = script(replicationIdLua + drawLua);
const discard = script(luaFile(new URL('discard.lua', import.meta.url)));

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
          const resetsAt = instantText(nextUtcMonth(now));
          return drawn && { granted: drawn.taken, limit, used: drawn.used, resetsAt };
        },
      };
    },
    async take(id, calls, limit) {
      const now = clock.now();
      const account = { id, month: utcMonth(now) };
      const resetsAt = instantText(nextUtcMonth(now));
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

// Allotments in Redis, shared by all gateways. If one is lost with Redis, its calls are refunded after a while and never granted
// twice, as they were charged to the month in PostgreSQL.
import { randomUUID } from 'node:crypto';
import { replicationIdLua } from '../../kernel/credentials/cache.ts';
import { type Clock, instantText, nextUtcMonth, utcMonth } from '../../kernel/clock.ts';
import { RedisUnavailable, luaFile, script, type RedisLink } from '../../kernel/redis.ts';
import type { Credit, Drawn, Grant, Holder, AccountMonth } from './allotments.ts';
import type { Journal } from './journal.ts';

export interface RedisAllotments extends Holder {
  /** The request for up to `calls` that the allotment already holds, for use in another script. */
  question(accountId: string, calls: number, limit: number | null): DrawQuestion;
}

/** A single-use request to draw.lua. Pass the reply to exactly one of `note` and `noteLate`. */
export interface DrawQuestion {
  /** KEYS[1] of the script. */
  key: string;
  /** Its ARGV. */
  words: readonly string[];
  /** Processes a reply in time. @returns undefined if Redis ran it too late, and drew nothing. */
  note(answer: unknown): Grant | undefined;
  /** Processes a reply after the deadline: the call was answered otherwise, so the calls drawn for it are refunded. */
  noteLate(answer: unknown): void;
}

export const drawLua = luaFile(new URL('draw.lua', import.meta.url));
const drawScript = script(replicationIdLua + drawLua);
const discardScript = script(luaFile(new URL('discard.lua', import.meta.url)));

// A draw written to a connection just before Redis stalled must not run when Redis resumes much later.
const drawWithinMs = 1_000;
const aheadMax = 1_000;

export interface RedisAllotmentsOptions {
  redis: RedisLink;
  journal: Pick<Journal, 'refund' | 'drawn'>;
  clock: Clock;
}

export function createRedisAllotments({ redis, journal, clock }: RedisAllotmentsOptions): RedisAllotments {
  function ask(month: AccountMonth, calls: number, limit: number | null, credit?: Credit) {
    const deadline = Date.now() + redis.clockOffsetMs + drawWithinMs;
    const toppedUp =
      credit === undefined
        ? ['', '', '']
        : [credit.allotment, String(credit.granted), String(credit.elsewhere)];
    function note(answer: unknown): Drawn | undefined {
      if (answer === null || answer === undefined) return undefined;
      const [allotment, taken, granted, drawn, elsewhere] = answer as DrawAnswer;
      if (taken > 0) journal.drawn(month.accountId, month.month, allotment, drawn, 0);
      return { allotment, taken, granted, used: drawn + elsewhere, ahead: aheadMax };
    }
    return {
      key: allotmentKey(month),
      words: [String(calls), String(limit ?? ''), randomUUID(), deadline.toFixed(0), ...toppedUp],
      note,
      noteLate(answer: unknown): void {
        const taken = note(answer)?.taken ?? 0;
        if (taken > 0) journal.refund(month.accountId, month.month, taken);
      },
    };
  }

  return {
    name: 'redis',
    async draw(month, calls, limit, credit) {
      const question = ask(month, calls, limit, credit);
      const answer = await redis.run(drawScript, question.key, question.words, (late) =>
        question.noteLate(late),
      );
      const drawn = question.note(answer);
      if (drawn === undefined) throw new RedisUnavailable('Redis ran a draw too late.');
      return drawn;
    },
    async discard(month, allotment) {
      await redis.run(discardScript, allotmentKey(month), [allotment]);
    },
    question(accountId, calls, limit) {
      const now = clock.now();
      const question = ask({ accountId, month: utcMonth(now) }, calls, limit);
      return {
        ...question,
        note(answer) {
          const drawn = question.note(answer);
          const resetsAt = instantText(nextUtcMonth(now));
          return drawn && { granted: drawn.taken, limit, used: drawn.used, resetsAt };
        },
      };
    },
  };
}

type DrawAnswer = [allotment: string, taken: number, granted: number, drawn: number, elsewhere: number];

function allotmentKey({ accountId, month }: AccountMonth): string {
  return `almanac:allotment:{${accountId}}:${month}`;
}

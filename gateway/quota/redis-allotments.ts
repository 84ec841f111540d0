// Allotments in Redis, shared by all gateways. If one is lost with Redis, what was not spent of it is refunded after a while and never
// granted twice, as it was charged to the month in PostgreSQL.
import { randomUUID } from 'node:crypto';
import { replicationIdLua } from '../../kernel/credentials/cache.ts';
import { type Clock, nextUtcMonthText, utcMonth } from '../../kernel/clock.ts';
import { RedisUnavailable, luaFile, script, type RedisLink } from '../../kernel/redis.ts';
import type { Credit, Drawn, Grant, Holder, AccountMonth } from './allotments.ts';
import { Hold } from './hold.ts';
import type { Journal } from './journal.ts';
import { allotmentKey, createShares, endedLua } from './redis-shares.ts';

export interface RedisAllotments extends Holder {
  /** The request for calls that the allotment already holds, for use in another script. */
  question(accountId: string, wanted: readonly number[], limit: number | null): DrawQuestion;
  /** Tells Redis now how calls have ended. */
  tell(): void;
  close(): void;
}

/** A single-use request to draw.lua. Pass the reply to exactly one of `note` and `noteLate`. */
export interface DrawQuestion {
  /** KEYS[1] of the script. */
  key: string;
  /** Its ARGV. */
  words: readonly string[];
  /** Processes a reply in time. @returns undefined if Redis ran it too late, and drew nothing. */
  note(answer: unknown): Grant | undefined;
  /** Notes that no reply came in time. */
  noteLost(): void;
  /** Processes a reply after the deadline: the call was answered otherwise, so the calls drawn for it are put back. */
  noteLate(answer: unknown): void;
}

/** Needs `replid`. */
export const drawLua = endedLua + luaFile(new URL('draw.lua', import.meta.url));
const drawScript = script(drawLua, replicationIdLua);
const discardScript = script(luaFile(new URL('discard.lua', import.meta.url)));

// A draw written to a connection just before Redis stalled must not run when Redis resumes much later.
const drawWithinMs = 1_000;
const aheadMax = 1_000;

export interface RedisAllotmentsOptions {
  redis: RedisLink;
  journal: Pick<Journal, 'spent'>;
  clock: Clock;
  /** The clock of the leases; `performance.now()` by default. */
  nowMs?: () => number;
}

export function createRedisAllotments({
  redis,
  journal,
  clock,
  nowMs = () => performance.now(),
}: RedisAllotmentsOptions): RedisAllotments {
  const shares = createShares({ redis, journal, nowMs });

  function ask(month: AccountMonth, wanted: readonly number[], limit: number | null, credit?: Credit) {
    const share = shares.of(month);
    const [askedAtMs, told] = [nowMs(), share.ended];
    const deadline = Math.round(Date.now() + redis.clockOffsetMs + drawWithinMs);
    const runs = runsOf(wanted);
    function note(answer: unknown): Drawn | undefined {
      if (answer === null || answer === undefined) return undefined;
      const [allotment, given, granted, drawn, elsewhere, underWay] = answer as DrawAnswer;
      const drawnBy = shares.drawn(share, askedAtMs, told, allotment);
      const holds: (Hold | null)[] = [];
      let taken = 0;
      for (const [i, { requests, calls }] of runs.entries()) {
        const most = given[i] ?? 0;
        taken += Math.min(most, requests) * calls;
        for (let n = 0; n < requests; n += 1) holds.push(n < most ? new Hold(drawnBy, calls, nowMs) : null);
      }
      if (taken > 0) shares.begin(drawnBy, taken);
      return {
        ...{ allotment, holds, granted, left: granted - drawn, used: drawn + elsewhere },
        ...{ ahead: aheadMax, mayCome: underWay > 0 },
      };
    }
    return {
      key: share.key,
      words: [
        runs.map(({ requests, calls }) => `${requests} ${calls}`).join(' '),
        String(limit ?? ''),
        randomUUID(),
        String(deadline),
        share.token,
        String(told.served),
        String(told.putBack),
        ...(credit === undefined ? [] : [credit.allotment, String(credit.granted), String(credit.elsewhere)]),
      ],
      note,
      noteLost: () => shares.retire(share),
      noteLate(answer: unknown): void {
        for (const hold of note(answer)?.holds ?? []) hold?.end(false);
      },
    };
  }

  return {
    name: 'redis',
    async draw(month, wanted, limit, credit) {
      const question = ask(month, wanted, limit, credit);
      const drawn = question.note(
        await redis
          .run(drawScript, question.key, question.words, question.noteLate)
          .catch((error: unknown) => {
            question.noteLost();
            throw error;
          }),
      );
      if (drawn === undefined) throw new RedisUnavailable('Redis ran a draw too late.');
      return drawn;
    },
    async discard(month, allotment) {
      await redis.run(discardScript, allotmentKey(month), [allotment]);
    },
    question(accountId, wanted, limit) {
      const now = clock.now();
      const { key, words, note, noteLost, noteLate } = ask(
        { accountId, month: utcMonth(now) },
        wanted,
        limit,
      );
      return {
        key,
        words,
        note(answer) {
          const drawn = note(answer);
          if (drawn === undefined) return undefined;
          const { holds, used, mayCome } = drawn;
          return { holds, limit, used, mayCome, resetsAt: nextUtcMonthText(now) };
        },
        noteLost,
        noteLate,
      };
    },
    tell: shares.tell,
    close: shares.close,
  };
}

type DrawAnswer = [
  allotment: string,
  given: number[],
  granted: number,
  drawn: number,
  elsewhere: number,
  underWay: number,
];

/** Equal neighbours together: most requests count as one call. */
function runsOf(wanted: readonly number[]): { requests: number; calls: number }[] {
  const runs: { requests: number; calls: number }[] = [];
  for (const calls of wanted) {
    const last = runs.at(-1);
    if (last?.calls === calls) last.requests += 1;
    else runs.push({ requests: 1, calls });
  }
  return runs;
}

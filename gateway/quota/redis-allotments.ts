// Allotments in Redis, shared by all gateways. If one is lost with Redis, what was not spent of it is refunded after a while and never
// granted twice, as it was charged to the month in PostgreSQL.
import { randomUUID } from 'node:crypto';
import { serverLua } from '../../kernel/credentials/cache.ts';
import { type Clock, nextUtcMonthText, utcMonth } from '../../kernel/clock.ts';
import { RedisUnavailable, luaFile, script, type RedisLink } from '../../kernel/redis.ts';
import { expectedIn, type AccountMonth, type Credit, type Drawn, type Holder } from './allotments.ts';
import { Hold } from './hold.ts';
import type { Journal } from './journal.ts';
import { allotmentKey, createShares, endsLua, type Ended, type Share, type Shares } from './redis-shares.ts';

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
  readonly key: string;
  /** Its ARGV. */
  readonly words: readonly string[];
  /** When the month ends: an ISO instant. */
  readonly resetsAt: string;
  /** Processes a reply in time. @returns undefined if Redis ran it too late, and drew nothing. */
  note(answer: unknown): Drawn | undefined;
  /** Notes that no reply came in time. */
  noteLost(): void;
  /** Processes a reply after the deadline: the call was answered otherwise, so the calls drawn for it are put back. */
  noteLate(answer: unknown): void;
}

/** Needs server.lua. */
export const drawLua = endsLua + luaFile(new URL('draw.lua', import.meta.url));
const drawScript = script(drawLua, serverLua);
const discardScript = script(luaFile(new URL('discard.lua', import.meta.url)));

// A draw written to a connection just before Redis stalled must not run when Redis resumes much later.
const drawWithinMs = 1_000;
/**
 * A top-up requests so many calls, or those expected in this time at the current rate: calls wait for each top-up. Others can draw what
 * is not drawn here, and accounts-api grants at most a fiftieth of what is left of the month.
 */
const aheadLeast = 1_000;
const aheadMs = 1_000;

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

  function ask(
    month: AccountMonth,
    wanted: readonly number[],
    { limit, credit, now }: { limit: number | null; credit?: Credit | undefined; now: Date },
  ): Question {
    const share = shares.of(month);
    const runs = runsOf(wanted);
    const { ended } = share;
    const words = [
      wantedText(runs),
      String(limit ?? ''),
      randomUUID(),
      String(Math.round(Date.now() + redis.clockOffsetMs + drawWithinMs)),
      share.token,
      String(ended.served),
      String(ended.putBack),
    ];
    if (credit !== undefined) {
      Object.assign(share, { toppedUpAtMs: nowMs(), drawnSince: 0 });
      words.push(credit.allotment, String(credit.granted), String(credit.elsewhere));
    }
    return new Question(shares, { share, runs, words, told: ended, now, nowMs });
  }

  return {
    name: 'redis',
    async draw(month, wanted, limit, credit) {
      const question = ask(month, wanted, { limit, credit, now: clock.now() });
      const drawn = question.note(
        await redis
          .run(drawScript, question.key, question.words, (late) => question.noteLate(late))
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
      return ask({ accountId, month: utcMonth(now) }, wanted, { limit, now });
    },
    tell: shares.tell,
    close: shares.close,
  };
}

interface Asked {
  share: Share;
  runs: readonly Wanted[];
  words: readonly string[];
  /** The ends of calls that the words tell. */
  told: Ended;
  now: Date;
  nowMs: () => number;
}

/** A class, as there is one for each key of a turn: the functions are shared. */
class Question implements DrawQuestion {
  readonly words: readonly string[];
  readonly resetsAt: string;
  readonly #shares: Shares;
  readonly #asked: Asked;
  readonly #askedAtMs: number;

  constructor(shares: Shares, asked: Asked) {
    this.#shares = shares;
    this.#asked = asked;
    this.#askedAtMs = asked.nowMs();
    this.words = asked.words;
    this.resetsAt = nextUtcMonthText(asked.now);
  }

  get key(): string {
    return this.#asked.share.key;
  }

  note(answer: unknown): Drawn | undefined {
    if (answer === null || answer === undefined) return undefined;
    const { share, runs, told, nowMs } = this.#asked;
    const [allotment, given, granted, drawn, elsewhere, underWay] = answer as DrawAnswer;
    const drawnBy = this.#shares.drawn(share, this.#askedAtMs, told, allotment);
    const holds: (Hold | null)[] = [];
    let taken = 0;
    for (let i = 0; i < runs.length; i += 1) {
      const { requests, calls } = runs[i] as Wanted;
      const most = given[i] ?? 0;
      taken += Math.min(most, requests) * calls;
      for (let n = 0; n < requests; n += 1) holds.push(n < most ? new Hold(drawnBy, calls, nowMs) : null);
    }
    if (taken > 0) this.#shares.begin(drawnBy, taken);
    return {
      allotment,
      holds,
      granted,
      left: granted - drawn,
      low: 0,
      used: drawn + elsewhere,
      ahead: Math.max(aheadLeast, expectedIn(aheadMs, drawnBy, nowMs())),
      mayCome: underWay > 0,
    };
  }

  noteLost(): void {
    this.#shares.retire(this.#asked.share);
  }

  noteLate(answer: unknown): void {
    for (const hold of this.note(answer)?.holds ?? []) hold?.end(false);
  }
}

type DrawAnswer = [
  allotment: string,
  given: number[],
  granted: number,
  drawn: number,
  elsewhere: number,
  underWay: number,
];

/** So many requests for so many calls each. */
interface Wanted {
  requests: number;
  calls: number;
}

/** Equal neighbours together: most requests count as one call. */
function runsOf(wanted: readonly number[]): Wanted[] {
  const runs: Wanted[] = [];
  let last: Wanted | undefined;
  for (const calls of wanted) {
    if (last?.calls === calls) last.requests += 1;
    else runs.push((last = { requests: 1, calls }));
  }
  return runs;
}

function wantedText(runs: readonly Wanted[]): string {
  let text = '';
  for (const { requests, calls } of runs)
    text += text === '' ? `${requests} ${calls}` : ` ${requests} ${calls}`;
  return text;
}

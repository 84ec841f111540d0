// Admits calls with one request to Redis instead of three each: it looks up their keys and, for the accounts that the keys last
// belonged to, the rate limit and the month. Redis processes each key atomically: nothing is counted unless the key still has that
// account and plan, and nothing is taken from the month unless all calls are within the rate limit.
import { LRUCache } from 'lru-cache';
import { readCachedCredential, readCachedCredentialLua, serverLua } from '../../kernel/credentials/cache.ts';
import { planOf, type Plans } from '../../kernel/plans.ts';
import {
  RedisUnavailable,
  luaFile,
  luaFunction,
  script,
  type RedisLink,
  type ScriptRun,
} from '../../kernel/redis.ts';
import type { Credential } from '../accounts.ts';
import { batched } from '../batched.ts';
import type { RedisCache } from '../credentials/redis-cache.ts';
import { accountCounter, countLua, share, type Taken } from './limits.ts';
import type { Month, Take } from './month.ts';
import { drawLua, type DrawQuestion, type RedisAllotments } from './redis-allotments.ts';

/** The answer to the combined request about a call. */
export interface Admission {
  /** The owner of the key. */
  credential: Credential;
  /** The call was counted against the rate limit; undefined: it was not. */
  second?: Taken | undefined;
  /** Calls were taken from the month; undefined: they were not. */
  month?: Take | undefined;
}

export interface Admissions {
  /** Null if the key is invalid. @param calls how many calls of the month this call counts as. @throws Failure unavailable. */
  ask(keyHash: string, calls: number): Promise<Admission | null>;
}

export interface AdmissionsOptions {
  redis: RedisLink;
  credentials: Pick<RedisCache, 'placeOf' | 'read' | 'lookUp'>;
  allotments: Pick<RedisAllotments, 'question'>;
  month: Pick<Month, 'share'>;
  plans: Plans;
}

const admit = script(
  luaFile(new URL('admit.lua', import.meta.url)),
  [
    serverLua,
    luaFunction('cached', readCachedCredentialLua),
    luaFunction('count', countLua),
    luaFunction('draw', drawLua),
  ].join('\n'),
);

/** The entry is empty if it is the expected one: the gateway has it. */
type Admitted = [entry: string | null, counted?: [calls: number, resetMs: number], drawn?: unknown];

/** The calls of a batch with one key. */
interface KeyCalls {
  readonly keyHash: string;
  /** How many calls of the month each counts as. */
  readonly calls: number[];
  /** Their places in the batch. */
  readonly at: number[];
}

/** Asked about calls with a key whose owner is foreseen. */
interface Question extends KeyCalls, ScriptRun {
  readonly credential: Credential;
  readonly perSecond: number;
  readonly perMonth: number | null;
  readonly allotment: DrawQuestion;
}

/** What Redis says of a key: its owner, or null if it is invalid. Undefined: Redis does not know it, or did not answer. */
type Owner = Credential | null | undefined;
type Answer = Admission | null | Promise<Admission | null>;

const callsMax = 500;
/** Redis takes 14 µs a key. While it answers for so many, the gateway works on the answers for those before. */
const keysOfQuestionMax = 16;
const keysMax = 10_000;

export function createAdmissions(options: AdmissionsOptions): Admissions {
  const { redis, credentials, allotments, month, plans } = options;
  const lastFound = new LRUCache<string, string>({ max: keysMax }); // hash of the key → its last entry

  function remember(keyHash: string, found: unknown): Owner {
    const owner = credentials.read(found);
    if (typeof found === 'string') lastFound.set(keyHash, found);
    else lastFound.delete(keyHash);
    return owner;
  }

  /** @returns undefined unless the last entry of the key is known, and a call with it would be counted. */
  function questionOf(asked: KeyCalls): Question | undefined {
    const { keyHash, calls, at } = asked;
    const entry = redis.isCluster ? undefined : lastFound.get(keyHash);
    if (entry === undefined) return undefined;
    const credential = credentials.read(entry);
    const key = credentials.placeOf(keyHash);
    if (key === undefined || credential?.active !== true) return undefined;
    const { calls_second: perSecond, calls_month: perMonth } = planOf(plans, credential.plan);
    const allotment = allotments.question(credential.accountId, calls, perMonth);
    const counter = accountCounter(credential.accountId);
    const args = [
      ...allotment.words,
      '',
      entry,
      counter,
      String(calls.length),
      String(perSecond),
      allotment.key,
    ];
    const onLate = (late: unknown) => allotment.noteLate((late as Admitted)[2]);
    return { keyHash, calls, at, key, args, onLate, credential, perSecond, perMonth, allotment };
  }

  async function readOwner({ keyHash }: KeyCalls): Promise<Owner> {
    const place = credentials.placeOf(keyHash);
    if (place === undefined) return undefined;
    try {
      return remember(keyHash, await redis.run(readCachedCredential, place, []));
    } catch (error) {
      if (error instanceof RedisUnavailable) return undefined;
      throw error;
    }
  }

  /** @returns an answer for each of the calls. */
  function answersTo(question: Question, reply: unknown): readonly Answer[] {
    const { keyHash, calls, credential, perSecond, perMonth, allotment } = question;
    if (reply instanceof Error) {
      allotment.noteLost();
      return calls.map(() => lookUp(keyHash));
    }
    const [found, counted, drawn] = reply as Admitted;
    if (counted === undefined) return answersOf(question, remember(keyHash, found));
    const seconds = share(calls.length, { counted: counted[0], resetMs: counted[1] }, perSecond);
    const given = allotment.note(drawn);
    const takes =
      given &&
      month.share(credential.accountId, calls, {
        ...{ holds: given.holds, limit: perMonth, used: given.used },
        ...{ resetsAt: allotment.resetsAt, mayCome: given.mayCome },
      });
    return seconds.map((second, i): Admission => {
      const take = takes?.[i];
      return { credential, second, month: take?.granted === true ? take : undefined };
    });
  }

  /** The same if the owner is all that Redis says. */
  function answersOf({ keyHash, calls }: KeyCalls, owner: Owner): readonly Answer[] {
    // Later calls do not wait for accounts-api.
    if (owner === undefined) return calls.map(() => lookUp(keyHash));
    return calls.map(() => owner && { credential: owner });
  }

  async function lookUp(keyHash: string): Promise<Admission | null> {
    const credential = await credentials.lookUp(keyHash);
    return credential && { credential };
  }

  // Calls share a request, whatever their keys; it begins after all of them have arrived, so none gets an earlier state.
  const ask = batched(questionSize, async (items: readonly Asked[]): Promise<readonly Answer[]> => {
    const questions: Question[] = [];
    const others: KeyCalls[] = [];
    for (const asked of byKey(items)) {
      const question = questionOf(asked);
      if (question === undefined) others.push(asked);
      else questions.push(question);
    }
    const [replies, owners] = await Promise.all([
      redis.runMany(admit, questions),
      Promise.allSettled(others.map(readOwner)),
    ]);
    const answers: Answer[] = items.map(() => null);
    questions.forEach((question, i) => put(answers, question, () => answersTo(question, replies[i])));
    others.forEach((asked, i) => {
      const owner = owners[i] as PromiseSettledResult<Owner>;
      put(answers, asked, () => {
        if (owner.status === 'rejected') throw owner.reason;
        return answersOf(asked, owner.value);
      });
    });
    return answers;
  });

  return { ask: (keyHash, calls) => ask({ keyHash, calls }) };
}

interface Asked {
  keyHash: string;
  calls: number;
}

/** How many of the calls make up one question. */
function questionSize(waiting: Iterable<Asked>): number {
  const keys = new Set<string>();
  let size = 0;
  for (const { keyHash } of waiting) {
    if (size === callsMax || (keys.size === keysOfQuestionMax && !keys.has(keyHash))) break;
    keys.add(keyHash);
    size += 1;
  }
  return size;
}

function byKey(items: readonly Asked[]): Iterable<KeyCalls> {
  const found = new Map<string, KeyCalls>();
  for (let i = 0; i < items.length; i += 1) {
    const { keyHash, calls } = items[i] as Asked;
    const same = found.get(keyHash);
    if (same === undefined) found.set(keyHash, { keyHash, calls: [calls], at: [i] });
    else {
      same.calls.push(calls);
      same.at.push(i);
    }
  }
  return found.values();
}

/** Puts the answers to the calls with a key where they belong. What is wrong with one key fails its calls alone. */
function put(answers: Answer[], { at }: KeyCalls, make: () => readonly Answer[]): void {
  try {
    const own = make();
    at.forEach((place, i) => (answers[place] = own[i] as Answer));
  } catch (error) {
    for (const place of at) answers[place] = Promise.reject(error);
  }
}

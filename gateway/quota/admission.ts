// Admits a call with one request to Redis instead of three: it looks up the key and, for the account that the key last belonged
// to, the rate limit and the month. Redis processes them atomically: nothing is counted unless the key still has that account
// and plan, and nothing is taken from the month unless all calls are within the rate limit.
import { LRUCache } from 'lru-cache';
import {
  readCachedCredential,
  readCachedCredentialLua,
  replicationIdLua,
} from '../../kernel/credentials/cache.ts';
import { planOf, type Plans } from '../../kernel/plans.ts';
import { RedisUnavailable, luaFile, luaFunction, script, type RedisLink } from '../../kernel/redis.ts';
import type { Credential } from '../accounts.ts';
import { batchedBy } from '../batched.ts';
import type { RedisCache } from '../credentials/redis-cache.ts';
import { accountCounter, countLua, share, type Taken } from './limits.ts';
import type { Month, Take } from './month.ts';
import { drawLua, type RedisAllotments } from './redis-allotments.ts';

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
    replicationIdLua,
    luaFunction('cached', readCachedCredentialLua),
    luaFunction('count', countLua),
    luaFunction('draw', drawLua),
  ].join('\n'),
);

/** The entry is empty if it is the expected one: the gateway has it. */
type Admitted = [entry: string | null, counted?: [calls: number, resetMs: number], drawn?: unknown];

const batchMax = 500;
const keysMax = 10_000;

export function createAdmissions(options: AdmissionsOptions): Admissions {
  const { redis, credentials, allotments, month, plans } = options;
  const lastFound = new LRUCache<string, string>({ max: keysMax }); // hash of the key → its last entry

  /** The last entry of the key, if a call with it would be counted. */
  function foreseen(keyHash: string): { entry: string; credential: Credential } | undefined {
    const entry = redis.isCluster ? undefined : lastFound.get(keyHash);
    const credential = credentials.read(entry);
    return entry !== undefined && credential?.active === true ? { entry, credential } : undefined;
  }

  function remember(keyHash: string, found: unknown): Credential | null | undefined {
    if (typeof found !== 'string') lastFound.delete(keyHash);
    else lastFound.set(keyHash, found);
    return credentials.read(found);
  }

  /** @returns the owner of the key if that is all that Redis says; undefined if it does not know it. */
  async function askAll(
    keyHash: string,
    calls: readonly number[],
  ): Promise<readonly Admission[] | { owner: Credential | null | undefined }> {
    const place = credentials.placeOf(keyHash);
    if (place === undefined) return { owner: undefined };
    const known = foreseen(keyHash);
    if (known === undefined)
      return { owner: remember(keyHash, await redis.run(readCachedCredential, place, [])) };

    const { accountId } = known.credential;
    const { calls_second: perSecond, calls_month: perMonth } = planOf(plans, known.credential.plan);
    const allotment = allotments.question(accountId, calls, perMonth);
    const counter = accountCounter(accountId);
    const [count, most] = [String(calls.length), String(perSecond)];
    const words = [known.entry, counter, count, most, allotment.key, ...allotment.words];
    const noteLate = (late: unknown) => allotment.noteLate((late as Admitted)[2]);
    let answer: unknown;
    try {
      answer = await redis.run(admit, place, words, noteLate);
    } catch (error) {
      allotment.noteLost();
      throw error;
    }
    const [found, counted, drawn] = answer as Admitted;
    if (counted === undefined) return { owner: remember(keyHash, found) };

    const [countedNow, resetMs] = counted;
    const seconds = share(calls.length, { counted: countedNow, resetMs }, perSecond);
    const grant = allotment.note(drawn);
    const takes = grant && month.share(accountId, calls, grant);
    return seconds.map((taken, i): Admission => {
      const take = takes?.[i];
      return {
        credential: known.credential,
        second: taken,
        month: take?.granted === true ? take : undefined,
      };
    });
  }

  const ask = batchedBy(
    batchMax,
    ({ keyHash }: { keyHash: string; calls: number }) => keyHash,
    async (items): Promise<readonly (Admission | null | Promise<Admission | null>)[]> => {
      const keyHash = items[0]?.keyHash ?? '';
      const found = await askAll(
        keyHash,
        items.map(({ calls }) => calls),
      ).catch((error: unknown) => {
        if (error instanceof RedisUnavailable) return { owner: undefined };
        throw error;
      });
      if (!('owner' in found)) return found;
      const { owner } = found;
      // Later calls do not wait for accounts-api.
      if (owner === undefined) return items.map(() => lookUp(keyHash));
      return items.map(() => owner && { credential: owner });
    },
  );

  async function lookUp(keyHash: string): Promise<Admission | null> {
    const credential = await credentials.lookUp(keyHash);
    return credential && { credential };
  }

  // Calls with one key share a request; it begins after all of them have arrived, so none gets an earlier state.
  return { ask: (keyHash, calls) => ask({ keyHash, calls }) };
}

// Reads credentials from their copies in Redis. A copy is believed only while accounts-api has said within the last second
// that copies of this generation may be; else, and where there is none, PostgreSQL is to be asked.
import type { Clock } from '../kernel/clock.ts';
import { copiesLeaseMs, copyKey, readCopy, refused, type CredentialCopy } from '../kernel/credential-copy.ts';
import type { Log } from '../kernel/log.ts';
import { RedisUnavailable, type RedisLink } from '../kernel/redis.ts';
import type { Credential } from './accounts.ts';
import { batchedBy } from './batched.ts';

export interface Copies {
  /** What the copy of a key says: whose it is, or null where it does not work. Undefined: there is no copy to be believed. */
  find(keyHash: string): Promise<Credential | null | undefined>;
  /** Where it stands, for those who ask Redis themselves; undefined while none is to be believed. */
  placeOf(keyHash: string): string | undefined;
  /** What Redis gave for it says. */
  read(found: unknown): Credential | null | undefined;
  close(): void;
}

export interface CopiesOptions {
  redis: RedisLink;
  /** Asks accounts-api for leave to believe copies for a second; gives their generation. */
  lease(): Promise<number>;
  clock: Clock;
  log: Log;
}

const renewEveryMs = 300;
const parsedMax = 10_000;
const batchMax = 500;

interface Copied {
  credential: Credential;
  /** In ms since 1970. */
  expiresAt: number;
}

export function createCopies({ redis, lease, clock, log }: CopiesOptions): Copies {
  let generation = 0;
  let believedUntilMs = 0;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  const parsed = new Map<string, Copied>();

  async function renew(): Promise<void> {
    const askedAtMs = performance.now(); // accounts-api counts from later on, so it never believes a leave over too soon
    try {
      generation = await lease();
      believedUntilMs = askedAtMs + copiesLeaseMs;
    } catch (error) {
      log.debug({ err: error }, 'Copies of credentials are not believed for now');
    }
    if (!closed) timer = setTimeout(() => void renew(), renewEveryMs);
  }
  void renew();

  /** The same JSON again and again is parsed once. */
  function parse(json: string): Copied {
    const known = parsed.get(json);
    if (known !== undefined) return known;
    const {
      account_id: accountId,
      key_id: keyId,
      plan,
      active,
      expires_at,
    } = JSON.parse(json) as CredentialCopy;
    const copied = {
      credential: { accountId, keyId, sessionId: null, plan, active },
      expiresAt: expires_at ?? Infinity,
    };
    if (parsed.size >= parsedMax) parsed.clear();
    parsed.set(json, copied);
    return copied;
  }

  function placeOf(keyHash: string): string | undefined {
    return performance.now() < believedUntilMs ? copyKey(generation, keyHash) : undefined;
  }

  function read(found: unknown): Credential | null | undefined {
    if (typeof found !== 'string') return undefined;
    if (found === refused) return null;
    const { credential, expiresAt } = parse(found);
    return expiresAt <= clock.now().getTime() ? null : credential;
  }

  async function find(keyHash: string): Promise<Credential | null | undefined> {
    const place = placeOf(keyHash);
    if (place === undefined) return undefined;
    try {
      return read(await redis.run(readCopy, place, []));
    } catch (error) {
      if (error instanceof RedisUnavailable) return undefined;
      throw error;
    }
  }

  return {
    // Calls with one key share a question; it begins after each of them has come in, so none is answered from before that.
    find: batchedBy(
      batchMax,
      (keyHash: string) => keyHash,
      async (same) => {
        const found = await find(same[0] as string);
        return same.map(() => found);
      },
    ),
    placeOf,
    read,
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

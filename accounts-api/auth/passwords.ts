// Hashes and checks passwords with argon2id, at limited concurrency. An account without a password, or no account at all, costs a dummy hash, so that
// it takes as long as a wrong password.
import { availableParallelism } from 'node:os';
import { randomBytes } from 'node:crypto';
import { hash, parseOptions, verify } from '@node-rs/argon2';
import { fail } from '../../kernel/errors.ts';

export interface Passwords {
  /** Returns the PHC string to store. @throws Failure `unavailable` if too many are waiting. */
  hash(password: string): Promise<string>;
  /**
   * Compares the exact password, without trimming, normalizing or truncating it. With a null hash, it takes as long and returns false.
   * @throws Failure `unavailable` if too many are waiting.
   */
  matches(storedHash: string | null, password: string): Promise<boolean>;
  /** Whether a stored hash has other parameters than the current ones, so that the next sign-in should renew it. */
  isOutdated(storedHash: string): boolean;
}

/** Parameters of argon2id. */
export interface HashCost {
  /** KiB of memory per hash. */
  memoryCost: number;
  /** Passes over the memory. */
  timeCost: number;
  parallelism: number;
}

// OWASP's first choice: 46 MiB, one pass, one lane. Takes 28 to 66 ms on two cores (measured 2026-11-20).
export const defaultCost: HashCost = { memoryCost: 47_104, timeCost: 1, parallelism: 1 };
// Each running hash uses its memory, which is limited to cores · 46 MiB; waiting ones use almost none.
const waitingMax = 64;

export function createPasswords(cost = defaultCost, atOnce = availableParallelism()): Passwords {
  const slots = createSlots(atOnce);
  const dummy = dummyHash(cost);
  return {
    hash: (password) => slots(() => hash(password, cost)),
    async matches(storedHash, password) {
      const matched = await slots(() => verify(storedHash ?? dummy, password));
      return matched && storedHash !== null;
    },
    isOutdated(storedHash) {
      const { memoryCost, timeCost, parallelism } = parseOptions(storedHash);
      return memoryCost !== cost.memoryCost || timeCost !== cost.timeCost || parallelism !== cost.parallelism;
    },
  };
}

/** Runs work in order of arrival, at most `atOnce` at a time; refuses work if the queue is full. */
function createSlots(atOnce: number) {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async function inSlot<T>(work: () => Promise<T>): Promise<T> {
    if (running < atOnce) running += 1;
    else if (waiting.length < waitingMax) await new Promise<void>((enter) => waiting.push(enter));
    else {
      fail('unavailable', 'Too many sign-ins at once. Try again in a moment.', {
        headers: { 'retry-after': '2' },
      });
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next(); // passes its slot on, so `running` is unchanged
    }
  };
}

/** A hash with the current parameters that no password matches: its tag is random. */
function dummyHash({ memoryCost, timeCost, parallelism }: HashCost): string {
  const part = (bytes: number) => randomBytes(bytes).toString('base64').replaceAll('=', '');
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${part(16)}$${part(32)}`;
}

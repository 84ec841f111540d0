// Limits sign-in attempts, e-mails to an e-mail address, and uses of links. Attempts are counted before any password is hashed: in Redis for all
// instances, or in this process, which also counts while Redis is unavailable.
// Nobody can lock an owner out: delays expire, and attempts with a known device, with a session or with a mailed link are counted separately from
// those of strangers.
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Clock } from '../../kernel/clock.ts';
import { sha256 } from '../../kernel/credentials/sha256.ts';
import { limitKey } from '../../kernel/ip.ts';
import { fail } from '../../kernel/errors.ts';
import { RedisUnavailable, type RedisLink } from '../../kernel/redis.ts';

export interface Throttle {
  /**
   * Counts an attempt at a password, then has it compared. Five attempts per quarter of an hour are free; each further one waits twice as long as the
   * previous one, up to a quarter of an hour. One client IP may fail 30 times in that time. A correct password resets the count. An attempt whose
   * comparison throws is not counted (503: too many at once).
   * @param compare returns whether the password is correct.
   * @returns the result of `compare`. @throws Failure `rate_limited` before it, and whatever it throws.
   */
  signIn(attempt: SignInAttempt, compare: () => Promise<boolean>): Promise<boolean>;
  /** Resets the failed attempts at an account, after its owner was verified in another way. */
  forgive(email: string): Promise<void>;
  /**
   * Counts a request that e-mails an e-mail address. Each kind of e-mail has its own count.
   * @throws Failure `rate_limited`.
   */
  mail(kind: MailKind, who: { email: string; ip: string }): Promise<void>;
  /** The same for a sign-up, which can continue without an e-mail. @returns whether an e-mail is sent. */
  signUpMail(who: { email: string; ip: string }): Promise<boolean>;
  /** Counts an attempt at a mailed link or a callback from Google. @throws Failure `rate_limited`. */
  token(ip: string): Promise<void>;
  /** A token for a device that has just signed in. It is valid for 90 days, or until the account's password or e-mail address changes. */
  deviceToken(of: DeviceHolder): string;
  /** Whether a token belongs to a device that has signed in to the account. */
  knows(deviceToken: string | undefined, of: DeviceHolder): boolean;
}

/** The account that a device or a session has signed in to. */
export interface DeviceHolder {
  id: string;
  credentialVersion: number;
}

/**
 * Who tries a password or a code: with an e-mail address, with a valid session of an account, or with a valid link mailed to a mailbox. Attempts with
 * an account's known devices are counted together, as are those with its sessions and those with links to the mailbox. Each group is counted
 * separately from everyone else, whatever their IP addresses.
 * Codes of a second factor are counted separately from passwords, as a correct password resets its count. `codeOf`: the account; `ip` is null for
 * a caller with a session or a known device. These are counted separately, so that strangers who know the password do not delay them.
 * `passkey`: the id of the credential, as received.
 * `device`: the token of an earlier sign-in, as received, and the account that it must belong to.
 */
export type SignInAttempt =
  | { email: string; ip: string; device?: { token: string; of: DeviceHolder } | undefined }
  | { sessionOf: DeviceHolder }
  | { codeOf: DeviceHolder; ip: string | null }
  | { passkey: string; ip: string }
  | { linkTo: string };

/** The kind of a requested mail; a purchase without an account counts as one. */
export type MailKind = 'sign_up' | 'verify_email' | 'change_email' | 'reset_password' | 'checkout';

const quarterHour = 15 * 60;
const hour = 60 * 60;
const freeTries = 5;
/** How long a device is known. */
const deviceSeconds = 90 * 24 * hour;

/** The limits per client IP, recipient or account; `seconds` is the window. */
export const limits = {
  /** Wrong passwords per client IP. */
  failures: { points: 30, seconds: quarterHour },
  mailsOfIp: { points: 10, seconds: hour },
  /** For each kind of e-mail. */
  mailsToRecipient: { points: 3, seconds: hour },
  /** Attempts per client IP at mailed links and callbacks from Google. */
  tokens: { points: 20, seconds: 10 * 60 },
} as const;

/** The wait after the n-th attempt, in seconds: 1 after the sixth, doubling up to a quarter of an hour. */
export function waitSeconds(tries: number): number {
  return tries <= freeTries ? 0 : Math.min(quarterHour, 2 ** (tries - freeTries - 1));
}

/** @param redis undefined: attempts are counted in this process. @param secret signs the device tokens. */
export function createThrottle({
  redis,
  secret,
  clock,
  wait: waitAfter = waitSeconds,
}: {
  redis: RedisLink | undefined;
  secret: string;
  clock: Clock;
  /** The wait in seconds after a number of attempts; tests set longer ones. */
  wait?: typeof waitSeconds;
}): Throttle {
  const limiter = (name: string, { points, seconds }: { points: number; seconds: number }) =>
    createLimiter(redis, name, points, seconds);
  const failuresOfIp = limiter('failures', limits.failures);
  const tries = limiter('tries', { points: 1_000_000, seconds: quarterHour });
  const gate = limiter('gate', { points: 1, seconds: 1 });
  const mailsOfIp = limiter('mail-ip', limits.mailsOfIp);
  const mailsToRecipient = limiter('mail-to', limits.mailsToRecipient);
  const tokensOfIp = limiter('token', limits.tokens);
  const devices = createDeviceTokens(secret, clock);
  const account = (email: string) => `account:${hashed(email)}`;

  /**
   * Others who use up the attempts of an account, or of a shared IP address, do not affect a caller who has proved something before. Each sign-in
   * makes a token and a session, and each request a link, so one person may have many: they are counted together.
   */
  function countedBy(attempt: SignInAttempt): { who: string; network: string | null } {
    const ownCounter = (kind: string, { id, credentialVersion }: DeviceHolder) => ({
      who: `${kind}:${id}:${credentialVersion}`,
      network: null,
    });
    if ('sessionOf' in attempt) return ownCounter('sessions', attempt.sessionOf);
    if ('codeOf' in attempt) {
      const { codeOf, ip } = attempt;
      const kind = ip === null ? 'known-codes' : 'codes';
      return { ...ownCounter(kind, codeOf), network: ip === null ? null : limitKey(ip) };
    }
    if ('passkey' in attempt)
      return { who: `passkey:${sha256(attempt.passkey)}`, network: limitKey(attempt.ip) };
    if ('linkTo' in attempt) return { who: `links:${hashed(attempt.linkTo)}`, network: null };
    const { email, ip, device } = attempt;
    if (device !== undefined && devices.isValid(device.token, device.of))
      return ownCounter('devices', device.of);
    return { who: account(email), network: limitKey(ip) };
  }

  return {
    async signIn(attempt, compare) {
      const { who, network } = countedBy(attempt);
      if (network !== null) await failuresOfIp.consume(network);
      const count = await tries.consume(who);
      const wait = waitAfter(count);
      if (wait > 0) {
        try {
          await gate.consume(who, wait);
        } catch (error) {
          await tries.refund(who); // a refused attempt is not counted, so repeated attempts do not extend the wait
          throw error;
        }
      }
      try {
        const isRight = await compare();
        if (isRight) await tries.forget(who);
        if (isRight && network !== null) await failuresOfIp.refund(network);
        if (isRight) await gate.forget(who);
        return isRight;
      } catch (error) {
        await tries.refund(who);
        if (network !== null) await failuresOfIp.refund(network);
        if (wait > 0) await gate.forget(who);
        throw error;
      }
    },
    async forgive(email) {
      await tries.forget(account(email));
      await gate.forget(account(email));
    },
    async mail(kind, { email, ip }) {
      await mailsOfIp.consume(limitKey(ip));
      await mailsToRecipient.consume(`${kind}:${hashed(email)}`);
    },
    async signUpMail({ email, ip }) {
      await mailsOfIp.consume(limitKey(ip));
      return mailsToRecipient.tryConsume(`sign_up:${hashed(email)}`);
    },
    async token(ip) {
      await tokensOfIp.consume(limitKey(ip));
    },
    deviceToken: (of) => devices.mint(of),
    knows: (token, of) => token !== undefined && devices.isValid(token, of),
  };
}

/**
 * Device tokens are signed, so that nothing is stored. They are bound to the account and its credential version, so that a token ends with the
 * password that it was issued for. The first part is the expiry in seconds, in six bytes, and ten random bytes.
 */
function createDeviceTokens(secret: string, clock: Clock) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'almanac devices that have signed in', 32));
  const sign = (head: string, { id, credentialVersion }: DeviceHolder) =>
    createHmac('sha256', key).update(`${head} ${id} ${credentialVersion}`).digest('base64url');
  const now = () => Math.floor(clock.now().getTime() / 1000);
  return {
    mint(of: DeviceHolder): string {
      const bytes = Buffer.concat([Buffer.alloc(6), randomBytes(10)]);
      bytes.writeUIntBE(now() + deviceSeconds, 0, 6);
      const head = bytes.toString('base64url');
      return `dev_${head}.${sign(head, of)}`;
    },
    isValid(token: string, of: DeviceHolder): boolean {
      const match = /^dev_([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/.exec(token);
      if (match?.[1] === undefined || match[2] === undefined) return false;
      if (!timingSafeEqual(Buffer.from(match[2]), Buffer.from(sign(match[1], of)))) return false;
      return Buffer.from(match[1], 'base64url').readUIntBE(0, 6) > now();
    },
  };
}

interface Limiter {
  /** Consumes one point of a key. @returns the number consumed. @throws Failure `rate_limited`. */
  consume(key: string, durationSeconds?: number): Promise<number>;
  /** Consumes one point of a key, if one remains. @returns whether it did. */
  tryConsume(key: string): Promise<boolean>;
  refund(key: string): Promise<void>;
  forget(key: string): Promise<void>;
}

function createLimiter(
  redis: RedisLink | undefined,
  name: string,
  points: number,
  duration: number,
): Limiter {
  const settings = { points, duration, keyPrefix: `almanac:throttle:${name}` };
  const memory = new RateLimiterMemory(settings);
  const redisStore =
    redis && new RateLimiterRedis({ ...settings, storeClient: redis.client, useRedisPackage: true });

  /** Uses Redis if it answers, otherwise this process. */
  async function ask<T>(question: (store: RateLimiterMemory | RateLimiterRedis) => Promise<T>): Promise<T> {
    if (redis === undefined || redisStore === undefined) return question(memory);
    try {
      return await redis.ask(() => question(redisStore));
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
      return question(memory);
    }
  }
  return {
    async consume(key, durationSeconds) {
      const custom = durationSeconds === undefined ? {} : { customDuration: durationSeconds };
      const { consumed, waitMs } = await ask((store) => consume(store, key, custom));
      if (waitMs === null) return consumed;
      const seconds = Math.max(1, Math.ceil(waitMs / 1000));
      return fail('rate_limited', `Too many attempts. Try again in ${seconds} s.`, {
        headers: { 'retry-after': String(seconds) },
      });
    },
    async tryConsume(key) {
      const { waitMs } = await ask((store) => consume(store, key, {}));
      return waitMs === null;
    },
    async refund(key) {
      await ask((store) => store.reward(key, 1));
    },
    async forget(key) {
      await ask((store) => store.delete(key));
    },
  };
}

/** The library rejects both for a limit and for an error; only the former is a result. */
async function consume(
  store: RateLimiterMemory | RateLimiterRedis,
  key: string,
  options: { customDuration?: number },
): Promise<{ consumed: number; waitMs: number | null }> {
  try {
    return { consumed: (await store.consume(key, 1, options)).consumedPoints, waitMs: null };
  } catch (rejection) {
    if (!(rejection instanceof RateLimiterRes)) throw rejection;
    return { consumed: rejection.consumedPoints, waitMs: rejection.msBeforeNext };
  }
}

function hashed(email: string): string {
  return sha256(email.toLowerCase());
}

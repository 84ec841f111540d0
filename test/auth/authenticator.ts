// An authenticator app for tests, implemented by RFC 6238 without the service's library; and account holders who set one up.
import { createHmac } from 'node:crypto';
import type { AccountsService, SignedIn } from '../services/accounts-service.ts';
import { recordSecret } from '../run/traces.ts';

const stepMs = 30_000;

/** The code that an app shows at an instant. @param secret in base32. */
export function codeAt(secret: string, instant: Date): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(instant.getTime() / stepMs)));
  const digest = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const at = (digest.at(-1) ?? 0) & 0xf;
  const number = (digest.readUInt32BE(at) & 0x7fffffff) % 1_000_000;
  return String(number).padStart(6, '0');
}

function fromBase32(text: string): Buffer {
  const bits = Array.from(text, (digit) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(digit).toString(2).padStart(5, '0'),
  ).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** A code that is invalid now, and one step before and after. */
export function wrongCodeAt(secret: string, instant: Date): string {
  const near = [-1, 0, 1].map((steps) => codeAt(secret, new Date(instant.getTime() + steps * stepMs)));
  return ['000000', '111111', '222222', '333333'].find((code) => !near.includes(code)) ?? '';
}

export interface Enrolled {
  /** In base32. */
  secret: string;
  recoveryCodes: string[];
  /** The current code of the app. Moves the clock to the next code first, as each is accepted only once. */
  nextCode(): string;
}

/** Sets up a second factor. @throws Error if that fails. */
export async function enrolHolder(
  service: AccountsService,
  holder: SignedIn,
  { password, headers = {} }: { password?: string; headers?: Record<string, string> } = {},
): Promise<Enrolled> {
  const ask = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await service.signedIn(holder, path, { body, headers });
    if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return (answer.body as { data: Record<string, unknown> }).data;
  };
  const enrolment = await ask('/auth/second-factor/totp', password === undefined ? {} : { password });
  const secret = recordSecret(String(enrolment['secret']));
  const code = codeAt(secret, service.clock.now());
  const confirmed = await ask('/auth/second-factor/totp/confirm', { code });
  const recoveryCodes = (confirmed['recovery_codes'] as string[]).map((each) => recordSecret(each));
  return {
    ...{ secret, recoveryCodes },
    nextCode() {
      service.clock.advance(stepMs);
      return codeAt(secret, service.clock.now());
    },
  };
}

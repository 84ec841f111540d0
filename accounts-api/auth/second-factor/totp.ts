// The codes of authenticator apps (TOTP, RFC 6238): SHA-1, six digits, 30 seconds, which every app supports.
import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';

const secretBytes = 20; // the length of a SHA-1, as RFC 4226 recommends
const period = 30;
/** The clock tolerance in steps: codes of the previous and the next step are also accepted. */
const stepsOff = 1;

/** A new secret, for one account. */
export function mintTotpSecret(): Buffer {
  return randomBytes(secretBytes);
}

/**
 * The data to set up an app.
 * @param names the service and the account, as the app lists them.
 * @returns the secret in base32, to type, and the URI, to scan.
 */
export function provisioningOf(
  secret: Buffer,
  names: { issuer: string; label: string },
): { secret: string; uri: string } {
  const totp = totpOf(secret, names);
  return { secret: totp.secret.base32, uri: totp.toString() };
}

/** The time step of a six-digit code; null if it is wrong. All wrong codes take the same time. */
export function stepOfCode(secret: Buffer, code: string, now: Date): number | null {
  const totp = totpOf(secret, {});
  const timestamp = now.getTime();
  const off = totp.validate({ token: code, timestamp, window: stepsOff });
  return off === null ? null : totp.counter({ timestamp }) + off;
}

function totpOf(secret: Buffer, names: { issuer?: string; label?: string }): TOTP {
  return new TOTP({
    ...names,
    secret: new Secret({ buffer: Uint8Array.from(secret).buffer }),
    algorithm: 'SHA1',
    digits: 6,
    period,
  });
}

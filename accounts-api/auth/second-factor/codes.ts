// The codes of a second factor: codes of the authenticator app, each accepted once, and recovery codes, each of which replaces an app code once.
import type { Transaction } from 'sequelize';
import { z } from 'zod';
import { audit } from '../../audit.ts';
import { notify } from '../../jobs/jobs.ts';
import { fail } from '../../../kernel/errors.ts';
import { randomBase32 } from '../../../kernel/credentials/base32.ts';
import { sha256 } from '../../../kernel/credentials/sha256.ts';
import type { ServiceDeps } from '../../deps.ts';
import type { Account } from '../../models/account.ts';
import type { Actor } from '../../models/audit-event.ts';
import { sealedFor } from '../../sessions/renew-authenticators.ts';
import { SecretUnreadable } from '../../secrets.ts';
import {
  countRecoveryCodes,
  replaceRecoveryCodes,
  selectAuthenticator,
  spendRecoveryCode,
  consumeStep,
} from '../../sessions/second-factor.sql.ts';
import { stepOfCode } from './totp.ts';

const recoveryCodeCount = 10;
/** 120 bits, so that a hash without salt protects them (ASVS 6.5.2 asks for 112). */
const recoveryCodeLength = 24;

export type Factor = 'totp' | 'recovery_code';

const codeRule = 'must be a code of the authenticator app, or a recovery code';
export const codeField = z
  .string({ error: codeRule })
  .max(64, codeRule)
  .describe('Six digits of the authenticator app, or a recovery code. Spaces and hyphens do not count.');

/** The secret of an account's app. @throws Failure `unavailable` if its encryption key is no longer known. */
export function openSecret({ secrets, log }: ServiceDeps, accountId: string, sealed: string): Buffer {
  try {
    return secrets.open(sealedFor(accountId), sealed);
  } catch (error) {
    if (!(error instanceof SecretUnreadable)) throw error;
    log.error({ account_id: accountId, err: error }, 'the secret of a second factor cannot be decrypted');
    return fail(
      'unavailable',
      'Codes of the app cannot be checked at the moment. Use a recovery code, or contact the operator of this service.',
    );
  }
}

/**
 * Accepts and consumes a code of an account that the transaction has locked. The use of a recovery code is audited, and the holder is notified by
 * mail.
 * @returns the kind of code; null if it is wrong or was accepted before.
 */
export async function acceptCode(
  deps: ServiceDeps,
  transaction: Transaction,
  account: Account,
  { code, actor, ip }: { code: string; actor: Actor; ip: string },
): Promise<Factor | null> {
  const { id: accountId } = account;
  const now = deps.clock.now();
  const given = code.replaceAll(/[\s-]/g, '').toLowerCase();
  if (/^\d{6}$/.test(given)) {
    const app = await selectAuthenticator(deps.db, transaction, accountId);
    if (app === null || app.confirmed_at === null) return null;
    const step = stepOfCode(openSecret(deps, accountId, app.secret), given, now);
    if (step === null) return null;
    return (await consumeStep(deps.db, transaction, { accountId, step })) ? 'totp' : null;
  }
  const spent = await spendRecoveryCode(deps.db, transaction, { accountId, hash: sha256(given), now });
  if (!spent) return null;
  const left = await countRecoveryCodes(deps.db, transaction, accountId);
  await audit(deps, transaction, { accountId, actor, action: 'recovery.code_used', detail: { left, ip } });
  await notify(deps, transaction, 'recovery_code_used', account.email);
  return 'recovery_code';
}

/** Creates new recovery codes for an account, replacing all earlier ones. @returns the codes, to be shown once. */
export async function makeRecoveryCodes(
  deps: ServiceDeps,
  transaction: Transaction,
  accountId: string,
): Promise<string[]> {
  const codes = Array.from({ length: recoveryCodeCount }, () => randomBase32(recoveryCodeLength));
  const hashes = codes.map((code) => sha256(code));
  await replaceRecoveryCodes(deps.db, transaction, { accountId, hashes, now: deps.clock.now() });
  return codes.map((code) => code.replaceAll(/.{4}(?!$)/g, '$&-'));
}

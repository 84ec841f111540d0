// Sets up, confirms and turns off the second factor of an account, and creates new recovery codes. A change requires the password and a code. Every
// change is audited, and the holder is notified by e-mail.
import type { Transaction } from 'sequelize';
import { z } from 'zod';
import { instantText } from '../../../kernel/clock.ts';
import { fail } from '../../../kernel/errors.ts';
import { one } from '../../../kernel/http/service-endpoint.ts';
import { findAccount, requireCredential } from '../../models/find-account.ts';
import { audit } from '../../audit.ts';
import type { ServiceDeps } from '../../deps.ts';
import { endpoint } from '../../endpoint.ts';
import { notify } from '../../jobs/jobs.ts';
import type { Account } from '../../models/account.ts';
import { clientInfoOf } from '../../sessions/client-info.ts';
import { countPasskeys } from '../../sessions/passkeys.sql.ts';
import { noteTwoFactors } from '../../sessions/sessions.ts';
import { sealedFor } from '../../sessions/renew-authenticators.ts';
import { endSessionsOf } from '../../sessions/sessions.sql.ts';
import { codeField, makeRecoveryCodes, openSecret } from './codes.ts';
import {
  byAllFactors,
  byCode,
  currentPassword,
  lockAccountOrFail,
  proofErrors,
  proveSession,
  type Proof,
} from './proof.ts';
import {
  confirmAuthenticator,
  countRecoveryCodes,
  deleteAuthenticator,
  hasSecondFactor,
  selectAuthenticator,
  storeAuthenticator,
} from '../../sessions/second-factor.sql.ts';
import { mintTotpSecret, provisioningOf, stepOfCode } from './totp.ts';

const enrolmentLastsMs = 15 * 60_000;

const recoveryCodesAnswer = z.object({
  recovery_codes: z
    .array(z.string())
    .describe('Ten codes, shown once. Each replaces a code of the app, once.'),
});

export const readSecondFactor = endpoint({
  summary: 'The second factor of the account.',
  requester: 'signed_in',
  answers: {
    200: z.object({
      totp: z
        .object({ enrolled_at: z.iso.datetime() })
        .nullable()
        .describe('The authenticator app; null if sign-in asks for no code.'),
      recovery_codes_left: z.int().describe('Unused recovery codes.'),
      passkeys: z.int().describe('Passkeys of the account; see `/auth/passkeys`.'),
      required: z
        .boolean()
        .describe(
          'Whether the account must have an app or a passkey, as operators must if this installation requires it.',
        ),
    }),
  },
  handler: async (deps, { requester: { accountId } }) => {
    const { role } = await findAccount(deps, accountId);
    const app = await selectAuthenticator(deps.db, null, accountId);
    const enrolledAt = app?.confirmed_at ?? null;
    return one({
      totp: enrolledAt === null ? null : { enrolled_at: instantText(enrolledAt) },
      recovery_codes_left: await countRecoveryCodes(deps.db, null, accountId),
      passkeys: await countPasskeys(deps.db, null, accountId),
      required: role === 'operator' && deps.settings.operatorSecondFactor === 'required',
    });
  },
});

export const beginTotp = endpoint({
  summary: 'Creates the secret of an authenticator app. It is used for sign-in once a code has confirmed it.',
  requester: 'signed_in',
  body: z.strictObject({ password: currentPassword }),
  answers: {
    200: z.object({
      secret: z.string().describe('To type into the app, in base32. Shown once.'),
      otpauth_uri: z.string().describe('The same, to scan: show it as a QR code.'),
      expires_at: z.iso.datetime().describe('Confirm the app before then.'),
    }),
  },
  errors: proofErrors,
  handler: async (deps, { requester, body: { password } }) => {
    const account = await findAccount(deps, requester.accountId);
    const { id: accountId, email } = account;
    await proveSession(deps, account, { requester, password, to: 'set up a second factor' });
    const now = deps.clock.now();
    const secret = mintTotpSecret();
    await deps.db.inLedgerTransaction(async (transaction) => {
      await lockAccountOrFail(deps, transaction, account);
      const sealed = deps.secrets.seal(sealedFor(accountId), secret);
      if (!(await storeAuthenticator(deps.db, transaction, { accountId, secret: sealed, now })))
        fail('conflict', 'The account has an authenticator app already. Turn it off first.');
    });
    const { hostname } = new URL(deps.settings.publicUrl);
    const shown = provisioningOf(secret, { issuer: `Almanac ${hostname}`, label: email });
    const expires_at = instantText(new Date(now.getTime() + enrolmentLastsMs));
    return one({ secret: shown.secret, otpauth_uri: shown.uri, expires_at });
  },
});

export const confirmTotp = endpoint({
  summary: 'Confirms the authenticator app by a code: from then on sign-in asks for one.',
  description: 'Ends all other sessions of the account, as they were opened without a code.',
  requester: 'signed_in',
  body: z.strictObject({ code: codeField }),
  answers: { 200: recoveryCodesAnswer },
  errors: ['invalid_credentials', 'conflict', 'gone', 'rate_limited', 'unavailable'],
  handler: async (deps, { requester, body: { code }, request }) => {
    const account = await findAccount(deps, requester.accountId);
    const { ip } = clientInfoOf(request);
    const codes = await byCode(deps, account, async (transaction) => {
      await requireCredential(deps, transaction, requester);
      const step = await stepOfUnconfirmed(deps, transaction, account, code);
      if (step === null) return null;
      const { id: accountId, email } = account;
      const { actor, sessionId } = requester;
      await confirmAuthenticator(deps.db, transaction, { accountId, step, now: deps.clock.now() });
      await noteTwoFactors(deps, transaction, requester);
      await endSessionsOf(deps.db, transaction, accountId, sessionId);
      await audit(deps, transaction, { accountId, actor, action: 'totp.enrolled', detail: { ip } });
      await notify(deps, transaction, 'totp_enrolled', email);
      return makeRecoveryCodes(deps, transaction, accountId);
    });
    return one({ recovery_codes: codes });
  },
});

export const turnOffSecondFactor = endpoint({
  summary: 'Turns the second factor off: sign-in no longer asks for a code.',
  requester: 'signed_in',
  body: z.strictObject({ password: currentPassword, code: codeField }),
  answers: { 204: null },
  errors: proofErrors,
  handler: async (deps, { requester, body, request }) => {
    const account = await findAccount(deps, requester.accountId);
    const { ip } = clientInfoOf(request);
    await byApp(deps, account, { requester, ...body, ip, to: 'turn it off' }, async (transaction) => {
      const { id: accountId, email } = account;
      await deleteAuthenticator(deps.db, transaction, accountId);
      const { actor } = requester;
      await audit(deps, transaction, { accountId, actor, action: 'totp.removed', detail: { ip } });
      await notify(deps, transaction, 'totp_removed', email);
    });
    return { status: 204 };
  },
});

export const renewRecoveryCodes = endpoint({
  summary: 'Creates new recovery codes; the earlier ones stop working.',
  requester: 'signed_in',
  body: z.strictObject({ password: currentPassword, code: codeField }),
  answers: { 200: recoveryCodesAnswer },
  errors: proofErrors,
  handler: async (deps, { requester, body, request }) => {
    const account = await findAccount(deps, requester.accountId);
    const { ip } = clientInfoOf(request);
    const proof = { requester, ...body, ip, to: 'make recovery codes' };
    const codes = await byApp(deps, account, proof, async (transaction) => {
      const { id: accountId, email } = account;
      const { actor } = requester;
      await audit(deps, transaction, { accountId, actor, action: 'recovery.codes_made', detail: { ip } });
      await notify(deps, transaction, 'recovery_codes_made', email);
      return makeRecoveryCodes(deps, transaction, accountId);
    });
    return one({ recovery_codes: codes });
  },
});

/** The time step of a code of an unconfirmed app; null if the code is wrong. */
async function stepOfUnconfirmed(
  deps: ServiceDeps,
  transaction: Transaction,
  { id }: Account,
  code: string,
): Promise<number | null> {
  const app = await selectAuthenticator(deps.db, transaction, id);
  if (app !== null && app.confirmed_at !== null) fail('conflict', 'The app is confirmed already.');
  const now = deps.clock.now();
  if (app === null || now.getTime() - app.created_at.getTime() >= enrolmentLastsMs)
    fail('gone', 'The secret was not confirmed in time, or does not exist. Start again.');
  const given = code.replaceAll(/\s/g, '');
  return /^\d{6}$/.test(given) ? stepOfCode(openSecret(deps, id, app.secret), given, now) : null;
}

/** As `byAllFactors`, for changes that require an app. @throws Failure `conflict` without one, and as `proofErrors` lists. */
async function byApp<T>(
  deps: ServiceDeps,
  account: Account,
  proof: Proof,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  if (!(await hasSecondFactor(deps.db, null, account.id)))
    fail('conflict', 'The account has no second factor.');
  return byAllFactors(deps, account, proof, work);
}

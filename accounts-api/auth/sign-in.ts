// GET /auth/methods lists the available sign-in methods. POST /auth/login exchanges an e-mail address and a password for a session. Every wrong
// combination gets the same answer, and costs the same work: one lookup and one password hash.
import { z } from 'zod';
import { fail } from '../../kernel/errors.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { lockAccountIfUnchanged } from '../models/find-account.ts';
import type { ServiceDeps } from '../deps.ts';
import { endpoint } from '../endpoint.ts';
import { emailField, passwordField } from '../fields.ts';
import type { Account } from '../models/account.ts';
import { findAccountByEmail } from '../models/accounts.sql.ts';
import { finishFirstStep, firstStepReply, secondStepAnswer } from './second-factor/pending.ts';
import { endPresented, signedInAnswer } from '../sessions/sessions.ts';
import { clientInfoOf, type ClientInfo } from '../sessions/client-info.ts';
import { passkeySiteOf } from './passkey-site.ts';

export const readMethods = endpoint({
  summary: 'What this installation supports: sign-in methods, mail, billing.',
  requester: 'anyone',
  answers: {
    200: z.object({
      google: z.boolean().describe('Whether sign-in with Google is available.'),
      passkeys: z
        .object({ origin: z.string().describe('The origin of the pages on which they work.') })
        .nullable()
        .describe('Null: browsers offer no passkeys at the public URL.'),
      mail: z.boolean().describe('Whether mail goes out: a sign-up is then confirmed by a link.'),
      password_length_min: z.int(),
      billing: z.boolean().describe('Whether plans can be bought.'),
    }),
  },
  handler: ({ openId, billing, settings }) => {
    const { mailGoesOut: mail, passwordLengthMin: password_length_min } = settings;
    const site = passkeySiteOf(settings.publicUrl);
    const passkeys = site === null ? null : { origin: site.origin };
    return one({
      google: openId !== null,
      passkeys,
      mail,
      password_length_min,
      billing: billing !== null,
    });
  },
});

export const logIn = endpoint({
  summary: 'Signs in with e-mail address and password.',
  requester: 'anyone',
  body: z.strictObject({
    email: emailField,
    password: passwordField,
    device_token: z.string().max(100).optional().describe('From an earlier sign-in on this device.'),
  }),
  answers: { 200: signedInAnswer, 202: secondStepAnswer },
  errors: ['invalid_credentials', 'forbidden', 'rate_limited', 'unavailable'],
  handler: async (deps, { body: { email, password, device_token }, call, request }) => {
    const clientInfo = clientInfoOf(request);
    const account = await verify(deps, { email, password, device: device_token, clientInfo });
    requireUsable(deps, account);
    const outdated = account.passwordHash !== null && deps.passwords.isOutdated(account.passwordHash);
    const renewed = outdated ? await deps.passwords.hash(password) : null;
    const session = await deps.db.inLedgerTransaction(async (transaction) => {
      // If the password was changed after the comparison, no session is opened: the change has ended all of them.
      if (!(await lockAccountIfUnchanged(deps, transaction, account))) failCredentials();
      if (renewed !== null) await account.update({ passwordHash: renewed }, { transaction });
      const knownDevice = deps.throttle.knows(device_token, account);
      const step = { clientInfo, how: 'password', knownDevice } as const;
      const result = await finishFirstStep(deps, transaction, account, step);
      if ('session_token' in result) await endPresented(deps, transaction, account.id, call);
      return result;
    });
    return firstStepReply(session, { device_token: deps.throttle.deviceToken(account) });
  },
});

/**
 * The account with this e-mail address and password.
 * @throws Failure `invalid_credentials`, after the same work as for a valid one; `rate_limited` before that work.
 */
async function verify(
  deps: ServiceDeps,
  {
    email,
    password,
    device,
    clientInfo,
  }: { email: string; password: string; device: string | undefined; clientInfo: ClientInfo },
): Promise<Account> {
  const account = await findAccountByEmail(deps.db, email);
  const known = device === undefined || account === null ? undefined : { token: device, of: account };
  const isRight = await deps.throttle.signIn({ email, ip: clientInfo.ip, device: known }, () =>
    deps.passwords.matches(account?.passwordHash ?? null, password),
  );
  if (isRight && account !== null) return account;
  // Not audited: writing a row takes time, which would reveal whether the e-mail address is known.
  deps.log.info(
    {
      event: 'sign_in_refused',
      account_id: account?.id ?? null,
      ip: clientInfo.ip,
      user_agent: clientInfo.userAgent,
    },
    'a sign-in was refused',
  );
  return failCredentials();
}

function failCredentials(): never {
  return fail('invalid_credentials', 'Incorrect e-mail address or password.');
}

/**
 * Call this only after the password or the passkey is verified, as its failures reveal the account's state.
 * @throws Failure `forbidden` for an account that is disabled, or whose e-mail address must be confirmed first.
 */
export function requireUsable(deps: ServiceDeps, account: Account): void {
  if (account.status === 'disabled')
    fail('forbidden', 'This account is disabled. Contact the operator of this service.');
  if (deps.settings.mailGoesOut && account.emailVerifiedAt === null) {
    fail(
      'forbidden',
      'The e-mail address is not confirmed. POST /auth/forgot-password e-mails a link that confirms it.',
    );
  }
}

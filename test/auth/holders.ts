// Account holders for tests of accounts-api without gateway and worker: sessions are stored like by a sign-in, and links are created like by the
// worker. All holders of a file share one password hash.
import { QueryTypes } from 'sequelize';
import { createPasswords } from '../../accounts-api/auth/passwords.ts';
import { mintMailToken } from '../../accounts-api/mail/mail-tokens.ts';
import type { Purpose } from '../../accounts-api/mail/mail-tokens.sql.ts';
import type { Account } from '../../accounts-api/models/account.ts';
import { createAccount } from '../../accounts-api/operator/operator.ts';
import { openSession } from '../../accounts-api/sessions/sessions.ts';
import { newId } from '../../accounts-api/ids.ts';
import { parseSessionToken } from '../../kernel/credentials/session-token.ts';
import type { AccountsService, Answer, SignedIn } from '../services/accounts-service.ts';
import { newEmail, newIp, newPassword, testPasswordCost } from '../services/sign-in.ts';
import { recordSecret } from '../run/traces.ts';
import type { Claims, OddIssuer } from './issuers.ts';

export interface Holder extends SignedIn {
  email: string;
}

export async function holdersOf(service: AccountsService) {
  const { deps } = service;
  const password = newPassword();
  const passwordHash = await createPasswords(testPasswordCost).hash(password);
  const clientInfo = { ip: '192.0.2.1', userAgent: 'Tests' };

  /** Signs in an account. @returns the session's id, and the identifier that the gateway sends to accounts-api. */
  async function newSession(accountId: string): Promise<{ sessionId: string; name: string; token: string }> {
    const { session_token: token } = await deps.db.inTransaction((transaction) =>
      openSession(deps, transaction, accountId, { clientInfo, how: 'password' }),
    );
    recordSecret(token.split('.')[1] ?? '');
    const { id, secretHash } = parseSessionToken(token) ?? { id: '', secretHash: '' };
    return { sessionId: id, name: `${id}.${secretHash}`, token };
  }

  async function accountOf({ accountId }: { accountId: string }): Promise<Account> {
    const account = await deps.db.accounts.findByPk(accountId);
    if (account === null) throw new Error(`There is no account ${accountId}.`);
    return account;
  }

  /** The token of a sign-up's link. */
  async function signUpLink({ email, signupId }: { email: string; signupId: string }): Promise<string> {
    const about = { purpose: 'sign_up', signup_id: signupId, account_id: null, email } as const;
    return recordSecret(await mintMailToken(deps, { ...about, credentialVersion: null }));
  }

  /** A sign-up that waits for its link, and the token of that link. */
  async function newSignUp(email = newEmail()): Promise<{ email: string; signupId: string; token: string }> {
    const signupId = newId('sup');
    const createdAt = deps.clock.now();
    const expiresAt = new Date(createdAt.getTime() + 24 * 60 * 60_000);
    const signup = { id: signupId, email, name: null, passwordHash, createdAt, expiresAt };
    await deps.db.signups.create(signup);
    return { email, signupId, token: await signUpLink({ email, signupId }) };
  }

  return {
    password,
    passwordHash,
    newSession,
    accountOf,
    /** A new account, signed in. `verified: false`: nobody has proved its mailbox yet. */
    async newHolder({ hasPassword = true, verified = true } = {}): Promise<Holder> {
      const email = newEmail();
      const { id: accountId } = await createAccount(deps, { email, plan: 'free' });
      const changes = {
        ...(hasPassword ? { passwordHash } : {}),
        ...(verified ? {} : { emailVerifiedAt: null }),
      };
      await deps.db.accounts.update(changes, { where: { id: accountId } });
      return { accountId, email, sessionId: (await newSession(accountId)).sessionId };
    },
    /** The token of a link to the account's mailbox, or to another one. */
    async mailLink(
      holder: { accountId: string },
      purpose: Exclude<Purpose, 'sign_up'>,
      to?: string,
    ): Promise<string> {
      const { id, email, credentialVersion } = await accountOf(holder);
      const about = { purpose, signup_id: null, account_id: id, email: to ?? email, credentialVersion };
      return recordSecret(await mintMailToken(deps, about));
    },
    newSignUp,
    signUpLink,
    /** Which of the sessions the gateway would accept now. */
    async areIn(...names: string[]): Promise<boolean[]> {
      const { body } = await service.internally('/internal/sessions', { sessions: names });
      return (body as { sessions: unknown[] }).sessions.map((each) => each !== null);
    },
  };
}

/**
 * Goes to Google and back, with the claims of a Google user.
 * @param started the answer that began it: of /auth/google/start, or of /auth/google/link. @returns the fragment.
 */
export async function returnFromGoogle(
  service: AccountsService,
  issuer: OddIssuer,
  started: Answer,
  claims: Claims,
  ip = newIp(),
): Promise<{ result: URLSearchParams; cookie: string }> {
  const url =
    started.headers.get('location') ?? (started.body as { data?: { url?: string } } | undefined)?.data?.url;
  const params = new URL(url ?? 'no-url:').searchParams;
  const cookie = /^([^;]+);/.exec(started.headers.get('set-cookie') ?? '')?.[1] ?? '';
  issuer.idToken = (proper, sign) => sign({ ...proper, nonce: params.get('nonce'), ...claims });
  const callback = await service.anonymously(`/auth/google/callback?code=c&state=${params.get('state')}`, {
    headers: { cookie, 'x-forwarded-for': ip },
  });
  return { result: new URLSearchParams(callback.headers.get('location')?.split('#')[1] ?? ''), cookie };
}

/** Signs in with Google. @returns the session, or the error. */
export async function signInByGoogle(
  service: AccountsService,
  issuer: OddIssuer,
  claims: Claims,
  ip = newIp(),
): Promise<{ session: SignedIn } | { error: string | null }> {
  const started = await service.anonymously('/auth/google/start');
  const { result, cookie } = await returnFromGoogle(service, issuer, started, claims, ip);
  const code = result.get('google_code');
  if (code === null) return { error: result.get('google_error') };
  const headers = { cookie, 'x-forwarded-for': ip, 'user-agent': 'Tests' };
  const { body } = await service.anonymously('/auth/google/exchange', { body: { code }, headers });
  const { session_token: token } = (body as { data: { session_token: string } }).data;
  recordSecret(token.split('.')[1] ?? '');
  const sessionId = token.split('.')[0] ?? '';
  const [row] = await service.deps.db.sequelize.query<{ account_id: string }>(
    'select account_id from accounts.sessions where id = $1',
    { bind: [sessionId], type: QueryTypes.SELECT },
  );
  return { session: { sessionId, accountId: row?.account_id ?? '' } };
}

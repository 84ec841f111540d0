// The service for the audit tests, with its holders, operators and customers, and the expected content of audit rows.
import type { ExecutionContext } from 'ava';
import { openJobs } from '../../../accounts-api/jobs/jobs.ts';
import { startAccountsService, type Answer } from '../../services/accounts-service.ts';
import { holdersOf, type Holder } from '../../auth/holders.ts';
import { startOddIssuer } from '../../auth/issuers.ts';
import { settingsOf } from '../../billing/paying.ts';
import { fakeClock, silentLog } from '../../services/harness.ts';
import { startStripe } from '../../stripe/stripe.ts';
import { newEmail, newIp, newPassword } from '../../services/sign-in.ts';

export const issuer = await startOddIssuer();
export const fake = await startStripe({ clock: fakeClock('2026-11-20T10:00:00.000Z') });
export const { id: price } = fake.addPrice({ lookupKey: 'almanac_pro_month', amount: 9_900 });
export const service = await startAccountsService(undefined, undefined, {
  signIn: { google: issuer.settings },
  stripe: settingsOf(fake),
});

export const { password, newHolder, newSession, newSignUp, mailLink } = await holdersOf(service);
const jobs = openJobs(service.deps.db.sequelize, service.databaseUrl, silentLog);
export const operatorDeps = { ...service.deps, jobs };
export async function closeAudited(): Promise<void> {
  await jobs.close();
  await service.close();
  await issuer.close();
  await fake.close();
}

export const ip = newIp();
export const headers = { 'x-forwarded-for': ip, 'user-agent': 'Tests' };

export interface Expected {
  accountId: string;
  actor: { kind: 'key' | 'session' | 'operator' | 'visitor' | 'system' | 'stripe'; id: string | null };
  subject: string;
  detail: object;
}
/** Performs an audited action. @returns the expected row. */
export type Act = (t: ExecutionContext) => Promise<Expected>;

export const operator = { kind: 'operator', id: null } as const;
export const byOperator = ({ accountId }: { accountId: string }) =>
  ({ kind: 'operator', id: accountId }) as const;
export const visitor = { kind: 'visitor', id: null } as const;
export const bySession = ({ sessionId }: { sessionId: string }) =>
  ({ kind: 'session', id: sessionId }) as const;
export const byKey = ({ keyId }: { keyId: string }) => ({ kind: 'key', id: keyId }) as const;

export function done(t: ExecutionContext, answer: Answer): Record<string, unknown> {
  t.true(answer.status < 300, JSON.stringify(answer.body));
  return answer.body === '' ? {} : (answer.body as { data: Record<string, unknown> }).data;
}

/** The expected row about the account itself. */
export const ofAccount = (
  { accountId }: { accountId: string },
  actor: Expected['actor'],
  detail: object = {},
) => ({
  accountId,
  actor,
  subject: accountId,
  detail,
});

/** The session opened by an answer. */
export const sessionOf = (answer: Record<string, unknown>) =>
  String(answer['session_token']).split('.')[0] ?? '';

export const accountIdOf = async (email: string) =>
  (await service.deps.db.accounts.findOne({ where: { email } }))?.id ?? '';

let people = 0;
/** A Google user whose mailbox is operated by Google. */
export const googlePerson = (email = `audited-${(people += 1)}@gmail.com`) => ({
  sub: `sub of ${email}`,
  email,
  email_verified: true,
});

export const signUp = async (t: ExecutionContext) => {
  const email = newEmail();
  const body = { email, password: newPassword() };
  const sessionId = sessionOf(done(t, await service.anonymously('/auth/signup', { body, headers })));
  return { email, sessionId, accountId: await accountIdOf(email) };
};

export const confirm = async (t: ExecutionContext, purpose: 'verify_email' | 'change_email', to?: string) => {
  const holder = await newHolder({ verified: purpose === 'change_email' });
  const body = { token: await mailLink(holder, purpose, to) };
  const sessionId = sessionOf(
    done(t, await service.signedIn(holder, '/auth/verify-email', { body, headers })),
  );
  return { ...holder, sessionId };
};

export const change = async (t: ExecutionContext, holder: Holder, body: object) =>
  done(t, await service.signedIn(holder, '/v1/account', { method: 'PATCH', body, headers }));

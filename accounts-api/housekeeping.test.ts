// Rows that can no longer be used are deleted at that instant and not before; all others stay.
import test from 'ava';
import { QueryTypes } from 'sequelize';
import { dataOf, startAccountsService } from '../test/services/accounts-service.ts';
import { startOddIssuer } from '../test/auth/issuers.ts';
import { enrolHolder } from '../test/auth/authenticator.ts';
import { holdersOf } from '../test/auth/holders.ts';
import { passkeysOf } from '../test/auth/passkey-authenticator.ts';
import { prune } from './housekeeping.sql.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

test('rows are deleted at the instant at which they expire, table by table', async (t) => {
  const issuer = await startOddIssuer();
  t.teardown(() => issuer.close());
  const service = await startAccountsService(undefined, undefined, { signIn: { google: issuer.settings } });
  t.teardown(() => service.close());
  const { password, newHolder, newSession, newSignUp, mailLink } = await holdersOf(service);
  const { db } = service.deps;

  const holder = await newHolder(); // with an unused session
  const { sessionId } = await newSession(holder.accountId); // and one in constant use
  await db.sequelize.query(
    `update accounts.sessions set idle_expires_at = idle_expires_at + interval '30 days' where id = $1`,
    { bind: [sessionId] },
  );
  await newSignUp();
  await mailLink(holder, 'reset_password');
  await mailLink(holder, 'verify_email');
  t.is((await service.anonymously('/auth/google/start')).status, 302);
  const enrolled = await newHolder(); // with another unused session
  await enrolHolder(service, enrolled, { password });
  const first = { email: enrolled.email, password };
  t.is((await service.anonymously('/auth/login', { body: first })).status, 202);
  await passkeysOf(service).beginSignIn();
  const headers = { 'idempotency-key': 'once' };
  dataOf(t, await service.signedIn(holder, '/v1/keys', { body: { name: 'k' }, headers }), 201);

  const startMs = service.clock.now().getTime();
  const left = async (milliseconds: number) => {
    await prune(db, new Date(startMs + milliseconds));
    const [row] = await db.sequelize.query(
      `select (select count(*)::int from accounts.google_flows) as flows,
              (select count(*)::int from accounts.pending_sign_ins) as pending,
              (select count(*)::int from accounts.passkey_challenges) as challenges,
              (select count(*)::int from accounts.mail_tokens) as links,
              (select count(*)::int from accounts.signups) as signups,
              (select count(*)::int from accounts.sessions) as sessions,
              (select count(*)::int from accounts.idempotency_keys) as answers`,
      { type: QueryTypes.SELECT },
    );
    return row as Record<string, number>;
  };
  const whole = { flows: 1, pending: 1, challenges: 1, links: 3, signups: 1, sessions: 3, answers: 1 };
  t.deepEqual(await left(5 * minuteMs - 1), whole);
  const all = { ...whole, pending: 0, challenges: 0 };
  t.deepEqual(await left(5 * minuteMs), all);
  t.deepEqual(await left(10 * minuteMs - 1), all);
  t.deepEqual(await left(10 * minuteMs), { ...all, flows: 0 });
  t.deepEqual(await left(60 * minuteMs - 1), { ...all, flows: 0 });
  t.deepEqual(await left(60 * minuteMs), { ...all, flows: 0, links: 2 });
  t.deepEqual(await left(dayMs - 1), { ...all, flows: 0, links: 2 });
  t.deepEqual(await left(dayMs), {
    flows: 0,
    pending: 0,
    challenges: 0,
    links: 0,
    signups: 0,
    sessions: 1,
    answers: 1,
  });
  t.deepEqual(await left(dayMs + 1), {
    flows: 0,
    pending: 0,
    challenges: 0,
    links: 0,
    signups: 0,
    sessions: 1,
    answers: 0,
  });
  t.deepEqual(await left(14 * dayMs - 1), {
    flows: 0,
    pending: 0,
    challenges: 0,
    links: 0,
    signups: 0,
    sessions: 1,
    answers: 0,
  });
  t.deepEqual(await left(14 * dayMs), {
    flows: 0,
    pending: 0,
    challenges: 0,
    links: 0,
    signups: 0,
    sessions: 0,
    answers: 0,
  });
  t.is(await db.accounts.count(), 2);
  t.is(await db.keys.count(), 1);
});

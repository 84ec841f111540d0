// /v1/billing/purchases: only the account that has proved the payer's e-mail address can claim the purchase.
import test, { type ExecutionContext } from 'ava';
import { startWorker } from '../../accounts-api/worker.ts';
import { createAccount, setPlan } from '../../accounts-api/operator/operator.ts';
import { sendReset, setPassword, setRole, setStatus } from '../../accounts-api/operator/account-access.ts';
import { openJobs } from '../../accounts-api/jobs/jobs.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { recordSecret } from '../run/traces.ts';
import { silentLog } from '../services/harness.ts';
import { newEmail, newIp, newPassword, startMailbox, testMail, tokenIn } from '../services/sign-in.ts';
import { buyingOf, dataOf, states, type Bought, type HolderOf, type State } from './buying.ts';
import { startPaying } from './paying.ts';

const paying = await startPaying();
const { fake, services, clock, plans } = paying;
const mailbox = await startMailbox();
const worker = await startWorker({
  databaseUrl: serviceUrl(services.databaseUrl, 'almanac_accounts_api'),
  ...{ plans, clock, log: silentLog, publicUrl: 'https://almanac.example' },
  mail: { ...testMail, smtpUrl: mailbox.smtpUrl },
});
const jobs = openJobs(services.accounts.db.sequelize, services.databaseUrl, silentLog);
const operatorDeps = { ...services.accounts, jobs };
test.after.always(async () => {
  await jobs.close();
  await worker.close();
  await paying.close();
  await mailbox.close();
});
const buying = buyingOf(paying);
const { db } = services.accounts;

interface Answered {
  status: number;
  json: unknown;
  text: string;
}
const codeOf = ({ status, json }: Answered) =>
  `${status} ${(json as { error?: { code: string } } | undefined)?.error?.code ?? ''}`.trim();
const get = (path: string, session: string) =>
  services.call(path, { headers: { 'x-session-token': session, 'x-forwarded-for': newIp() } });
const post = (path: string, body: object, session?: string) =>
  services.call(
    path,
    buying.json(body, session === undefined ? {} : { headers: { 'x-session-token': session } }),
  );
const take = (id: string, session: string) => post(`/v1/billing/purchases/${id}/take`, {}, session);
const offeredTo = async (t: ExecutionContext, session: string) =>
  dataOf(t, await get('/v1/billing/purchases', session)) as { id: string; plan: string; served: boolean }[];

/** A paid and recorded purchase, and the key that its payer has claimed. */
async function buy(email: string, plan = 'starter'): Promise<Bought & { id: string; key: string }> {
  const bought = await buying.begin(email, plan);
  fake.completeCheckout(bought.session);
  await paying.deliverAndSync();
  const { json } = await buying.claim(bought.token);
  const key = recordSecret((json as { data: { key: string } }).data.key);
  return { ...bought, id: await buying.accountOf(bought), key };
}
const reset = (token: string, password = newPassword()) => post('/auth/set-password', { token, password });
const accountIdOf = async (email: string) =>
  (await db.accounts.findOne({ where: { email, emailSignsIn: true } }))?.id;

/** The result for a signed-in holder, by the state of the account. */
const outcomes: Record<State, 'taken' | 'own subscription' | 'not offered' | 'no session'> = {
  free: 'taken',
  'on a plan of the operator': 'taken',
  'with a subscription that is active': 'own subscription',
  'with a subscription that is on trial': 'own subscription',
  'with a subscription that is past due': 'own subscription',
  'with a subscription that is unpaid': 'own subscription',
  'with a subscription that is paused': 'own subscription',
  'with a subscription that is cancelled at the end of its period': 'own subscription',
  'with a subscription whose first payment is under way': 'own subscription',
  'with a subscription that has ended': 'taken',
  disabled: 'no session',
  'whose mailbox is not proved': 'not offered',
  'that signs in with Google alone': 'taken',
};

for (const state of states) {
  const outcome = outcomes[state];
  test.serial(`the holder of an account ${state} who is offered a purchase: ${outcome}`, async (t) => {
    const holder = await buying.holder(state);
    const bought = await buy(holder.email);
    const before = await buying.snapshot(holder);
    const session = await buying.sessionOf(holder.accountId);
    if (outcome === 'no session') return t.is(codeOf(await take(bought.id, session)), '401 unauthorized');
    const offered = await offeredTo(t, session);
    if (outcome === 'not offered') {
      t.deepEqual(offered, []);
      t.is(codeOf(await take(bought.id, session)), '404 not_found');
    } else t.like(offered, [{ id: bought.id, plan: 'starter', served: true }]);
    if (outcome === 'own subscription')
      t.is(codeOf(await take(bought.id, session)), '409 already_subscribed');
    if (outcome === 'taken') return claimAndEnd(t, { holder, bought, session });
    const after = await buying.snapshot(holder);
    t.like(after, { ...before, changes: (before as { changes: number }).changes + 1 }, 'but for the session');
    t.is(await paying.entitlement(bought.id), 'starter active');
    t.is(await paying.calls(bought.key), 404);
  });
}

/** Claims it, and then the subscription ends. */
async function claimAndEnd(
  t: ExecutionContext,
  {
    holder,
    bought,
    session,
  }: { holder: HolderOf; bought: Bought & { id: string; key: string }; session: string },
) {
  const { accountId, key } = holder;
  const own = (await db.accounts.findByPk(accountId))?.plan;
  t.like(dataOf(t, await take(bought.id, session)), {
    id: accountId,
    plan: 'starter',
    subscription_state: 'active',
  });
  t.is(await paying.entitlement(accountId), 'starter active');
  t.is(await paying.calls(key), 404);
  t.is(await paying.calls(bought.key), 401, 'the key of the payer has ended');
  t.is(await db.accounts.findByPk(bought.id), null);
  t.is(await buying.stateOf(bought.token), 'claimed');
  t.is(codeOf(await take(bought.id, session)), '404 not_found');
  t.deepEqual(await offeredTo(t, session), []);
  const [audit] = await paying.rows<object>(
    `select action, subject, actor_kind, detail from accounts.audit_events where account_id = $1 and action like 'purchase%'`,
    accountId,
  );
  t.deepEqual(audit, {
    ...{ action: 'purchase.taken', subject: bought.id, actor_kind: 'session', detail: { plan: 'starter' } },
  });
  t.like((await paying.events(accountId)).at(-1), {
    ...{ type: 'subscription.updated', data: { plan: 'starter', status: 'active' } },
  });
  t.is((await get('/v1/billing/portal', session)).status, 200);
  // From now on Stripe's events about it apply to the holder's account.
  fake.failPayment(buying.subscriptionOf(bought));
  await paying.deliverAndSync();
  t.is(await paying.entitlement(accountId), 'starter active');
  fake.cancelNow(buying.subscriptionOf(bought));
  await paying.deliverAndSync();
  t.is(await paying.entitlement(accountId), `${own} none`, 'the earlier plan is restored');
}

/** The answer to a key that begins a purchase, by the state of its account. */
const paidByKey = (state: State) => {
  if (state === 'disabled') return '401 unauthorized';
  const isOpen = !state.includes('subscription') || /ended|first payment/.test(state);
  return isOpen ? '200' : '409 already_subscribed';
};

for (const state of states)
  test.serial(`a purchase with a key of an account ${state}: ${paidByKey(state)}`, async (t) => {
    const { key, accountId } = await buying.holder(state);
    const answer = await services.call('/v1/checkout', buying.json({ plan: 'starter' }, { key }));
    t.is(codeOf(answer), paidByKey(state));
    if (answer.status !== 200) return;
    const { url } = dataOf(t, answer) as { url: string };
    fake.completeCheckout(fake.sessions().find((each) => each.url === url)?.id ?? '');
    await paying.deliverAndSync();
    t.is(await paying.entitlement(accountId), 'starter active');
  });

test.serial(
  'when a subscription ends, the plan set by the operator applies again; set-plan announces it',
  async (t) => {
    const { accountId } = await services.accountWithKey('enterprise');
    const customer = await paying.customerOf(accountId);
    const { id } = fake.subscribe({ customer, price: paying.price('starter') });
    await paying.deliverAndSync();
    t.is(await paying.entitlement(accountId), 'starter active');
    await t.throwsAsync(setPlan(services.accounts, accountId, 'pro'), {
      message: /until it ends; then the plan "enterprise" applies again/,
    });
    fake.failPayment(id);
    await paying.deliverAndSync();
    fake.changePlan(id, paying.price('pro'));
    await paying.deliverAndSync();
    t.is(await paying.entitlement(accountId), 'pro active');
    fake.cancelNow(id);
    await paying.deliverAndSync();
    t.is(await paying.entitlement(accountId), 'enterprise none');
    await setPlan(services.accounts, accountId, 'pro');
    t.is(await paying.entitlement(accountId), 'pro none');
    fake.subscribe({ customer, price: paying.price('starter') });
    await paying.deliverAndSync();
    await paying.deliverAndSync();
    t.is(await paying.entitlement(accountId), 'starter active');
    for (const each of fake.subscriptionsOf(customer)) if (each.status === 'active') fake.cancelNow(each.id);
    await paying.deliverAndSync();
    t.is(await paying.entitlement(accountId), 'pro none');
  },
);

test.serial(
  'nobody but the holder of the proved mailbox sees a purchase, takes it, or opens its portal',
  async (t) => {
    const [holder, stranger] = [await buying.holder('free'), await buying.holder('free')];
    const bought = await buy(holder.email);
    const session = await buying.sessionOf(stranger.accountId);
    t.deepEqual(await offeredTo(t, session), []);
    const portal = `/v1/billing/portal?purchase=${bought.id}`;
    t.is(codeOf(await take(bought.id, session)), '404 not_found');
    t.is(codeOf(await get(portal, session)), '404 not_found');
    for (const key of [holder.key, bought.key, stranger.key]) {
      t.is(codeOf(await services.call('/v1/billing/purchases', { key })), '403 forbidden');
      t.is(codeOf(await services.call(portal, { key })), '403 forbidden');
      const taking = buying.json({}, { key });
      t.is(codeOf(await services.call(`/v1/billing/purchases/${bought.id}/take`, taking)), '403 forbidden');
    }
    const own = await buying.sessionOf(holder.accountId);
    t.is(codeOf(await take(holder.accountId, own)), '404 not_found', 'an account is not a purchase');
    const { url } = dataOf(t, await get(portal, own)) as { url: string };
    t.true((await (await fetch(url)).text()).includes(buying.subscriptionOf(bought)));
    await db.accounts.update({ email: newEmail() }, { where: { id: holder.accountId } });
    t.is(codeOf(await take(bought.id, own)), '404 not_found', 'the mailbox is no longer the account’s');
    t.is(await paying.entitlement(bought.id), 'starter active');
  },
);

test.serial(
  'only one of two concurrent requests takes a purchase; an unpaid, disabled or ended one is not taken',
  async (t) => {
    const holder = await buying.holder('free');
    const session = await buying.sessionOf(holder.accountId);
    const bought = await buy(holder.email);
    await setStatus(services.accounts, bought.id, 'disabled');
    t.is(codeOf(await take(bought.id, session)), '404 not_found');
    await setStatus(services.accounts, bought.id, 'active');
    const subscription = buying.subscriptionOf(bought);
    fake.pause(subscription);
    await paying.deliverAndSync();
    t.like(await offeredTo(t, session), [{ id: bought.id, served: false }]);
    t.is(codeOf(await take(bought.id, session)), '409 conflict');
    fake.resume(subscription);
    await paying.deliverAndSync();
    const answers = await Promise.all(Array.from({ length: 10 }, () => take(bought.id, session)));
    t.deepEqual(answers.map(codeOf).sort(), ['200', ...Array.from({ length: 9 }, () => '404 not_found')]);
    t.is(await paying.entitlement(holder.accountId), 'starter active');
    t.is(fake.subscription(subscription).status, 'active');

    const over = await buy(newEmail());
    const late = await buying.holder('free');
    await db.accounts.update({ email: over.email }, { where: { id: late.accountId } });
    fake.cancelNow(buying.subscriptionOf(over));
    await paying.deliverAndSync();
    t.deepEqual(await offeredTo(t, await buying.sessionOf(late.accountId)), []);
  },
);

test.serial(
  'one of two purchases is taken; the other can be taken once that subscription has ended',
  async (t) => {
    const holder = await buying.holder('free');
    const session = await buying.sessionOf(holder.accountId);
    const [first, second] = [await buy(holder.email), await buy(holder.email, 'pro')];
    t.is((await offeredTo(t, session)).length, 2);
    const answers = await Promise.all([take(first.id, session), take(second.id, session)]);
    t.deepEqual(answers.map(codeOf).sort(), ['200', '409 already_subscribed']);
    const [mine, other] = answers[0]?.status === 200 ? [first, second] : [second, first];
    await paying.deliverAndSync();
    t.is(fake.subscription(buying.subscriptionOf(other)).status, 'active', 'nothing is cancelled');
    fake.cancelNow(buying.subscriptionOf(mine));
    await paying.deliverAndSync();
    t.is(codeOf(await take(other.id, session)), '200');
  },
);

test.serial('taking a purchase closes an open page of Stripe; a paid page prevents it', async (t) => {
  const holder = await buying.holder('free');
  const session = await buying.sessionOf(holder.accountId);
  const begin = async () => {
    const { url } = dataOf(t, await post('/v1/checkout', { plan: 'pro' }, session)) as { url: string };
    return fake.sessions().find((each) => each.url === url)?.id ?? '';
  };
  const bought = await buy(holder.email);
  const page = await begin();
  fake.fail({ status: 500 }, { times: 3, path: '/v1/checkout/' });
  t.is(codeOf(await take(bought.id, session)), '503 unavailable');
  t.is(codeOf(await take(bought.id, session)), '200');
  t.is(fake.session(page).status, 'expired');
  fake.cancelNow(buying.subscriptionOf(bought));
  await paying.deliverAndSync();

  const next = await buy(holder.email);
  fake.completeCheckout(await begin());
  t.is(codeOf(await take(next.id, session)), '409 conflict', 'no event has come yet');
  await paying.deliverAndSync();
  t.is(codeOf(await take(next.id, session)), '409 already_subscribed');
  t.is(await paying.entitlement(holder.accountId), 'pro active');
  t.is(await paying.entitlement(next.id), 'starter active');
});

test.serial(
  'the e-mail to a mailbox without an account has a link that proves it: the address can then sign in, and the payer’s access ends',
  async (t) => {
    const email = newEmail();
    const bought = await buy(email);
    const unclaimed = await buying.begin(email);
    fake.completeCheckout(unclaimed.session);
    await paying.deliverAndSync();
    const mails = [
      await mailbox.next(email, 'Starter was bought'),
      await mailbox.next(email, 'Starter was bought'),
    ];
    const [one, other] = mails.map(tokenIn);
    const password = newPassword();
    t.is(codeOf(await post('/auth/login', { email, password })), '401 invalid_credentials');
    t.is((await reset(one ?? '', password)).status, 200);
    const signedIn = dataOf(t, await post('/auth/login', { email, password })) as { session_token: string };
    const session = signedIn.session_token;
    recordSecret(session.split('.')[1] ?? '');
    const id = await accountIdOf(email);
    t.is(codeOf(await reset(other ?? '')), '409 email_taken');
    t.like(await offeredTo(t, session), [{ plan: 'starter' }]);
    // The e-mails may arrive in either order.
    const [proved, offered] = id === bought.id ? [bought, unclaimed] : [unclaimed, bought];
    t.is(await buying.stateOf(proved.token), 'claimed');
    t.is(codeOf(await buying.claim(proved.token)), '410 gone', 'nobody else gets a key of a proved account');
    if (proved === bought) t.is(await paying.calls(bought.key), 401);
    t.is(await paying.entitlement(id ?? ''), 'starter active');
    t.is(codeOf(await take(await buying.accountOf(offered), session)), '409 already_subscribed');
  },
);

test.serial(
  'the e-mail to a mailbox with an account offers the purchase without a token; a password reset is for that account',
  async (t) => {
    const holder = await buying.holder('free');
    await buy(holder.email);
    const mail = await mailbox.next(holder.email, 'Starter was bought');
    t.regex(mail.text, /Your account has not changed/);
    t.regex(mail.text, /https:\/\/almanac\.example\/dashboard\/billing$/m);
    t.notRegex(mail.text, /token=/);
    t.is((await post('/auth/forgot-password', { email: holder.email })).status, 202);
    t.is((await reset(tokenIn(await mailbox.next(holder.email, 'Set a new password')))).status, 200);
    const account = await db.accounts.findByPk(holder.accountId);
    t.not(account?.passwordHash, null);
  },
);

test.serial(
  'if the e-mail of a purchase is lost, a password reset, a sign-up and the operator give access to it',
  async (t) => {
    const forgotten = await buy(newEmail());
    await mailbox.next(forgotten.email, 'was bought');
    await post('/auth/forgot-password', { email: forgotten.email });
    t.is((await reset(tokenIn(await mailbox.next(forgotten.email, 'Set a new password')))).status, 200);
    t.is(await accountIdOf(forgotten.email), forgotten.id);

    const signedUp = await buy(newEmail());
    const password = newPassword();
    t.is((await post('/auth/signup', { email: signedUp.email, password })).status, 201);
    const id = await accountIdOf(signedUp.email);
    t.not(id, signedUp.id);
    const session = await buying.sessionOf(id ?? '');
    t.deepEqual(await offeredTo(t, session), [], 'nobody has proved the mailbox yet');
    const confirming = tokenIn(await mailbox.next(signedUp.email, 'Confirm'));
    const fresh = (
      dataOf(t, await post('/auth/verify-email', { token: confirming, password })) as {
        session_token: string;
      }
    ).session_token;
    recordSecret(fresh.split('.')[1] ?? '');
    t.is(codeOf(await take(signedUp.id, fresh)), '200');

    const operated = await buy(newEmail());
    await mailbox.next(operated.email, 'was bought');
    await sendReset(operatorDeps, operated.email);
    t.regex((await mailbox.next(operated.email, 'was bought')).text, /token=/);
    await t.throwsAsync(setRole(services.accounts, operated.id, 'operator'), {
      message: /nobody has proved/,
    });
    const settings = { password: newPassword(), lengthMin: 8 };
    await setPassword(operatorDeps, operated.email, settings);
    t.is(await accountIdOf(operated.email), operated.id);

    const [again, also] = [
      await buy(newEmail()),
      await createAccount(services.accounts, { email: newEmail(), plan: 'free' }),
    ];
    await db.accounts.update({ email: again.email }, { where: { id: also.id } });
    await t.throwsAsync(setPassword(operatorDeps, again.id, settings), {
      message: /Another account signs in/,
    });
    t.is(
      (await setPlan(services.accounts, again.email, 'pro')).id,
      also.id,
      'an address names who signs in by it',
    );
  },
);

test.serial(
  'mails about calls and keys do not go to an e-mail address that only a payer has named',
  async (t) => {
    const [victim, bought] = [await buying.holder('free'), await buy(newEmail())];
    await mailbox.next(bought.email, 'was bought');
    const usage = (accountId: string) =>
      ({ mail: 'usage', accountId, month: '2026-11-01', limit: 1000, percent: 80 }) as const;
    await db.inTransaction((transaction) => jobs.enqueue(transaction, usage(bought.id)));
    await db.inTransaction((transaction) => jobs.enqueue(transaction, usage(victim.accountId)));
    await mailbox.next(victim.email, '80 %');
    t.false(mailbox.received.some(({ to, subject }) => to === bought.email && subject.includes('80 %')));
  },
);

// Payments without a session that use the e-mail address of an account. That account never changes, and the payer cannot learn that it
// exists.
import test from 'ava';
import { recordSecret } from '../run/traces.ts';
import { newEmail } from '../services/sign-in.ts';
import { buyingOf, dataOf, states } from './buying.ts';
import { startPaying } from './paying.ts';

const paying = await startPaying();
test.after.always(() => paying.close());
const { fake } = paying;
const buying = buyingOf(paying);

for (const state of states) {
  test.serial(`a stranger's payment, and its end, changes nothing of an account ${state}`, async (t) => {
    const holder = await buying.holder(state);
    const before = await buying.snapshot(holder);
    const unchanged = async (when: string) => t.deepEqual(await buying.snapshot(holder), before, when);

    const bought = await buying.begin(holder.email.toUpperCase());
    await unchanged('begun');
    fake.completeCheckout(bought.session);
    await paying.deliverAndSync();
    await unchanged('paid');
    const subscription = buying.subscriptionOf(bought);
    t.is(fake.subscription(subscription).status, 'active', 'what the stranger has paid goes on');
    t.is(await buying.stateOf(bought.token), 'key');
    const shown = dataOf(t, await buying.claim(bought.token)) as { key: string; account: { id: string } };
    t.not(shown.account.id, holder.accountId);
    t.is(await paying.calls(recordSecret(shown.key)), 404);
    t.is(await paying.entitlement(shown.account.id), 'starter active');
    await unchanged('claimed');

    fake.failPayment(subscription);
    await paying.deliverAndSync();
    await unchanged('past due');
    fake.override(subscription, { status: 'unpaid' }, 'customer.subscription.updated');
    await paying.deliverAndSync();
    t.is(await paying.calls(shown.key), 402);
    await unchanged('unpaid');
    fake.cancelNow(subscription);
    await paying.deliverAndSync();
    t.is(await paying.entitlement(shown.account.id), 'free none');
    await unchanged('cancelled');
  });
}

/** The result of a purchase for an e-mail address, in any order of events, without ids. */
async function outcomeOf(email: string, deliverEvents: (bought: { session: string }) => Promise<void>) {
  const bought = await buying.begin(email);
  fake.completeCheckout(bought.session);
  await deliverEvents(bought);
  await paying.sync();
  const id = await buying.accountOf(bought);
  const rows = await paying.rows<object>(
    `select plan, subscription_state, email_signs_in, email_verified_at, password_hash,
            (select count(*)::int from accounts.billing_customers where account_id = account.id) as customers,
            (select array_agg(action order by event_no) from accounts.audit_events where account_id = account.id) as actions
     from accounts.accounts as account where id = $1`,
    id,
  );
  const [status, claimed] = [await buying.stateOf(bought.token), await buying.claim(bought.token)];
  if (claimed.status === 200) keyOf(claimed);
  return { id, rows, status, claim: claimed.status };
}
const keyOf = ({ json }: { json: unknown }) => recordSecret((json as { data: { key: string } }).data.key);

const deliver = async (events: typeof fake.events) => {
  for (const event of events) if ((await fake.deliver(event)).status !== 200) throw new Error(event.type);
};

const orders: Readonly<Record<string, (bought: { session: string }) => Promise<void>>> = {
  'as they happen': () => paying.deliverAndSync(),
  'the other way round': async () => deliver(fake.undelivered().toReversed()),
  'the subscription before the checkout': async () => {
    const undelivered = fake.undelivered();
    const isLate = ({ type }: { type: string }) => type.startsWith('checkout.');
    await deliver(undelivered.filter((event) => !isLate(event)));
    await paying.sync();
    await deliver(undelivered.filter(isLate));
  },
  'the checkout long before all else': async () => {
    const undelivered = fake.undelivered();
    const isFirst = ({ type }: { type: string }) => type === 'checkout.session.completed';
    await deliver(undelivered.filter(isFirst));
    await paying.sync();
    await deliver(undelivered.filter((event) => !isFirst(event)));
  },
  'three times each, with a fetch after each': async () => {
    for (const event of fake.undelivered())
      for (const _time of [1, 2, 3]) {
        await deliver([event]);
        await paying.sync();
      }
  },
  'never, so that Stripe is asked': async () => {
    for (const event of fake.undelivered()) fake.drop(event);
    await paying.services.accounts.db.sequelize.query(
      'update accounts.checkouts set check_at = created_at where check_at is not null',
    );
    await paying.checkSessions();
  },
};

for (const [order, deliverEvents] of Object.entries(orders)) {
  test.serial(`events that come ${order} make one account of the purchase, and touch no other`, async (t) => {
    const holder = await buying.holder('with a subscription that is past due');
    const before = await buying.snapshot(holder);
    const { id, ...known } = await outcomeOf(holder.email, deliverEvents);
    t.deepEqual(await buying.snapshot(holder), before);
    const { id: other, ...unknown } = await outcomeOf(newEmail(), deliverEvents);
    t.not(id, other);
    t.deepEqual(known, unknown);
    t.like(known, { status: 'key', claim: 200 });
    t.like(known.rows[0], {
      plan: 'starter',
      subscription_state: 'active',
      email_signs_in: false,
      customers: 1,
    });
  });
}

test.serial(
  'a purchase that is cancelled before its first event gets an account of its own, on the free plan',
  async (t) => {
    const holder = await buying.holder('on a plan of the operator');
    const before = await buying.snapshot(holder);
    const { id, status } = await outcomeOf(holder.email, async ({ session }) => {
      fake.cancelNow(fake.session(session).subscription as string);
      await paying.deliverAndSync();
    });
    t.deepEqual(await buying.snapshot(holder), before);
    t.is(await paying.entitlement(id), 'free none');
    t.is(status, 'key');
  },
);

test.serial(
  'two purchases with one e-mail address are two accounts, and neither ends the other',
  async (t) => {
    const email = newEmail();
    const [first, second] = [
      await outcomeOf(email, () => paying.deliverAndSync()),
      await outcomeOf(email, () => paying.deliverAndSync()),
    ];
    t.not(first.id, second.id);
    for (const { id, claim } of [first, second]) {
      t.is(await paying.entitlement(id), 'starter active');
      t.is(claim, 200);
    }
  },
);

test.serial(
  'answers to a payer and requests to Stripe are the same whether or not the e-mail address has an account',
  async (t) => {
    const holder = await buying.holder('with a subscription that is active');
    /** Everything that a payer sees, without the parts that differ between any two purchases. */
    async function seen(email: string) {
      const from = fake.requests.length;
      const started = await paying.services.call('/v1/checkout', buying.json({ plan: 'pro', email }));
      const { url } = (started.json as { data: { url: string } }).data;
      const session = fake.sessions().find((each) => each.url === url);
      const token = recordSecret(session?.success_url?.split('#claim=')[1] ?? '');
      const open = await buying.claim(token);
      fake.completeCheckout(session?.id ?? '');
      await paying.deliverAndSync();
      const state = await paying.services.call('/v1/checkout/state', buying.json({ token }));
      const claimed = await buying.claim(token);
      const key = keyOf(claimed);
      const again = await buying.claim(token);
      const get = (path: string) => paying.services.call(path, { key });
      const own = [await get('/v1/account'), await get('/v1/keys'), await get('/v1/account/audit')];
      const answers = [started, open, state, claimed, again, ...own, await get('/v1/billing/portal')];
      const asked = fake.requests.slice(from).map(({ method, path, body }) => `${method} ${path} ${body}`);
      const blank = (text: string) =>
        text
          .replaceAll(email, 'ADDRESS')
          .replaceAll(encodeURIComponent(email), 'ADDRESS')
          .replaceAll(
            /\b(?:chk|acct|key|cus|cs_test|sub|bps|in)_[\w-]+|pk_live_[^"]+|%3D[\w-]{43}|[\w-]{43}(?=\b)|\d{10}/g,
            '…',
          )
          .replaceAll(/"request_id":"[^"]+"/g, '')
          // Gateways report it a moment after the call.
          .replaceAll(/"last_used_at":(?:null|"[^"]+")/g, '');
      const headersOf = ({ headers }: (typeof answers)[number]) =>
        [...headers].filter(
          ([name]) =>
            !/^(?:date|etag|x-request-id|x-ratelimit.*|ratelimit.*|content-length|traceparent|server-timing)$/.test(
              name,
            ),
        );
      return JSON.stringify([
        answers.map((answer) => [answer.status, headersOf(answer), blank(answer.text)]),
        asked.map(blank),
      ]);
    }
    const known = await seen(holder.email);
    t.true(known.includes('ADDRESS') && known.includes('customer_email'));
    t.is(known, await seen(newEmail()));
  },
);

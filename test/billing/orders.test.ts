// Five events of a subscription's life, in each of their 120 orders and twice each: the end is always the same.
import test from 'ava';
import { askForCustomer, insertStripeEvent } from '../../accounts-api/billing/inbox.sql.ts';
import { syncDue } from './sync-due.ts';
import { dayMs, startPaying, type Paying } from './paying.ts';

let paying: Paying;
test.before(async () => {
  paying = await startPaying();
});
test.after.always(() => paying.close());

/** Every order of the items. */
function* ordersOf<Item>(items: readonly Item[]): Generator<Item[]> {
  if (items.length === 0) yield [];
  for (const [i, item] of items.entries()) {
    for (const rest of ordersOf(items.toSpliced(i, 1))) yield [item, ...rest];
  }
}

test('all 120 orders of five events, each of them delivered twice, end in the same state', async (t) => {
  const { fake, services, deps } = paying;
  const { db } = services.accounts;
  const { accountId } = await services.accountWithKey('free');
  const customer = await paying.customerOf(accountId);
  const { id } = fake.subscribe({ customer, price: paying.price('starter') });
  const invoice = fake.failPayment(id);
  await fake.advance(3 * dayMs);
  fake.pay(invoice.id);
  fake.changePlan(id, paying.price('pro'));
  fake.cancelAtPeriodEnd(id);
  const wanted = [
    'customer.subscription.created',
    'invoice.payment_failed',
    'customer.subscription.updated',
    'invoice.paid',
  ];
  const ofType = (wantedType: string) => fake.events.filter(({ type }) => type === wantedType);
  const five = wanted.flatMap((type) => ofType(type).slice(0, 1));
  five.push(...ofType('customer.subscription.updated').slice(-1));
  t.is(new Set(five.map(({ id: event }) => event)).size, 5);

  /** Everything that an event can change, without row numbers. */
  async function end(): Promise<string> {
    const [state] = await paying.rows(
      `select plan, subscription_state,
              (select json_agg(subscription order by id) from accounts.subscriptions as subscription) as subscriptions,
              (select count(*) from accounts.stripe_events where handled_at is null) as waiting,
              (select json_agg(json_build_object('type', type, 'data', data) order by position) from events.outbox) as reported
       from accounts.accounts where id = $1`,
      accountId,
    );
    return JSON.stringify(state);
  }
  async function forget(): Promise<void> {
    await db.sequelize.query(
      `with customers as (delete from accounts.billing_customers), events as (delete from accounts.stripe_events),
            outbox as (delete from events.outbox)
       update accounts.accounts set plan = 'free', subscription_state = 'none'`,
    );
  }
  /** The handling of events by the inbox. */
  function receive(events: readonly (typeof five)[number][]): Promise<void> {
    const receivedAt = deps.clock.now();
    return db.inLedgerTransaction(async (transaction) => {
      for (const event of events) {
        const createdAt = new Date(event.created * 1000);
        const stored = { id: event.id, type: event.type, customerId: customer, createdAt, receivedAt };
        if (!(await insertStripeEvent(db, transaction, stored))) continue;
        await askForCustomer(db, transaction, customer, receivedAt);
      }
    });
  }
  let orders = 0;
  let first: string | undefined;
  for (const order of ordersOf(five)) {
    await forget();
    // The second delivery of each follows the first of the next one. A worker runs once in between, each time at another point.
    const twice = [...order.flatMap((event, i) => [event, order[i - 1] ?? event]), ...order.slice(-1)];
    for (const come of [twice.slice(0, orders % 11), twice.slice(orders % 11)]) {
      await receive(come);
      await syncDue(deps);
    }
    const last = await end();
    first ??= last;
    if (last !== first) t.is(last, first, order.map(({ type }) => type).join(', '));
    orders += 1;
  }
  t.is(orders, 120);
  t.regex(first ?? '', /"plan":"pro","subscription_state":"active"/);
  t.regex(first ?? '', /"waiting":"0"/);
});

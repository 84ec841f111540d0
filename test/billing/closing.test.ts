// DELETE /v1/account with Stripe: nobody can pay for a deleted account.
import test from 'ava';
import { codeOf, peopleOf, sessionIn, type Answer, type Person } from '../auth/people.ts';
import { untilWaiting } from '../run/until.ts';
import { listening } from '../services/harness.ts';
import { from } from '../services/sign-in.ts';
import { buyingOf } from './buying.ts';
import { dayMs, startPaying, type Paying } from './paying.ts';
import { syncDue } from './sync-due.ts';

let paying: Paying;
test.beforeEach(async () => {
  paying = await startPaying();
});
test.afterEach.always(() => paying.close());

const people = () => peopleOf(paying.services);
const close = ({ session }: Person) => people().ask('DELETE', '/v1/account', { session });
const exists = async ({ email }: Person) =>
  (await paying.services.accounts.db.accounts.count({ where: { email } })) === 1;
const begin = ({ session }: Person, plan = 'pro') => people().post('/v1/checkout', { plan }, session);
const codes = (answer: Answer) => `${answer.status} ${codeOf(answer) ?? ''}`;

/** A user with an open Stripe page. */
async function buyer() {
  const person = await people().newPerson();
  const { url } = ((await begin(person)).json as { data: { url: string } }).data;
  const id = paying.fake.sessions().find((each) => each.url === url)?.id ?? '';
  return { person, id };
}

test.serial('the page on which an account could be paid for is closed with the account', async (t) => {
  const { person, id } = await buyer();
  t.is((await close(person)).status, 204);
  t.is(paying.fake.session(id).status, 'expired');
  t.false(await exists(person));
});

test.serial('an account is not closed, and can be later, while Stripe does not answer', async (t) => {
  const { person, id } = await buyer();
  paying.fake.fail({ status: 500 }, { times: 3, path: '/v1/checkout/' });
  t.is(codes(await close(person)), '503 unavailable');
  t.true(await exists(person));
  t.is(paying.fake.session(id).status, 'open');
  t.is((await close(person)).status, 204);
});

test.serial('a paid account is not closed, even before any event reports the payment', async (t) => {
  const { person, id } = await buyer();
  paying.fake.completeCheckout(id);
  for (const isKnown of [false, true]) {
    t.is(codes(await close(person)), '409 conflict', `known: ${isKnown}`);
    t.true(await exists(person));
    if (!isKnown) await paying.sync(); // without an event, the customer is fetched because of a request
  }
  t.regex((await close(person)).text, /has a subscription/);
});

test.serial(
  'an account whose first payment can still be made is not closed until that has expired',
  async (t) => {
    const person = await people().newPerson();
    const account = await paying.services.accounts.db.accounts.findOne({ where: { email: person.email } });
    const customer = await paying.customerOf(account?.id ?? '');
    paying.fake.subscribe({ customer, price: paying.price('pro'), paid: false });
    await paying.deliverAndSync();
    t.is(codes(await close(person)), '409 conflict');
    t.true(await exists(person));
    await paying.fake.advance(dayMs);
    await paying.deliverAndSync();
    const { email, password } = person;
    const again = await people().ask('POST', '/auth/login', { body: { email, password }, headers: from() });
    t.is((await close({ ...person, session: sessionIn(again) })).status, 204);
  },
);

test.serial(
  'the page of a purchase that is being begun while its account is closed is closed, too',
  async (t) => {
    const person = await people().newPerson();
    const delayed = paying.fake.delayRequests({ path: '/v1/checkout/sessions', method: 'POST' });
    const started = begin(person);
    await delayed.arrived;
    t.is((await close(person)).status, 204);
    delayed.release();
    t.is(codes(await started), '401 unauthorized');
    t.deepEqual(
      paying.fake.sessions().map(({ status }) => status),
      ['expired'],
    );
  },
);

test.serial(
  'a purchase that is begun while the page of an earlier one is being closed keeps its account',
  async (t) => {
    const { person, id } = await buyer();
    const delayed = paying.fake.delayRequests({ path: `/v1/checkout/sessions/${id}` });
    const closing = close(person);
    await delayed.arrived;
    await paying.rows('update accounts.checkouts set closed_at = created_at returning id');
    t.is((await begin(person)).status, 200);
    delayed.release();
    t.is(codes(await closing), '409 conflict');
    t.true(await exists(person));
  },
);

test.serial(
  'an account whose customer is being created at Stripe while it is closed begins no purchase',
  async (t) => {
    const person = await people().newPerson();
    const delayed = paying.fake.delayRequests({ path: '/v1/customers', method: 'POST' });
    const started = begin(person);
    await delayed.arrived;
    t.is((await close(person)).status, 204);
    delayed.release();
    t.is(codes(await started), '401 unauthorized');
  },
);

test.serial('an account is closed while its customer is being fetched, and neither fails', async (t) => {
  const { person } = await buyer();
  const { db } = paying.services.accounts;
  await paying.fake.deliverPending();
  const [customer] = await paying.rows<{ id: string }>('select id from accounts.billing_customers');
  const delayed = paying.fake.delayRequests({ path: `/v1/customers/${customer?.id}` });
  const { log, messages } = listening();
  const fetching = syncDue({ ...paying.deps, log });
  await delayed.arrived;
  let closing: Promise<Answer> | undefined;
  await db.inTransaction(async (transaction) => {
    await db.accounts.findOne({ where: { email: person.email }, transaction, lock: true });
    closing = close(person);
    await untilWaiting(db.read);
    delayed.release();
    await untilWaiting(db.read, 2);
  });
  t.is((await closing)?.status, 204);
  t.is(await fetching, 1);
  t.deepEqual(messages, []);
});

test.serial('a purchase is taken while its payer revokes its key, and neither fails', async (t) => {
  const { db } = paying.services.accounts;
  const buying = buyingOf(paying);
  const holder = await buying.holder('free');
  const session = await buying.sessionOf(holder.accountId);
  const bought = await buying.begin(holder.email, 'starter');
  paying.fake.completeCheckout(bought.session);
  await paying.deliverAndSync();
  const { json } = await buying.claim(bought.token);
  const { id, key } = (json as { data: { id: string; key: string } }).data;
  const purchase = await buying.accountOf(bought);
  let answers: Promise<{ status: number }>[] = [];
  await db.inLedgerTransaction(async (transaction) => {
    // The revocation waits to write its event.
    await db.sequelize.query('lock table events.outbox in share mode', { transaction });
    const revoking = paying.services.call(`/v1/keys/${id}`, { method: 'DELETE', key });
    await untilWaiting(db.read);
    const taking = people().post(`/v1/billing/purchases/${purchase}/take`, {}, session);
    await untilWaiting(db.read, 2);
    answers = [revoking, taking];
  });
  t.deepEqual(
    (await Promise.all(answers)).map(({ status }) => status),
    [204, 200],
  );
});

// The fake's HTTP API, seen by the real SDK: keys, errors, forms, lists, expansion, Idempotency-Key, faults.
import test from 'ava';
import { Stripe } from 'stripe';
import { client, dayMs, setUp } from './set-up.ts';
import type { Fault } from './stripe.ts';

test('a customer is created, changed, listed by e-mail, deleted, and then answered as deleted', async (t) => {
  const { stripe, fake } = await setUp(t);
  const made = await stripe.customers.create({ email: 'a@example.org', metadata: { account: '1', x: 'y' } });
  t.like(await stripe.customers.retrieve(made.id), { id: made.id, email: 'a@example.org', livemode: false });
  const changed = await stripe.customers.update(made.id, {
    name: 'Ada & “Söhne” [1]',
    metadata: { x: '', z: '2' },
  });
  t.is(changed.name, 'Ada & “Söhne” [1]');
  t.deepEqual(changed.metadata, { account: '1', z: '2' });
  const { data } = await stripe.customers.list({ email: 'a@example.org' });
  t.deepEqual(
    data.map(({ id }) => id),
    [made.id],
  );
  t.deepEqual((await stripe.customers.list({ email: 'b@example.org' })).data, []);
  t.true((await stripe.customers.del(made.id)).deleted);
  t.true((await stripe.customers.retrieve(made.id)).deleted);
  t.deepEqual((await stripe.customers.list()).data, []);
  await t.throwsAsync(stripe.customers.update(made.id, { name: 'x' }), { message: /No such customer/ });
  t.deepEqual(
    fake.events.map(({ type }) => type),
    ['customer.created', 'customer.updated', 'customer.deleted'],
  );
});

test('an event names the fields that changed, the request and its key', async (t) => {
  const { stripe, fake } = await setUp(t);
  const { id } = await stripe.customers.create({ email: 'a@example.org' });
  await stripe.customers.update(id, { email: 'b@example.org' }, { idempotencyKey: 'change-1' });
  const event = fake.events.at(-1)!;
  t.like(event, { type: 'customer.updated', api_version: Stripe.API_VERSION, livemode: false });
  t.deepEqual(event.data.previous_attributes, { email: 'a@example.org' });
  t.is(event.request?.idempotency_key, 'change-1');
  await stripe.customers.update(id, { email: 'b@example.org' });
  t.is(fake.events.length, 2, 'a change that changes nothing makes no event');
});

test('errors have the status, type, code and parameter by which the SDK distinguishes them', async (t) => {
  const { stripe, fake, session, clock } = await setUp(t);
  const failure = async (call: Promise<unknown>): Promise<Partial<Stripe.errors.StripeError>> => {
    const error = await t.throwsAsync<Stripe.errors.StripeError>(call);
    const { type, statusCode, code, param } = error;
    t.truthy(error.requestId);
    return { type, statusCode: statusCode!, ...(code && { code }), ...(param && { param }) };
  };
  const invalid = { type: 'StripeInvalidRequestError' as const, statusCode: 400 };
  t.deepEqual(await failure(stripe.customers.retrieve('cus_none')), {
    ...invalid,
    statusCode: 404,
    code: 'resource_missing',
    param: 'id',
  });
  t.deepEqual(await failure(session({ line_items: [{ price: 'price_none', quantity: 1 }] })), {
    ...invalid,
    code: 'resource_missing',
    param: 'line_items[0][price]',
  });
  t.deepEqual(await failure(session({ customer: 'cus_none' })), {
    ...invalid,
    code: 'resource_missing',
    param: 'customer',
  });
  t.deepEqual(await failure(stripe.checkout.sessions.create({ mode: 'subscription' })), {
    ...invalid,
    param: 'line_items',
  });
  t.deepEqual(await failure(session({ success_url: '' })), {
    ...invalid,
    code: 'parameter_missing',
    param: 'success_url',
  });
  const clockNow = Math.floor(clock.now().getTime() / 1000);
  for (const ahead of [1_799, 86_401])
    t.deepEqual(await failure(session({ expires_at: clockNow + ahead })), {
      ...invalid,
      param: 'expires_at',
    });
  t.deepEqual(await failure(session({ locale: 'de' })), {
    ...invalid,
    code: 'parameter_unknown',
    param: 'locale',
  });
  t.deepEqual(await failure(session({ customer_email: 'a@b.org', customer: 'cus_1' })), invalid);
  t.deepEqual(await failure(stripe.customers.create({ email: 'nobody' })), {
    ...invalid,
    code: 'email_invalid',
    param: 'email',
  });
  t.deepEqual(await failure(stripe.customers.list({ limit: 101 })), { ...invalid, param: 'limit' });
  t.deepEqual(await failure(stripe.customers.list({ starting_after: 'cus_none' })), {
    ...invalid,
    code: 'resource_missing',
    param: 'starting_after',
  });
  t.deepEqual(await failure(stripe.coupons.list()), { ...invalid, statusCode: 404 });
  const stranger = client({ ...fake, apiKey: 'sk_test_other' });
  t.deepEqual(await failure(stranger.customers.list()), {
    type: 'StripeAuthenticationError',
    statusCode: 401,
  });
  t.deepEqual(fake.events, [], 'nothing that was refused has changed anything');
});

test('another version of the API is refused', async (t) => {
  const { fake } = await setUp(t);
  const headers = { authorization: `Bearer ${fake.apiKey}`, 'stripe-version': '2020-08-27' };
  const response = await fetch(`${fake.url}/v1/customers`, { headers });
  t.is(response.status, 400);
});

test('a list is paged newest first, forwards and backwards, and the SDK walks all of it', async (t) => {
  const { stripe } = await setUp(t);
  const ids: string[] = [];
  for (let i = 0; i < 7; i += 1) ids.unshift((await stripe.customers.create({ name: `Customer ${i}` })).id);
  const first = await stripe.customers.list({ limit: 3 });
  t.deepEqual([first.data.map(({ id }) => id), first.has_more], [ids.slice(0, 3), true]);
  const last = await stripe.customers.list({ limit: 3, starting_after: ids[3]! });
  t.deepEqual([last.data.map(({ id }) => id), last.has_more], [ids.slice(4), false]);
  const back = await stripe.customers.list({ limit: 2, ending_before: ids[5]! });
  t.deepEqual([back.data.map(({ id }) => id), back.has_more], [ids.slice(3, 5), true]);
  const begin = await stripe.customers.list({ limit: 3, ending_before: ids[2]! });
  t.deepEqual([begin.data.map(({ id }) => id), begin.has_more], [ids.slice(0, 2), false]);
  const walked: string[] = [];
  for await (const { id } of stripe.customers.list({ limit: 2 })) walked.push(id);
  t.deepEqual(walked, ids);
});

test('prices are found by lookup key; a key that moves to a new price is removed from the old one', async (t) => {
  const { stripe, fake, pro } = await setUp(t);
  const found = await stripe.prices.list({
    lookup_keys: ['pro_month', 'none'],
    active: true,
    expand: ['data.product'],
  });
  t.deepEqual(
    found.data.map(({ id, unit_amount, currency, recurring, product }) => [
      id,
      unit_amount,
      currency,
      recurring?.interval,
      (product as Stripe.Product).name,
    ]),
    [[pro.id, 9900, 'usd', 'month', 'Pro']],
  );
  t.is(String(found.data[0]!.unit_amount_decimal), '9900');
  const dearer = fake.addPrice({ lookupKey: 'pro_month', amount: 10_900, currency: 'eur' });
  const { data } = await stripe.prices.list({ lookup_keys: ['pro_month'] });
  t.deepEqual(
    data.map(({ id }) => id),
    [dearer.id],
  );
  t.is((await stripe.prices.retrieve(pro.id)).lookup_key, null);
  t.is((await stripe.products.list({ active: true })).data.length, 3);
});

test('expand fills in objects at any depth, and refuses paths that cannot be expanded', async (t) => {
  const { stripe, subscriber } = await setUp(t);
  const { session, subscription, customer } = await subscriber();
  const full = await stripe.checkout.sessions.retrieve(session.id, {
    expand: ['subscription.latest_invoice.customer', 'line_items', 'customer.subscriptions'],
  });
  const expanded = full.subscription as Stripe.Subscription;
  t.is(expanded.id, subscription.id);
  t.is(((expanded.latest_invoice as Stripe.Invoice).customer as Stripe.Customer).id, customer.id);
  t.is(full.line_items?.data[0]?.price?.unit_amount, 2900);
  t.is((full.customer as Stripe.Customer).subscriptions?.data[0]?.id, subscription.id);
  const plain = await stripe.checkout.sessions.retrieve(session.id);
  t.is(plain.subscription, subscription.id);
  t.false('line_items' in plain);
  const listed = await stripe.subscriptions.list({ expand: ['data.latest_invoice'] });
  t.is((listed.data[0]!.latest_invoice as Stripe.Invoice).status, 'paid');
  const one = await stripe.subscriptions.retrieve(subscription.id, { expand: ['items.data.price.product'] });
  t.is((one.items.data[0]!.price.product as Stripe.Product).name, 'Starter');
  const tooDeep = stripe.subscriptions.list({ expand: ['data.items.data.price.product'] });
  await t.throwsAsync(tooDeep, { message: /more than 4 levels/ });
  await t.throwsAsync(stripe.subscriptions.list({ expand: ['data.status'] }), {
    message: /cannot be expanded/,
  });
  await t.throwsAsync(stripe.customers.list({ expand: ['data.nothing'] }), { message: /cannot be expanded/ });
});

test('one Idempotency-Key does its work once, and every repetition has the first answer', async (t) => {
  const { stripe, fake, clock } = await setUp(t);
  const options = { idempotencyKey: 'create-1' };
  const first = await stripe.customers.create({ email: 'a@example.org' }, options);
  const second = await stripe.customers.create({ email: 'a@example.org' }, options);
  t.is(second.id, first.id);
  t.is(first.lastResponse.headers['idempotent-replayed'], undefined);
  t.is(second.lastResponse.headers['idempotent-replayed'], 'true');
  for (const other of [
    stripe.customers.create({ email: 'b@example.org' }, options),
    stripe.customers.update(first.id, { email: 'a@example.org' }, options),
  ])
    t.is((await t.throwsAsync<Stripe.errors.StripeError>(other))?.type, 'StripeIdempotencyError');
  t.is(fake.customers().length, 1);
  clock.advance(dayMs + 1000);
  await stripe.customers.create({ email: 'a@example.org' }, options);
  t.is(fake.customers().length, 2, 'a key is forgotten after a day');
});

test('a refused request does not use up its Idempotency-Key; a declined card does', async (t) => {
  const { stripe, fake, subscriber } = await setUp(t);
  const options = { idempotencyKey: 'again' };
  await t.throwsAsync(stripe.customers.create({ email: 'nobody' }, options));
  t.is((await stripe.customers.create({ email: 'a@example.org' }, options)).email, 'a@example.org');
  const { subscription, customer } = await subscriber();
  const invoice = fake.failPayment(subscription.id);
  const pay = () => stripe.invoices.pay(invoice.id, {}, { idempotencyKey: 'pay' });
  t.is((await t.throwsAsync<Stripe.errors.StripeError>(pay()))?.type, 'StripeCardError');
  fake.setCard(customer.id, 'works');
  t.is((await t.throwsAsync<Stripe.errors.StripeError>(pay()))?.code, 'card_declined');
  t.is((await stripe.invoices.pay(invoice.id)).status, 'paid');
});

test('a second request with the key of a running one gets 409, and the SDK retries it until it has the answer', async (t) => {
  const { stripe, fake } = await setUp(t);
  const delayed = fake.delayRequests({ path: '/v1/customers', method: 'POST' });
  const create = (maxNetworkRetries: number) =>
    stripe.customers.create({ email: 'a@example.org' }, { idempotencyKey: 'twice', maxNetworkRetries });
  const first = create(0);
  await delayed.arrived;
  const refused = await t.throwsAsync<Stripe.errors.StripeError>(create(0));
  t.deepEqual([refused?.statusCode, refused?.code], [409, 'idempotency_key_in_use']);
  const patient = create(2);
  delayed.release();
  t.is((await patient).id, (await first).id);
  t.is(fake.customers().length, 1);
});

test('after a lost answer the SDK repeats the request under the same key, and the work is done once', async (t) => {
  const faults: Fault[] = [
    'drop-before',
    'drop-after',
    { status: 500 },
    { status: 500, after: true },
    { status: 503 },
    { status: 409 },
  ];
  const tries = faults.map(async (fault) => {
    const { stripe, fake } = await setUp(t);
    fake.fail(fault, { path: '/v1/customers' });
    await stripe.customers.create({});
    t.is(fake.customers().length, 1, JSON.stringify(fault));
    const [first, second] = fake.requests;
    t.is(first!.idempotencyKey, second!.idempotencyKey);
    t.is(second!.status, 200);
  });
  await Promise.all(tries);
});

test('faults meet only the requests that they are for, and as often as asked', async (t) => {
  const { stripe, fake } = await setUp(t);
  fake.fail({ status: 429 }, { path: '/v1/customers', method: 'POST', times: 2 });
  t.deepEqual((await stripe.customers.list()).data, []);
  for (let i = 0; i < 2; i += 1) {
    const error = await t.throwsAsync<Stripe.errors.StripeError>(stripe.customers.create({}));
    t.is(error?.type, 'StripeRateLimitError');
  }
  await stripe.customers.create({});
  fake.fail({ status: 400 }, { times: 1_000 });
  fake.clearFaults();
  fake.fail('hang');
  const impatient = client(fake, { timeout: 100, maxNetworkRetries: 0 });
  const error = await t.throwsAsync<Stripe.errors.StripeError>(impatient.customers.list());
  t.is(error?.type, 'StripeConnectionError');
  t.deepEqual(
    fake.requests.map(({ method, status }) => `${method} ${status}`),
    ['GET 200', 'POST 429', 'POST 429', 'POST 200', 'GET dropped'],
  );
});

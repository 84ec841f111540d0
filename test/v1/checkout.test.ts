// POST /v1/checkout and GET /v1/billing/portal through a gateway: the charged price, no double purchases, and the owner of a portal.
import { exchange, lines } from '../gateway/raw.ts';
import test, { type ExecutionContext } from 'ava';
import { createLog } from '../../kernel/log/log.ts';
import { startPaying, type Paying } from '../billing/paying.ts';

let paying: Paying;
test.beforeEach(async () => {
  paying = await startPaying();
});
test.afterEach.always(() => paying.close());

interface Answered {
  status: number;
  json: unknown;
  headers: Headers;
  text: string;
}

const begin = (body: object, by: { key?: string; session?: string; idempotencyKey?: string } = {}) =>
  paying.services.call('/v1/checkout', {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      'content-type': 'application/json',
      ...(by.session === undefined ? {} : { 'x-session-token': by.session }),
      ...(by.idempotencyKey === undefined ? {} : { 'idempotency-key': by.idempotencyKey }),
    },
    ...(by.key === undefined ? {} : { key: by.key }),
  });

function urlOf(t: ExecutionContext, answer: Answered): string {
  t.is(answer.status, 200, answer.text);
  return (answer.json as { data: { url: string } }).data.url;
}
const codeOf = ({ status, json }: Answered) =>
  `${status} ${(json as { error?: { code: string } }).error?.code ?? ''}`;
/** The session of a Stripe page. */
const sessionOf = (url: string) => {
  const found = paying.fake.sessions().find((session) => session.url === url);
  if (found === undefined) throw new Error(`There is no session with the page ${url}.`);
  return found;
};
const customerIn = ({ customer }: { customer: unknown }) => (typeof customer === 'string' ? customer : '');
const open = () => paying.fake.sessions().filter(({ status }) => status === 'open');

test.serial(
  'an account buys a plan by its key: it pays the price of the plan, and the next call has the plan',
  async (t) => {
    const { accountId, key } = await paying.services.accountWithKey('free');
    const session = sessionOf(urlOf(t, await begin({ plan: 'pro', interval: 'year' }, { key })));
    t.like(session, { amount_total: 99_000, currency: 'usd', mode: 'subscription' });
    t.deepEqual(
      ((await paying.stripe.customers.retrieve(customerIn(session))) as { metadata?: object }).metadata,
      { account_id: accountId },
    );
    await (await fetch(`${paying.services.url}/billing/return?session_id=${session.id}&paid=true`)).text();
    await paying.checkSessions();
    await paying.deliverAndSync();
    t.is(await paying.entitlement(accountId), 'free none', 'the return page alone gives nothing');
    paying.fake.completeCheckout(session.id);
    await paying.deliverAndSync();
    t.is(await paying.entitlement(accountId), 'pro active');
    const { json } = await paying.services.call('/v1/account', { key });
    t.like((json as { data: object }).data, {
      plan: 'pro',
      subscription: { status: 'active', plan: 'pro', latest_invoice: { status: 'paid', currency: 'usd' } },
    });
  },
);

test.serial(
  'prices, plans and accounts of a request are refused where they are not for the client to say',
  async (t) => {
    const { key } = await paying.services.accountWithKey('free');
    const refused: object[] = [
      { plan: 'free' },
      { plan: 'enterprise' },
      { plan: 'gold' },
      { plan: 'pro', interval: 'week' },
      { plan: 'pro', price: 'price_cheap' },
      { plan: 'pro', amount: 1 },
      { plan: 'pro', customer: 'cus_other' },
      { plan: 'pro', email: 'other@example.org' },
      { plan: ['pro'] },
    ];
    for (const body of refused)
      t.is(codeOf(await begin(body, { key })), '400 invalid_body', JSON.stringify(body));
    t.is(codeOf(await begin({ plan: 'pro' })), '400 invalid_body');
    t.is(codeOf(await begin({ plan: 'pro', email: 'nobody' })), '400 invalid_body');
    t.is(codeOf(await begin({ plan: 'pro' }, { key: 'pk_live_nonsense' })), '401 unauthorized');
    t.deepEqual(paying.fake.sessions(), []);
  },
);

test.serial('a plan cannot be bought if its price at Stripe differs from the stated one', async (t) => {
  const { key } = await paying.services.accountWithKey('free');
  const id = paying.price('pro');
  for (const wrong of [{ unit_amount: 1 }, { currency: 'eur' }, { active: false }, { lookup_key: 'other' }]) {
    const before = { unit_amount: 9_900, currency: 'usd', active: true, lookup_key: 'almanac_pro_month' };
    paying.fake.override(id, wrong);
    t.is(codeOf(await begin({ plan: 'pro' }, { key })), '503 billing_not_configured', JSON.stringify(wrong));
    paying.fake.override(id, before);
  }
  urlOf(t, await begin({ plan: 'pro' }, { key }));
});

test.serial('twenty requests at once, and later ones, get one page of one customer', async (t) => {
  const { key } = await paying.services.accountWithKey('free');
  const answers = await Promise.all(Array.from({ length: 20 }, () => begin({ plan: 'pro' }, { key })));
  const urls = [...new Set(answers.map((answer) => urlOf(t, answer)))];
  t.is(urls.length, 1);
  t.is(urlOf(t, await begin({ plan: 'pro' }, { key })), urls[0] ?? '');
  t.is(paying.fake.sessions().length, 1);
  t.is(paying.fake.customers().length, 1);
});

test.serial('another plan closes the page of the first one, so that no two can be paid', async (t) => {
  const { key } = await paying.services.accountWithKey('free');
  const first = sessionOf(urlOf(t, await begin({ plan: 'starter' }, { key })));
  const second = sessionOf(urlOf(t, await begin({ plan: 'pro' }, { key })));
  t.is(paying.fake.session(first.id).status, 'expired');
  t.deepEqual(
    open().map(({ id }) => id),
    [second.id],
  );
  const answers = await Promise.all(
    ['starter', 'pro', 'starter', 'pro'].map((plan) => begin({ plan }, { key })),
  );
  for (const answer of answers) t.true([200, 409].includes(answer.status), answer.text);
  t.true(open().length <= 1, 'requests for two plans at once leave one page');
});

test.serial(
  'an account with a live subscription is sent to the portal, also before the event of its payment has come',
  async (t) => {
    const { accountId, key } = await paying.services.accountWithKey('free');
    const session = sessionOf(urlOf(t, await begin({ plan: 'pro' }, { key })));
    paying.fake.completeCheckout(session.id);
    t.is(codeOf(await begin({ plan: 'pro' }, { key })), '409 already_subscribed');
    t.is(codeOf(await begin({ plan: 'starter' }, { key })), '409 already_subscribed');
    await paying.sync(); // without an event: the request itself has requested a fetch of the customer
    t.is(await paying.entitlement(accountId), 'pro active');
    t.regex((await begin({ plan: 'pro' }, { key })).text, /GET \/v1\/billing\/portal/);
    const { id } = paying.fake.subscriptionsOf(customerIn(session))[0] ?? { id: '' };
    paying.fake.pause(id);
    await paying.deliverAndSync();
    t.is(
      codeOf(await begin({ plan: 'pro' }, { key })),
      '409 already_subscribed',
      'a paused one is charged again some day',
    );
    paying.fake.cancelNow(id);
    await paying.deliverAndSync();
    urlOf(t, await begin({ plan: 'pro' }, { key }));
    t.is(paying.fake.customers().length, 1);
  },
);

test.serial('a page that has expired is replaced by a new one', async (t) => {
  const { key } = await paying.services.accountWithKey('free');
  const first = sessionOf(urlOf(t, await begin({ plan: 'pro' }, { key })));
  await paying.fake.advance(23 * 60 * 60_000);
  t.is(paying.fake.session(first.id).status, 'expired');
  const second = sessionOf(urlOf(t, await begin({ plan: 'pro' }, { key })));
  t.not(second.id, first.id);
});

test.serial(
  'a purchase whose answer from Stripe was lost continues with the same page and the same customer',
  async (t) => {
    const { key } = await paying.services.accountWithKey('free');
    // Three times in a row, so that the Stripe client gives up and the request is answered 503.
    paying.fake.fail('drop-after', { times: 3, path: '/v1/checkout/sessions', method: 'POST' });
    t.is(codeOf(await begin({ plan: 'pro' }, { key })), '503 unavailable');
    paying.fake.fail({ status: 500, after: true }, { path: '/v1/checkout/sessions', method: 'POST' });
    urlOf(t, await begin({ plan: 'pro' }, { key }));
    t.is(paying.fake.sessions().length, 1);
    t.is(paying.fake.customers().length, 1);
  },
);

test.serial('a holder who is renamed after a lost answer of Stripe can still buy', async (t) => {
  const { accountId, key } = await paying.services.accountWithKey('free');
  for (const change of [{ name: 'New name' }, { email: 'new-address@example.org' }]) {
    paying.fake.fail('drop-after', { times: 3, path: '/v1/customers', method: 'POST' });
    t.is(codeOf(await begin({ plan: 'pro' }, { key })), '503 unavailable');
    await paying.services.accounts.db.accounts.update(change, { where: { id: accountId } });
  }
  const session = sessionOf(urlOf(t, await begin({ plan: 'pro' }, { key })));
  paying.fake.completeCheckout(session.id);
  await paying.deliverAndSync();
  t.is(await paying.entitlement(accountId), 'pro active');
});

test.serial(
  'with an Idempotency-Key a retry gets the same answer, also without an account; another body is refused',
  async (t) => {
    const { key } = await paying.services.accountWithKey('free');
    for (const [who, body] of [
      [{ key }, {}],
      [{}, { email: 'buyer@example.org' }],
    ] as const) {
      const by = { ...who, idempotencyKey: 'one' };
      const url = urlOf(t, await begin({ plan: 'pro', ...body }, by));
      t.is(urlOf(t, await begin({ plan: 'pro', ...body }, by)), url);
      t.is(codeOf(await begin({ plan: 'starter', ...body }, by)), '422 idempotency_mismatch');
      t.is(
        codeOf(await begin({ plan: 'pro', ...body }, { ...who, idempotencyKey: 'x'.repeat(256) })),
        '400 invalid_request',
      );
    }
    const other = urlOf(
      t,
      await begin({ plan: 'pro', email: 'third@example.org' }, { idempotencyKey: 'two' }),
    );
    t.is(open().length, 3);
    t.is(sessionOf(other).customer, null);
    t.not(
      urlOf(t, await begin({ plan: 'pro', email: 'other@example.org' }, { idempotencyKey: 'two' })),
      other,
      "another person's key is another key",
    );
  },
);

test.serial(
  'a retry with an Idempotency-Key gets an open page: a new one after a failure, and once the first has expired or was closed',
  async (t) => {
    const { key } = await paying.services.accountWithKey('free');
    const price = paying.price('pro');
    for (const [who, from] of [
      [{ key }, () => ({})],
      [{}, (idempotencyKey: string) => ({ email: `${idempotencyKey}@example.org` })],
    ] as const) {
      const retry = (idempotencyKey: string) =>
        begin({ plan: 'pro', ...from(idempotencyKey) }, { ...who, idempotencyKey });
      paying.fake.override(price, { active: false });
      t.is(codeOf(await retry('failed')), '503 billing_not_configured');
      paying.fake.override(price, { active: true });
      const failed = sessionOf(urlOf(t, await retry('failed')));
      await paying.stripe.checkout.sessions.expire(failed.id);
      const first = sessionOf(urlOf(t, await retry('late')));
      await paying.stripe.checkout.sessions.expire(first.id);
      const second = sessionOf(urlOf(t, await retry('late')));
      t.is(second.status, 'open');
      await paying.fake.advance(23 * 60 * 60_000);
      t.is(paying.fake.session(second.id).status, 'expired');
      t.is(sessionOf(urlOf(t, await retry('late'))).status, 'open');
    }
  },
);

test.serial('a retry of a paid purchase is refused, whatever became of its subscription', async (t) => {
  const { key } = await paying.services.accountWithKey('free');
  const retry = () => begin({ plan: 'pro' }, { key, idempotencyKey: 'paid' });
  const session = sessionOf(urlOf(t, await retry()));
  paying.fake.completeCheckout(session.id);
  t.is(codeOf(await retry()), '409 already_subscribed');
  await paying.deliverAndSync();
  t.is(codeOf(await retry()), '409 already_subscribed');
  paying.fake.cancelNow(
    paying.fake.subscriptionsOf(customerIn(paying.fake.session(session.id)))[0]?.id ?? '',
  );
  await paying.deliverAndSync();
  t.regex((await retry()).text, /is already paid. Use a new key/);
  urlOf(t, await begin({ plan: 'pro' }, { key, idempotencyKey: 'next' }));
});

test.serial(
  'without an account the answer is the same for known and unknown e-mail addresses, and their number is limited',
  async (t) => {
    await paying.services.accounts.db.accounts.update(
      { email: 'known@example.org' },
      { where: { id: (await paying.services.accountWithKey('pro')).accountId } },
    );
    const shape = (answer: Answered) => [answer.status, Object.keys((answer.json as { data: object }).data)];
    const known = await begin({ plan: 'pro', email: 'known@example.org' });
    const unknown = await begin({ plan: 'pro', email: 'unknown@example.org' });
    t.deepEqual(shape(known), shape(unknown));
    t.deepEqual(sessionOf(urlOf(t, known)).customer, null);
    for (const _again of [2, 3]) urlOf(t, await begin({ plan: 'pro', email: 'known@example.org' }));
    const refused = await begin({ plan: 'pro', email: 'known@example.org' });
    t.is(codeOf(refused), '429 rate_limited');
    t.truthy(refused.headers.get('retry-after'));
  },
);

test.serial(
  'the portal is a new page on each call, of the own customer alone, also while calls are refused',
  async (t) => {
    const [one, two, none] = [
      await paying.services.accountWithKey('free'),
      await paying.services.accountWithKey('free'),
      await paying.services.accountWithKey('free'),
    ];
    const portal = (key: string, query = '') => paying.services.call(`/v1/billing/portal${query}`, { key });
    for (const { key } of [one, two]) {
      paying.fake.completeCheckout(sessionOf(urlOf(t, await begin({ plan: 'pro' }, { key }))).id);
    }
    await paying.deliverAndSync();
    const [customerOfOne, customerOfTwo] = paying.fake.customers();
    const pages = [
      urlOf(t, await portal(one.key)),
      urlOf(t, await portal(one.key)),
      urlOf(t, await portal(two.key)),
    ];
    t.is(new Set(pages).size, 3);
    const ids = [customerOfOne, customerOfTwo].map(
      (customer) => paying.fake.subscriptionsOf(customer?.id ?? '')[0]?.id ?? '',
    );
    const shown = await Promise.all(pages.map(async (url) => (await fetch(url)).text()));
    t.deepEqual(
      shown.map((page) => ids.map((id) => page.includes(id))),
      [
        [true, false],
        [true, false],
        [false, true],
      ],
    );
    t.true(shown.every((page) => page.includes('/dashboard/billing?back=portal">Back</a>')));
    t.is(codeOf(await portal(one.key, `?customer=${customerOfTwo?.id}`)), '400 invalid_parameter');
    t.is(codeOf(await portal(none.key)), '404 not_found');
    t.is(codeOf(await paying.services.call('/v1/billing/portal')), '401 unauthorized');
    paying.fake.pause(paying.fake.subscriptionsOf(customerOfOne?.id ?? '')[0]?.id ?? '');
    await paying.deliverAndSync();
    t.is(await paying.calls(one.key), 402);
    urlOf(t, await portal(one.key));
  },
);

test.serial(
  'while Stripe is unavailable, buying and the portal are 503, and nothing remains that would block a later attempt',
  async (t) => {
    const { key } = await paying.services.accountWithKey('free');
    paying.fake.fail({ status: 500 }, { times: 3 });
    const answer = await begin({ plan: 'pro' }, { key });
    t.is(codeOf(answer), '503 unavailable');
    t.truthy(answer.headers.get('retry-after'));
    urlOf(t, await begin({ plan: 'pro' }, { key }));
  },
);

test.serial('a customer who was deleted at Stripe is created again', async (t) => {
  const { key } = await paying.services.accountWithKey('free');
  const session = sessionOf(urlOf(t, await begin({ plan: 'pro' }, { key })));
  await paying.stripe.checkout.sessions.expire(session.id);
  await paying.stripe.customers.del(customerIn(session));
  const next = sessionOf(urlOf(t, await begin({ plan: 'pro' }, { key })));
  t.not(next.customer, session.customer);
  t.is(next.status, 'open');
});

test.serial(
  'the portal omits a customer who was deleted at Stripe, even before an event reports it',
  async (t) => {
    const { accountId, key } = await paying.services.accountWithKey('free');
    const portal = () => paying.services.call('/v1/billing/portal', { key });
    const [first, second] = [await paying.customerOf(accountId), await paying.customerOf(accountId)];
    paying.fake.subscribe({ customer: first, price: paying.price('pro') });
    await paying.deliverAndSync();
    await paying.stripe.customers.del(first);
    const { host, pathname } = new URL(urlOf(t, await portal()));
    t.true(paying.fake.url.endsWith(host) && pathname.startsWith('/p/session/'));
    t.is(paying.fake.requests.at(-1)?.body.includes(`customer=${second}`), true);
    await paying.stripe.customers.del(second);
    t.is(codeOf(await portal()), '404 not_found');
  },
);

test.serial(
  'a request that Stripe refuses is 503, as the operator has to fix the settings, and the log has the reason',
  async (t) => {
    const lines: string[] = [];
    const log = createLog('all services', 'error', { write: (line) => void lines.push(line) });
    const own = await startPaying({ services: { log } });
    t.teardown(() => own.close());
    const { accountId, key } = await own.services.accountWithKey('free');
    await own.customerOf(accountId);
    await own.deliverAndSync();
    for (const status of [400, 403] as const) {
      own.fake.fail({ status }, { path: '/v1/billing_portal/' });
      t.is(codeOf(await own.services.call('/v1/billing/portal', { key })), '503 billing_not_configured');
      own.fake.fail({ status }, { path: '/v1/checkout/' });
      const bought = {
        method: 'POST',
        body: '{"plan":"pro"}',
        headers: { 'content-type': 'application/json' },
      };
      t.is(codeOf(await own.services.call('/v1/checkout', { ...bought, key })), '503 billing_not_configured');
    }
    const reasons = lines.map((line) => (JSON.parse(line) as { err: { type: string } }).err.type);
    const [invalid, forbidden] = ['StripeInvalidRequestError', 'StripePermissionError'];
    t.deepEqual(reasons, [invalid, invalid, forbidden, forbidden]);
  },
);

test.serial('without settings for Stripe, checkout and portal are 503, and the inbox is 404', async (t) => {
  const off = await startPaying({ services: { stripe: undefined } });
  const { key } = await off.services.accountWithKey('free');
  const body = { method: 'POST', body: '{"plan":"pro"}', headers: { 'content-type': 'application/json' } };
  t.is(codeOf(await off.services.call('/v1/checkout', { ...body, key })), '503 billing_not_configured');
  t.is(codeOf(await off.services.call('/v1/billing/portal', { key })), '503 billing_not_configured');
  t.is(codeOf(await off.services.call('/billing/stripe/events', body)), '404 not_found');
  const unread = lines(
    'POST /billing/stripe/events HTTP/1.1',
    'Host: a',
    'Connection: close',
    'Content-Length: 9',
  );
  t.is((await exchange(off.services.url, unread))[0]?.status, 404, 'before its body has come');
  await off.close();
});

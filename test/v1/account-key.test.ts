// GET /v1/account/key/{token} and the return page: a payer without an account gets one, and its first key once.
import { hash } from 'node:crypto';
import test from 'ava';
import { createAccount } from '../../accounts-api/operator/operator.ts';
import { billingFigures } from '../../accounts-api/billing/figures.ts';
import { syncDue } from '../billing/sync-due.ts';
import { createClient } from '../../clients/typescript/client.ts';
import {
  openPurchase,
  type PurchaseBrowser,
  type PurchaseView,
} from '../../dashboard/pages/account/billing/purchase-state.ts';
import { dayMs, startPaying, type Paying } from '../billing/paying.ts';
import { recordSecret } from '../run/traces.ts';
import { until } from '../run/until.ts';
import { mintMailToken } from '../../accounts-api/mail/mail-tokens.ts';
import { newPassword } from '../services/sign-in.ts';

let paying: Paying;
test.beforeEach(async () => {
  paying = await startPaying();
});
test.afterEach.always(() => paying.close());

let buyers = 0;
/** A purchase without an account, and the token behind the URL to which Stripe sends the browser back. */
async function begin(email = `buyer-${(buyers += 1)}@example.org`) {
  const { json } = await paying.services.call('/v1/checkout', {
    method: 'POST',
    body: JSON.stringify({ plan: 'starter', email }),
    headers: { 'content-type': 'application/json' },
  });
  const { url } = (json as { data: { url: string } }).data;
  const session = paying.fake.sessions().find((each) => each.url === url);
  const [, token = ''] =
    /^https:\/\/almanac\.example\/billing\/return#claim=([\w-]{43})$/.exec(session?.success_url ?? '') ?? [];
  return { email, session: session?.id ?? '', token: recordSecret(token) };
}
async function pay(paid: { session: string }, more: { paid?: boolean } = {}) {
  paying.fake.completeCheckout(paid.session, more);
  await paying.deliverAndSync();
}
const claim = (token: string, init: RequestInit = {}) =>
  paying.services.call(`/v1/account/key/${token}`, init);
const stateOf = async (token: string) => {
  const { json, status } = await paying.services.call('/v1/checkout/state', {
    method: 'POST',
    body: JSON.stringify({ token }),
    headers: { 'content-type': 'application/json' },
  });
  return status === 200 ? (json as { data: { state: string } }).data.state : String(status);
};
const codeOf = ({ status, json }: { status: number; json: unknown }) =>
  `${status} ${(json as { error?: { code: string } } | undefined)?.error?.code ?? ''}`;
const keyIn = ({ json }: { json: unknown }) => recordSecret((json as { data: { key: string } }).data.key);
const accountOf = (email: string) => paying.services.accounts.db.accounts.findOne({ where: { email } });

test.serial(
  'a payment creates the account of its e-mail address, and its first key is shown exactly once',
  async (t) => {
    const bought = await begin();
    t.is(await stateOf(bought.token), 'open');
    t.is(codeOf(await claim(bought.token)), '402 payment_required');
    t.is(await accountOf(bought.email), null, 'an e-mail address alone makes no account');
    await pay(bought);
    t.is(await stateOf(bought.token), 'key');
    const shown = await claim(bought.token);
    t.is(shown.status, 200, shown.text);
    t.is(shown.headers.get('cache-control'), 'no-store');
    t.is(shown.headers.get('referrer-policy'), 'no-referrer');
    const account = await accountOf(bought.email);
    t.like(account, {
      plan: 'starter',
      subscriptionState: 'active',
      emailVerifiedAt: null,
      passwordHash: null,
    });
    t.like((shown.json as { data: object }).data, { account: { id: account?.id, email: bought.email } });
    t.is(await paying.calls(keyIn(shown)), 404);
    t.is(codeOf(await claim(bought.token)), '410 gone');
    t.is(await stateOf(bought.token), 'claimed');
    t.is(await paying.calls(keyIn(shown)), 404);
  },
);

test.serial(
  'a stranger who has paid for an e-mail address loses the key and the webhooks once the mailbox is proved',
  async (t) => {
    const bought = await begin();
    await pay(bought);
    const key = keyIn(await claim(bought.token));
    const account = await accountOf(bought.email);
    if (account === null) throw new Error('There is no account.');
    const post = (path: string, body: object, by: { key?: string } = {}) =>
      paying.services.call(path, {
        ...{ method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
        ...by,
      });
    const { db } = paying.services.accounts;
    await db.accounts.update({ plan: 'pro' }, { where: { id: account.id } }); // a plan with webhooks
    const hook = { url: 'https://hooks.example.org/', events: ['subscription.updated'] };
    const made = await post('/v1/webhooks', hook, { key });
    t.is(made.status, 201, made.text);
    const { credentialVersion } = account;
    const about = { purpose: 'reset_password', signup_id: null, account_id: account.id } as const;
    const token = recordSecret(
      await mintMailToken(paying.services.accounts, { ...about, email: bought.email, credentialVersion }),
    );
    const reset = await post('/auth/set-password', { token, password: newPassword() });
    t.is(reset.status, 200, reset.text);
    t.is(await paying.calls(key), 401);
    t.is(await db.webhooks.count({ where: { accountId: account.id } }), 0);
    t.is((await accountOf(bought.email))?.subscriptionState, 'active', 'what is paid stays');
  },
);

test.serial('twenty claims at once give one key', async (t) => {
  const bought = await begin();
  await pay(bought);
  const answers = await Promise.all(Array.from({ length: 20 }, () => claim(bought.token)));
  t.deepEqual(answers.map(codeOf).sort(), ['200 ', ...Array.from({ length: 19 }, () => '410 gone')]);
  const account = await accountOf(bought.email);
  t.is(await paying.services.accounts.db.keys.count({ where: { accountId: account?.id ?? '' } }), 1);
});

test.serial('HEAD and a prefetch spend nothing', async (t) => {
  const bought = await begin();
  await pay(bought);
  const head = await claim(bought.token, { method: 'HEAD' });
  t.is(head.status, 405);
  for (const [name, value] of [
    ['purpose', 'prefetch'],
    ['sec-purpose', 'prefetch;prerender'],
    ['sec-purpose', 'prefetch'],
  ] as const) {
    t.is(codeOf(await claim(bought.token, { headers: { [name]: value } })), '403 forbidden', value);
  }
  t.is(await stateOf(bought.token), 'key');
  t.is((await claim(bought.token)).status, 200);
});

test.serial(
  'an unknown token is 404, that of an expired unpaid page 410, and a token ends an hour after the payment',
  async (t) => {
    const [unknown, late, unpaid] = ['x'.repeat(43), await begin(), await begin()];
    t.is(codeOf(await claim(unknown)), '404 not_found');
    t.is(await stateOf(unknown), '404');
    await pay(late);
    paying.clock.advance(60 * 60_000 - 1);
    t.is(await stateOf(late.token), 'key');
    paying.clock.advance(1);
    t.is(await stateOf(late.token), 'expired');
    t.is(codeOf(await claim(late.token)), '410 gone');
    await paying.fake.advance(24 * 60 * 60_000);
    t.is(codeOf(await claim(unpaid.token)), '410 gone');
  },
);

test.serial(
  'a pending payment creates no account; it does once it arrives, and does not if it fails',
  async (t) => {
    const [arrives, fails] = [await begin(), await begin()];
    for (const each of [arrives, fails]) await pay(each, { paid: false });
    t.is(await stateOf(arrives.token), 'open');
    t.is(codeOf(await claim(arrives.token)), '402 payment_required');
    t.deepEqual(
      await paying.rows('select id from accounts.billing_customers where parked_at is not null'),
      [],
    );
    paying.fake.resolveDelayedPayment(arrives.session, true);
    paying.fake.resolveDelayedPayment(fails.session, false);
    await paying.deliverAndSync();
    t.is((await claim(arrives.token)).status, 200);
    t.is(codeOf(await claim(fails.token)), '402 payment_required');
    t.is(await accountOf(fails.email), null);
  },
);

test.serial('the account has the e-mail address from Stripe, not the one in the request', async (t) => {
  const { id } = await createAccount(paying.services.accounts, {
    email: 'victim@example.org',
    plan: 'free',
  });
  const bought = await begin('victim@example.org');
  paying.fake.completeCheckout(bought.session);
  paying.fake.override(bought.session, { customer_details: { email: 'payer@example.org' } });
  await paying.deliverAndSync();
  t.is(await paying.entitlement(id), 'free none');
  t.is((await claim(bought.token)).status, 200);
  t.is((await accountOf('payer@example.org'))?.plan, 'starter');
});

test.serial(
  'a payer with an e-mail address that Stripe accepts but an account cannot have is reported once and waits until the operator names an account',
  async (t) => {
    const errors: object[] = [];
    const log = { ...paying.deps.log, error: (entry: object) => void errors.push(entry) };
    const sync = async () => {
      while ((await syncDue({ ...paying.deps, log })) > 0);
    };
    const bought = await begin();
    paying.fake.completeCheckout(bought.session);
    paying.fake.override(bought.session, { customer_details: { email: 'jörg@exämple.org' } });
    await paying.fake.deliverPending();
    await sync();
    const [customer = ''] = paying.fake.customers().map(({ id }) => id);
    const parked =
      'select id, failures, account_id as account from accounts.billing_customers where parked_at is not null';
    t.deepEqual(await paying.rows(parked), [{ id: customer, failures: 0, account: null }]);
    t.like(await billingFigures(paying.deps), { parked: 1, failing: 0, waiting: 0 });
    paying.clock.advance(dayMs);
    await sync();
    t.deepEqual(errors, [{ customer }]);

    const { id } = await createAccount(paying.services.accounts, {
      email: 'joerg@example.org',
      plan: 'free',
    });
    await paying.stripe.customers.update(customer, { metadata: { account_id: id } });
    paying.fake.override(customer, {}, 'customer.updated');
    await paying.deliverAndSync();
    t.is(await paying.entitlement(id), 'starter active');
    t.is(await stateOf(bought.token), 'account');
    t.deepEqual(await paying.rows(parked), []);
  },
);

test.serial('a purchase whose events never came is found by asking Stripe', async (t) => {
  const bought = await begin();
  paying.fake.completeCheckout(bought.session);
  paying.clock.advance(60 * 60_000);
  await paying.checkSessions();
  await paying.sync();
  t.is(await stateOf(bought.token), 'key');
});

test.serial('a payment by a slow method is awaited, but not for ever', async (t) => {
  const [late, never] = [await begin(), await begin()];
  for (const { session } of [late, never]) paying.fake.completeCheckout(session, { paid: false });
  const lookedAt = async (days: number) => {
    paying.clock.advance(days * dayMs);
    const { length } = paying.fake.requests;
    await paying.checkSessions();
    return paying.fake.requests.slice(length).filter(({ path }) => path.startsWith('/v1/checkout/')).length;
  };
  t.is(await lookedAt(60), 2);
  paying.fake.resolveDelayedPayment(late.session, true);
  t.is(await lookedAt(1), 2);
  await paying.sync();
  t.is(await stateOf(late.token), 'key');
  t.is(await lookedAt(1), 0);
});

test.serial(
  'neither the database nor any log reveals the token of a purchase, and its key is not stored',
  async (t) => {
    const bought = await begin();
    await pay(bought);
    keyIn(await claim(bought.token)); // recorded, so that the end of the run searches for both
    const rows = await paying.rows<{ all: string }>(
      'select json_agg(checkout)::text as all from accounts.checkouts as checkout',
    );
    t.false(rows[0]?.all.includes(bought.token));
    t.true(rows[0]?.all.includes(hash('sha256', bought.token)));
  },
);

/** The logic of the dashboard's return page, with only the browser functions that it needs. Tests in a real browser are in test/dashboard/. */
function openPage(url: string, storage = new Map<string, string>()) {
  const shown = { ...partsOf(url) };
  const asked: string[] = [];
  const views: PurchaseView[] = [];
  let later: (() => void) | undefined;
  const client = createClient({
    baseUrl: paying.services.url,
    fetch(target, init) {
      asked.push(new URL(target instanceof Request ? target.url : target).pathname);
      return fetch(target, init);
    },
  });
  const browser: PurchaseBrowser = {
    location: shown,
    history: {
      replaceState: (_state, _title, to) => Object.assign(shown, { pathname: to, search: '', hash: '' }),
    },
    storage: {
      getItem: (name) => storage.get(name) ?? null,
      setItem: (name, value) => void storage.set(name, value),
      removeItem: (name) => void storage.delete(name),
    },
    client,
    later(act) {
      later = act;
      return () => (later = undefined);
    },
  };
  const purchase = openPurchase(browser, (view) => views.push(view));
  return {
    ...{ shown, asked, storage, purchase },
    view: () => views.at(-1),
    /** Waits until the page shows this; its pauses between requests are skipped. */
    async until(is: PurchaseView['is']): Promise<void> {
      await until(`the page shows ${is}`, () => {
        later?.();
        later = undefined;
        return views.at(-1)?.is === is;
      });
    },
  };
}

const partsOf = (url: string) => {
  const { pathname, search, hash } = new URL(url);
  return { pathname, search, hash };
};

test.serial(
  'the return page waits for the payment, takes the token out of the URL, and shows the key when it is asked to',
  async (t) => {
    const bought = await begin();
    const { success_url: url } = paying.fake.session(bought.session);
    const page = openPage(`${url?.replace('#', '?session_id=cs_other&state=paid#')}`);
    t.is(`${page.shown.pathname}${page.shown.search}${page.shown.hash}`, '/billing/return');
    await page.until('open');
    await pay(bought);
    await page.until('key');
    t.false(
      page.asked.some((target) => target.startsWith('/v1/account/key/')),
      'no key before the button is pressed',
    );
    await page.purchase.claim();
    const view = page.view();
    t.is(await paying.calls(recordSecret(view?.is === 'shown' ? view.secret : '')), 404);
    t.is(page.storage.size, 0);
    const again = openPage(url ?? '');
    await again.until('claimed');
    t.is(again.storage.size, 0);
    t.is(openPage('https://almanac.example/billing/return?session_id=cs_1&paid=1').view()?.is, 'none');
    t.is(openPage('https://almanac.example/billing/return#cancelled').view()?.is, 'cancelled');
  },
);

test.serial(
  'a return page that is reloaded while it waits continues, and that of a cancelled purchase does not',
  async (t) => {
    const bought = await begin();
    const { success_url: url } = paying.fake.session(bought.session);
    const { storage } = openPage(url ?? '');
    const reloaded = openPage('https://almanac.example/billing/return', storage);
    await pay(bought);
    await reloaded.until('key');
    t.is(openPage('https://almanac.example/billing/return#cancelled', storage).view()?.is, 'cancelled');
  },
);

test.serial('of two pages that ask for the key, one shows it and the other says so', async (t) => {
  const bought = await begin();
  const { success_url: url } = paying.fake.session(bought.session);
  await pay(bought);
  const [one, other] = [openPage(url ?? ''), openPage(url ?? '')];
  await Promise.all([one.until('key'), other.until('key')]);
  await one.purchase.claim();
  await other.purchase.claim();
  const view = one.view();
  t.is(view?.is, 'shown');
  if (view?.is === 'shown') recordSecret(view.secret);
  t.is(other.view()?.is, 'claimed');
});

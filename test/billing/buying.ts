// Shared by the tests of purchases without a session: accounts in each state that a payment could harm, and payers without credentials.
import type { ExecutionContext } from 'ava';
import { QueryTypes } from 'sequelize';
import { setStatus } from '../../accounts-api/operator/account-access.ts';
import { openSession } from '../../accounts-api/sessions/sessions.ts';
import { recordSecret } from '../run/traces.ts';
import { newEmail, newIp } from '../services/sign-in.ts';
import type { Paying } from './paying.ts';

export interface HolderOf {
  accountId: string;
  email: string;
  key: string;
  /** Its own customer at Stripe. */
  subscription: string | null;
}
export interface Bought {
  email: string;
  session: string;
  /** The token of the return page. */
  token: string;
}

/** The states that an account can be in when a stranger pays with its e-mail address. */
export const states = [
  'free',
  'on a plan of the operator',
  'with a subscription that is active',
  'with a subscription that is on trial',
  'with a subscription that is past due',
  'with a subscription that is unpaid',
  'with a subscription that is paused',
  'with a subscription that is cancelled at the end of its period',
  'with a subscription whose first payment is under way',
  'with a subscription that has ended',
  'disabled',
  'whose mailbox is not proved',
  'that signs in with Google alone',
] as const;
export type State = (typeof states)[number];

export function buyingOf(paying: Paying) {
  const { services, fake } = paying;
  const { db } = services.accounts;
  const json = (body: object, more: { key?: string; headers?: Readonly<Record<string, string>> } = {}) => ({
    ...more,
    ...{ method: 'POST', body: JSON.stringify(body) },
    headers: { 'content-type': 'application/json', 'x-forwarded-for': newIp(), ...more.headers },
  });

  async function holder(state: State): Promise<HolderOf> {
    const plan = state === 'on a plan of the operator' ? 'enterprise' : 'free';
    const { accountId, key } = await services.accountWithKey(plan);
    const email = newEmail();
    await db.accounts.update({ email }, { where: { id: accountId } });
    const subscription = state.includes('subscription') ? await subscribe(accountId, state) : null;
    if (state === 'disabled') await setStatus(services.accounts, accountId, 'disabled');
    if (state === 'whose mailbox is not proved')
      await db.accounts.update({ emailVerifiedAt: null }, { where: { id: accountId } });
    if (state === 'that signs in with Google alone')
      await db.sequelize.query(
        `insert into accounts.identities (issuer, subject, account_id, email, created_at)
         values ('https://accounts.google.com', $1, $1, $2, now())`,
        { bind: [accountId, email], type: QueryTypes.RAW },
      );
    return { accountId, email, key, subscription };
  }

  async function subscribe(accountId: string, state: State): Promise<string> {
    const customer = await paying.customerOf(accountId);
    const { id } = fake.subscribe({
      ...{ customer, price: paying.price('pro'), paid: !state.includes('first payment') },
      ...(state.includes('trial') ? { trialDays: 7 } : {}),
    });
    if (state.includes('past due')) fake.failPayment(id);
    if (state.includes('unpaid')) {
      fake.failPayment(id);
      fake.override(id, { status: 'unpaid' }, 'customer.subscription.updated');
    }
    if (state.includes('paused')) fake.pause(id);
    if (state.includes('end of its period')) fake.cancelAtPeriodEnd(id);
    if (state.includes('ended')) fake.cancelNow(id);
    await paying.deliverAndSync();
    return id;
  }

  return {
    holder,
    json,
    /** Begins a purchase without a credential, and reads the token behind the URL to which Stripe sends the browser back. */
    async begin(email: string, plan = 'starter'): Promise<Bought> {
      const answer = await services.call('/v1/checkout', json({ plan, email }));
      const { url } = (answer.json as { data: { url: string } }).data;
      const session = fake.sessions().find((each) => each.url === url);
      const [, token = ''] = /#claim=([\w-]{43})$/.exec(session?.success_url ?? '') ?? [];
      return { email, session: session?.id ?? '', token: recordSecret(token) };
    },
    claim: (token: string) =>
      services.call(`/v1/account/key/${token}`, { headers: { 'x-forwarded-for': newIp() } }),
    async stateOf(token: string): Promise<string> {
      const { json: body, status } = await services.call('/v1/checkout/state', json({ token }));
      return status === 200 ? (body as { data: { state: string } }).data.state : String(status);
    },
    /** The account created by a purchase. */
    async accountOf({ session }: Bought): Promise<string> {
      const customer = fake.session(session).customer as string;
      const [row] = await paying.rows<{ id: string | null }>(
        'select account_id as id from accounts.billing_customers where id = $1',
        customer,
      );
      return row?.id ?? '';
    },
    /** The subscription at Stripe begun by a purchase. */
    subscriptionOf: ({ session }: Bought) => fake.session(session).subscription as string,
    /** The token of a new session of an account. */
    async sessionOf(accountId: string): Promise<string> {
      const clientInfo = { ip: '192.0.2.1', userAgent: 'Tests' };
      const { session_token: token } = await db.inTransaction((transaction) =>
        openSession(services.accounts, transaction, accountId, { clientInfo, how: 'password' }),
      );
      recordSecret(token.split('.')[1] ?? '');
      return token;
    },
    /** Everything that a payment could change in an account, here and at Stripe. */
    async snapshot({ accountId, key, subscription }: HolderOf): Promise<object> {
      const [account] = await paying.rows<object>('select * from accounts.accounts where id = $1', accountId);
      const [counts] = await paying.rows<object>(
        `select (select count(*)::int from accounts.api_keys where account_id = $1 and revoked_at is null) as keys,
                (select count(*)::int from accounts.audit_events where account_id = $1) as changes,
                (select count(*)::int from accounts.checkouts where account_id = $1) as checkouts,
                (select count(*)::int from events.outbox where account_id = $1) as events,
                (select array_agg(id order by id) from accounts.billing_customers where account_id = $1) as customers`,
        accountId,
      );
      const status = subscription === null ? null : fake.subscription(subscription).status;
      return { account, ...counts, status, calls: await paying.calls(key) };
    },
  };
}

/** The `data` of a successful answer. */
export function dataOf(
  t: ExecutionContext,
  answer: { status: number; json: unknown; text: string },
): unknown {
  t.is(answer.status, 200, answer.text);
  return (answer.json as { data: unknown }).data;
}

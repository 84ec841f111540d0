// The constraints of customers, subscriptions, events and checkouts, as cases.
import { at, hashes, ids, later, ofAccount, one, two, twoAccounts } from './account-rows.ts';
import { checksOf, hex, key, type TableCases } from './tables.ts';

/** An id of Stripe: its prefix, then letters and digits. */
function stripeIds(prefix: string) {
  return {
    accepted: [`${prefix}_a`, `${prefix}_Z9_b`, `${prefix}_${'a'.repeat(250)}`],
    refused: ['', `${prefix}_`, `${prefix}_${'a'.repeat(251)}`, `${prefix}_a-b`, `x${prefix}_a`, 'a'],
  };
}
const plans = { accepted: ['a', 'a-b_9', 'a'.repeat(32)], refused: ['', 'A', '9a', 'a b', 'a'.repeat(33)] };

const customer = { id: 'cus_a', created_at: at };
const twoCustomers = [
  `insert into accounts.billing_customers (id, created_at) values ('cus_a', '${at}'), ('cus_b', '${at}')`,
];

function customers(): TableCases {
  const is = checksOf('billing_customers');
  const { accepted, refused } = stripeIds('cus');
  return {
    table: 'accounts.billing_customers',
    before: twoAccounts,
    row: customer,
    defaults: { lease_no: 0, asked: 0, failures: 0 },
    cases: [
      key('billing_customers_pkey', ['id'], customer, { id: 'cus_b' }),
      ...is.pattern('id', accepted, refused),
      ...is.wholeFrom(0, 'failures'),
      ...is.textUpTo(500, 'last_error'),
      ...is.check('check', [{ account_id: one, parked_at: at }], [{ account_id: one }, { parked_at: at }]),
    ],
    references: [ofAccount('billing_customers', 'account_id', { account_id: one })],
  };
}

function subscriptions(): TableCases {
  const is = checksOf('subscriptions');
  const { accepted, refused } = stripeIds('sub');
  const row = { id: 'sub_a', customer_id: 'cus_a', status: 'active', price_id: 'price_a', created_at: at };
  return {
    table: 'accounts.subscriptions',
    before: twoCustomers,
    row,
    defaults: { failures_reported: 0 },
    cases: [
      key('subscriptions_pkey', ['id'], row, { id: 'sub_b' }),
      ...is.pattern('id', accepted, refused),
      ...is.text(64, 'status'),
      ...is.textUpTo(255, 'price_id'),
      ...is.pattern('plan', plans.accepted, plans.refused),
      ...is.pattern('invoice', ['{}', '{"a":1}'], ['[]', '"a"', '1', 'null']),
      ...is.wholeFrom(0, 'failures_reported'),
      ...is.check(
        'check',
        [{ status: 'past_due' }, { grace_ends_at: at }],
        [{ status: 'past_due', grace_ends_at: at }, { status: 'active' }],
      ),
    ],
    references: [
      {
        constraint: 'subscriptions_customer_id_fkey',
        refused: { customer_id: 'cus_c' },
        deleteParent: `delete from accounts.billing_customers where id = 'cus_a'`,
        outcome: 'the row goes too',
      },
    ],
  };
}

function events(): TableCases {
  const is = checksOf('stripe_events');
  const { accepted, refused } = stripeIds('evt');
  const row = { id: 'evt_a', type: 'a', created_at: at, received_at: at };
  return {
    table: 'accounts.stripe_events',
    row,
    needs: { handled_at: at },
    filled: ['event_no'],
    cases: [
      key('stripe_events_pkey', ['id'], { ...row, handled_at: at }, { id: 'evt_b' }),
      key(
        'stripe_events_event_no_key',
        ['event_no'],
        { ...row, handled_at: at, event_no: '1000' },
        { id: 'evt_b', event_no: '1001' },
      ),
      ...is.pattern('id', accepted, refused),
      ...is.text(128, 'type'),
      ...is.textUpTo(255, 'customer_id'),
      ...is.check(
        'check',
        [{ customer_id: null, handled_at: null }],
        [{ customer_id: 'cus_a', handled_at: null }, { handled_at: at }],
      ),
    ],
  };
}

function checkouts(): TableCases {
  const is = checksOf('checkouts');
  const [first, second] = ['a', 'b'].map((letter) => `chk_${letter.repeat(20)}`) as [string, string];
  const bare = {
    ...{ id: first, plan: 'pro', billing_interval: 'month', claim_hash: hex('0') },
    ...{ created_at: at, expires_at: later },
  };
  const row = { ...bare, email: 'a@b' };
  const made = { session_id: 'cs_a', url: 'https://a' };
  const other = { id: second, claim_hash: hex('1'), account_id: two };
  const { accepted, refused } = ids('chk_', 20);
  return {
    table: 'accounts.checkouts',
    before: twoAccounts,
    row: bare,
    needs: { email: 'a@b' },
    defaults: { has_key: false },
    cases: [
      key('checkouts_pkey', ['id'], row, other),
      key('checkouts_claim_hash_key', ['claim_hash'], row, other),
      key(
        'checkouts_request_hash_key',
        ['request_hash'],
        { ...row, request_hash: hex('2') },
        { ...other, request_hash: hex('3') },
      ),
      key(
        'checkouts_session_id_key',
        ['session_id'],
        { ...row, ...made },
        { ...other, ...made, session_id: 'cs_b' },
      ),
      {
        constraint: 'checkouts_open',
        existing: { ...row, account_id: one },
        refused: [{ ...other, account_id: one }],
        accepted: [other, { ...other, account_id: one, closed_at: at }],
      },
      ...is.pattern('id', accepted, refused),
      ...is.pattern('email', ['a@b', 'é'.repeat(254)], ['', 'a@', 'a'.repeat(255)]),
      ...is.pattern('plan', plans.accepted, plans.refused),
      ...is.oneOf('billing_interval', 'month', 'year'),
      ...is.pattern(['claim_hash', 'request_hash'], hashes.accepted, hashes.refused),
      {
        constraint: 'checkouts_session_id_check',
        refused: [{ ...made, session_id: 'a'.repeat(256) }],
        accepted: [{ ...made, session_id: 'a'.repeat(255) }],
      },
      {
        constraint: 'checkouts_url_check',
        refused: [{ ...made, url: 'a'.repeat(5001) }],
        accepted: [{ ...made, url: 'a'.repeat(5000) }],
      },
      ...is.check('check', [{ expires_at: at }], [{ expires_at: later }]),
      ...is.check('check1', [{ claimed_at: at }], [{ claimed_at: at, has_key: 'true', paid_at: at }]),
      ...is.check('check2', [{ session_id: 'cs_a' }, { url: 'https://a' }], [made, {}]),
      ...is.check('check3', [{ has_key: 'true' }], [{ has_key: 'true', paid_at: at }, { paid_at: at }]),
      ...is.check('check4', [{ email: null }], [{ email: null, account_id: one }]),
    ],
    references: [ofAccount('checkouts', 'account_id', { account_id: one })],
  };
}

export const billingTables: readonly TableCases[] = [customers(), subscriptions(), events(), checkouts()];

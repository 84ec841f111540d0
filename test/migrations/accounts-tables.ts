// The constraints of accounts, keys, months and the ledger, as cases.
import { argon, at, hashes, ids, later, ofAccount, one, two, twoAccounts } from './account-rows.ts';
import { checksOf, fromMonthStart, hex, key, type TableCases } from './tables.ts';

const gateway = '10000000-0000-4000-8000-000000000000';
const otherGateway = '20000000-0000-4000-8000-000000000000';
const twoLives = [gateway, otherGateway].map(
  (life) => `insert into accounts.gateways (life, seen, leased_until) values ('${life}', 0, now())`,
);

function accounts(): TableCases {
  const is = checksOf('accounts');
  const row = { id: one, email: 'one@example.org', plan: 'free', created_at: at };
  const other = { id: two, email: 'two@example.org' };
  const id = ids('acct_', 20);
  return {
    table: 'accounts.accounts',
    row,
    defaults: {
      status: 'active',
      subscription_state: 'none',
      credential_version: 1,
      mails_usage: true,
      mails_key_expiry: true,
      email_signs_in: true,
    },
    cases: [
      key('accounts_pkey', ['id'], row, other),
      {
        ...key('accounts_email', ['email'], row, other),
        refused: ['one@example.org', 'ONE@example.ORG'].map((email) => ({ ...other, email })),
      },
      ...is.pattern('id', id.accepted, id.refused),
      ...is.pattern(
        'email',
        ['a@b', `${'a'.repeat(252)}@b`],
        ['', 'a@', '@b', 'a b@c', 'a@b@c', 'a\n@b', `${'a'.repeat(253)}@b`],
      ),
      ...is.text(100, 'name'),
      ...is.pattern('plan', ['a', 'a-b_9', 'a'.repeat(32)], ['', 'A', '9a', '-a', 'a b', 'a'.repeat(33)]),
      ...is.oneOf('status', 'active', 'disabled'),
      ...is.oneOf('role', 'operator'),
      ...is.oneOf('subscription_state', 'none', 'active', 'inactive'),
      ...is.pattern('password_hash', [argon], ['', '$argon2i$a', 'secret', ` ${argon}`]),
      ...is.wholeFrom(1, 'credential_version'),
      ...is.pattern(
        'plan_set_aside',
        ['a', 'a-b_9', 'a'.repeat(32)],
        ['', 'A', '9a', '-a', 'a b', 'a'.repeat(33)],
      ),
      ...is.check(
        'unproved_check',
        [
          { email_signs_in: 'false', email_verified_at: at },
          { email_signs_in: 'false', password_hash: argon },
          { email_signs_in: 'false', role: 'operator' },
        ],
        [{ email_signs_in: 'false' }, { email_verified_at: at, password_hash: argon }],
      ),
    ],
  };
}

function apiKeys(): TableCases {
  const is = checksOf('api_keys');
  const [first, second] = ['a', 'b'].map((letter) => `key_${letter.repeat(20)}`) as [string, string];
  const row = {
    id: first,
    account_id: one,
    name: 'first',
    hash: hex('0'),
    mask: 'pk_live_…',
    created_at: at,
  };
  const slotted = { ...row, slot: '1' };
  const other = { id: second, account_id: two, hash: hex('1'), slot: '2' };
  const previous = { previous_hash: hex('2'), previous_mask: 'pk_live_…', previous_until: at };
  const id = ids('key_', 20);
  return {
    table: 'accounts.api_keys',
    before: twoAccounts,
    row,
    needs: { slot: '1' },
    defaults: { scopes: ['data', 'read', 'manage'] },
    cases: [
      key('api_keys_pkey', ['id'], slotted, other),
      key('api_keys_hash_key', ['hash'], slotted, other),
      key('api_keys_account_id_slot_key', ['account_id', 'slot'], slotted, other),
      key(
        'api_keys_previous_hash_key',
        ['previous_hash'],
        { ...slotted, ...previous },
        { ...other, ...previous, previous_hash: hex('3') },
      ),
      ...is.pattern('id', id.accepted, id.refused),
      {
        constraint: 'api_keys_previous_hash_check',
        refused: hashes.refused.map((hash) => ({ ...previous, previous_hash: hash })),
        accepted: hashes.accepted.map((hash) => ({ ...previous, previous_hash: hash })),
      },
      {
        constraint: 'api_keys_previous_mask_check',
        refused: [{ ...previous, previous_mask: 'x'.repeat(33) }],
        accepted: [{ ...previous, previous_mask: 'x'.repeat(32) }],
      },
      {
        constraint: 'api_keys_previous',
        refused: [
          { ...previous, previous_hash: null },
          { ...previous, previous_mask: null },
          { ...previous, previous_until: null },
        ],
        accepted: [previous],
      },
      ...is.text(100, 'name'),
      ...is.pattern('hash', hashes.accepted, hashes.refused),
      ...is.textUpTo(32, 'mask'),
      ...is.whole(1, 3, 'slot'),
      {
        constraint: 'api_keys_scopes',
        refused: [{ scopes: '{}' }, { scopes: '{data,all}' }],
        accepted: [{ scopes: '{read}' }, { scopes: '{manage,data}' }],
      },
      ...is.check(
        'addresses_check',
        [{ addresses: '{}' }, { addresses: `{${Array(21).fill('192.0.2.1').join()}}` }],
        [{ addresses: '{192.0.2.0/24}' }, { addresses: `{${Array(20).fill('192.0.2.1').join()}}` }],
      ),
      ...is.check(
        'as_of_check',
        [
          { as_of: '1899-12-31', scopes: '{data}' },
          { as_of: 'infinity', scopes: '{data}' },
        ],
        [{ as_of: '1900-01-01', scopes: '{data}' }],
      ),
      {
        constraint: 'api_keys_pinned',
        refused: [{ as_of: '2020-01-01' }, { as_of: '2020-01-01', scopes: '{data,read}' }],
        accepted: [{ as_of: '2020-01-01', scopes: '{data}' }],
      },
      ...is.check('check', [{ expires_at: at }], [{ expires_at: later }, { expires_at: null }]),
      ...is.check('check1', [{ revoked_at: at, slot: '1' }], [{ revoked_at: at, slot: null }]),
      ...is.check(
        'check2',
        [{ slot: null }],
        [
          { slot: null, revoked_at: at },
          { slot: null, expires_at: later },
        ],
      ),
    ],
    references: [ofAccount('api_keys')],
  };
}

function months(): TableCases[] {
  const quota = checksOf('quota_months');
  const quotaRow = { account_id: one, month: '2026-11-01' };
  const blocks = checksOf('quota_blocks');
  const block = { ...quotaRow, life: gateway };
  const thresholds = checksOf('usage_thresholds');
  const threshold = { ...quotaRow, calls_month: '10', percent: '50', served: '5', reached_at: at };
  const other = { account_id: two, month: '2026-12-01' };
  return [
    {
      table: 'accounts.quota_months',
      before: twoAccounts,
      row: quotaRow,
      defaults: { used: 0, served: 0, out: 0 },
      cases: [
        key('quota_months_pkey', ['account_id', 'month'], quotaRow, other),
        ...quota.pattern('month', fromMonthStart.accepted, fromMonthStart.refused),
        ...quota.wholeFrom(0, 'used', 'served', 'out'),
      ],
      references: [ofAccount('quota_months')],
    },
    {
      table: 'accounts.quota_blocks',
      before: [...twoAccounts, ...twoLives],
      row: block,
      defaults: { granted: 0, spent: 0, returned: 0, recalled: false },
      cases: [
        key('quota_blocks_pkey', ['account_id', 'month', 'life'], block, { ...other, life: otherGateway }),
        ...blocks.pattern('month', fromMonthStart.accepted, fromMonthStart.refused),
        { constraint: 'quota_blocks_spent_check', refused: [{ spent: '-1' }], accepted: [] },
        { constraint: 'quota_blocks_returned_check', refused: [{ returned: '-1' }], accepted: [] },
        ...blocks.check(
          'out_check',
          [{ spent: '1' }, { returned: '1' }, { granted: '2', spent: '1', returned: '2' }],
          [{ granted: '3', spent: '1', returned: '2' }],
        ),
      ],
      references: [
        ofAccount('quota_blocks'),
        {
          constraint: 'quota_blocks_life_fkey',
          refused: { life: '30000000-0000-4000-8000-000000000000' },
          deleteParent: `delete from accounts.gateways where life = '${gateway}'`,
          outcome: 'it is refused',
        },
      ],
    },
    {
      table: 'accounts.usage_thresholds',
      before: twoAccounts,
      row: threshold,
      cases: [
        key('usage_thresholds_pkey', ['account_id', 'month', 'calls_month', 'percent'], threshold, {
          ...other,
          calls_month: '20',
          percent: '80',
        }),
        ...thresholds.pattern('month', fromMonthStart.accepted, fromMonthStart.refused),
        ...thresholds.wholeFrom(1, 'calls_month'),
        ...thresholds.pattern('percent', ['50', '80', '100'], ['0', '49', '51', '99', '101']),
      ],
      references: [ofAccount('usage_thresholds')],
    },
  ];
}

function ledger(): TableCases[] {
  const usage = checksOf('usage_daily');
  const entry = {
    ...{ account_id: one, day: '2026-11-20', key_id: 'k', endpoint: 'series', status_class: '2' },
    ...{ calls: '1', billed: '1' },
  };
  const audit = checksOf('audit_events');
  const event = { at, account_id: one, actor_kind: 'operator', action: 'key.created', subject: one };
  const longest = JSON.stringify({ a: 'b'.repeat(4_000 - '{"a": ""}'.length) });
  const kinds = (kind: string, actor: string | null) => ({ actor_kind: kind, actor_id: actor });
  return [
    {
      table: 'accounts.usage_daily',
      row: entry,
      cases: [
        key('usage_daily_pkey', ['account_id', 'day', 'key_id', 'endpoint', 'status_class'], entry, {
          ...{ account_id: two, day: '2026-11-21', key_id: 'l', endpoint: 'funds', status_class: '4' },
        }),
        ...usage.textUpTo(64, 'account_id', 'key_id'),
        ...usage.text(64, 'endpoint'),
        ...usage.whole(1, 5, 'status_class'),
        // No count that is below zero has a bill that fits it.
        { constraint: 'usage_daily_calls_check', refused: [], accepted: [{ calls: '0', billed: '0' }] },
        ...usage.check(
          'check',
          [
            { calls: '1', billed: '2' },
            { calls: '1', billed: '-1' },
          ],
          [
            { calls: '1', billed: '0' },
            { calls: '2', billed: '2' },
          ],
        ),
      ],
    },
    {
      table: 'accounts.settled_batches',
      row: { batch_id: '00000000-0000-4000-8000-000000000001', at },
      cases: [
        key(
          'settled_batches_pkey',
          ['batch_id'],
          { batch_id: '00000000-0000-4000-8000-000000000001' },
          { batch_id: '00000000-0000-4000-8000-000000000002' },
        ),
      ],
    },
    {
      table: 'accounts.audit_events',
      row: event,
      defaults: { detail: {} },
      filled: ['event_no'],
      cases: [
        key('audit_events_pkey', ['event_no'], { event_no: '1000' }, { event_no: '1001' }),
        ...audit.textUpTo(64, 'account_id', 'subject'),
        {
          constraint: 'audit_events_actor_kind_check',
          refused: [kinds('robot', 'a'), kinds('', 'a'), kinds('Key', 'a')],
          accepted: [
            kinds('key', 'a'),
            kinds('session', 'a'),
            kinds('operator', null),
            kinds('visitor', null),
            kinds('system', null),
            kinds('stripe', null),
          ],
        },
        {
          constraint: 'audit_events_actor_id_check',
          refused: [kinds('key', 'é'.repeat(65))],
          accepted: [kinds('key', 'é'.repeat(64))],
        },
        ...audit.check(
          'check',
          [
            kinds('key', null),
            kinds('session', null),
            kinds('visitor', 'a'),
            kinds('system', 'a'),
            kinds('stripe', 'a'),
          ],
          [kinds('key', 'a'), kinds('visitor', null), kinds('operator', 'a'), kinds('operator', null)],
        ),
        ...audit.pattern(
          'action',
          ['a.b', 'key.is_made'],
          ['', 'key', 'key.', '.a', 'Key.a', 'a.b.c', 'a_b.c'],
        ),
        ...audit.pattern('detail', ['{"a":1}', longest], [longest.replace('b', 'bb')]),
      ],
    },
  ];
}

function rest(): TableCases[] {
  const is = checksOf('idempotency_keys');
  const row = {
    ...{ account_id: one, route: 'POST /v1/keys', key_hash: hex('0'), request_hash: hex('0') },
    claimed_at: at,
  };
  return [
    {
      table: 'accounts.idempotency_keys',
      before: twoAccounts,
      row,
      cases: [
        key('idempotency_keys_pkey', ['account_id', 'route', 'key_hash'], row, {
          ...{ account_id: two, route: 'POST /v1/other', key_hash: hex('1') },
        }),
        ...is.textUpTo(64, 'route'),
        ...is.textOf(64, 'key_hash', 'request_hash'),
        ...is.check('check', [{ status: '201' }, { answer: '{}' }], [{ status: '201', answer: '{}' }]),
      ],
      references: [ofAccount('idempotency_keys')],
    },
    {
      table: 'accounts.change_counter',
      before: ['delete from accounts.change_counter'], // the one row that the migration makes
      row: {},
      defaults: { one: true, no: 0, forgotten: 0 },
      cases: [
        { constraint: 'change_counter_pkey', existing: {}, refused: [{}], accepted: [] },
        { constraint: 'change_counter_one_check', refused: [{ one: 'false' }], accepted: [{ one: 'true' }] },
        ...checksOf('change_counter').wholeFrom(0, 'no', 'forgotten'),
      ],
    },
    {
      table: 'accounts.changes',
      row: { no: '1', account_id: one, at },
      cases: [
        key('changes_pkey', ['no'], { no: '1' }, { no: '2' }),
        ...checksOf('changes').textUpTo(64, 'account_id'),
      ],
    },
    {
      table: 'accounts.gateways',
      row: { life: gateway, seen: '0', leased_until: at },
      cases: [
        key('gateways_pkey', ['life'], { life: gateway }, { life: otherGateway }),
        ...checksOf('gateways').wholeFrom(0, 'seen'),
      ],
    },
  ];
}

export const accountsTables: readonly TableCases[] = [
  accounts(),
  apiKeys(),
  ...months(),
  ...ledger(),
  ...rest(),
];

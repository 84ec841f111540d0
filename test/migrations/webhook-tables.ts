// The constraints of webhooks, their messages and attempts, and of follows, as cases.
import { at, ids, later, ofAccount, one, two, twoAccounts } from './account-rows.ts';
import { checksOf, key, type Row, type TableCases } from './tables.ts';

const [firstWebhook, secondWebhook] = ['a', 'b'].map((letter) => `wh_${letter.repeat(20)}`) as [
  string,
  string,
];
const [firstEvent, secondEvent] = ['a', 'b'].map((letter) => `evt_${letter.repeat(20)}`) as [string, string];
const [firstMessage, secondMessage] = ['a', 'b'].map((letter) => `msg_${letter.repeat(20)}`) as [
  string,
  string,
];
const list = (count: number) => `{${Array.from({ length: count }, (_, i) => `S${i}`).join(',')}}`;

function webhooks(): TableCases {
  const is = checksOf('webhooks');
  const row = {
    ...{
      id: firstWebhook,
      account_id: one,
      slot: '1',
      url: 'https://a',
      events: '{key.created}',
      secret: 's',
    },
    created_at: at,
  };
  const id = ids('wh_', 20);
  const urlOf = (length: number) => ({ url: `https://${'a'.repeat(length - 8)}` });
  return {
    table: 'accounts.webhooks',
    before: twoAccounts,
    row,
    cases: [
      key('webhooks_pkey', ['id'], row, { id: secondWebhook, account_id: two, slot: '2' }),
      key('webhooks_account_id_slot_key', ['account_id', 'slot'], row, {
        ...{ id: secondWebhook, account_id: two, slot: '2' },
      }),
      ...is.pattern('id', id.accepted, id.refused),
      ...is.whole(1, 10, 'slot'),
      {
        constraint: 'webhooks_url_check',
        refused: [urlOf(2049), { url: 'ftp://a' }, { url: 'a' }, { url: ' https://a' }],
        accepted: [urlOf(2048), { url: 'http://a' }],
      },
      ...is.text(200, 'description'),
      ...is.textUpTo(200, 'secret'),
      {
        constraint: 'webhooks_previous_secret_check',
        refused: [{ previous_secret: 'é'.repeat(201), previous_secret_until: at }],
        accepted: [{ previous_secret: 'é'.repeat(200), previous_secret_until: at }],
      },
      ...is.pattern('events', ['{a}', list(30)], ['{}']),
      ...is.pattern('series', ['{a}', list(100)], ['{}', list(101)]),
      ...is.check(
        'previous_secret',
        [{ previous_secret: 's' }, { previous_secret_until: at }],
        [{ previous_secret: 's', previous_secret_until: at }],
      ),
      {
        constraint: 'webhooks_disabled_because_check',
        refused: ['other', ''].map((because) => ({ disabled_at: at, disabled_because: because })),
        accepted: ['asked', 'failing', 'gone'].map((because) => ({
          disabled_at: at,
          disabled_because: because,
        })),
      },
      ...is.check(
        'disabled',
        [{ disabled_at: at }, { disabled_because: 'gone' }],
        [{ disabled_at: at, disabled_because: 'gone' }],
      ),
      ...is.check(
        'failing',
        [{ failing_since: at }, { last_failed_at: at }],
        [{ failing_since: at, last_failed_at: later }],
      ),
      {
        constraint: 'webhooks_sender_check',
        refused: [{ sender: 'é'.repeat(41), sender_until: at }],
        accepted: [{ sender: 'é'.repeat(40), sender_until: at }],
      },
      ...is.check('sender', [{ sender: 's' }, { sender_until: at }], [{ sender: 's', sender_until: at }]),
    ],
    references: [ofAccount('webhooks')],
  };
}

const twoWebhooks = [
  ...twoAccounts,
  `insert into accounts.webhooks (id, account_id, slot, url, events, secret, created_at)
   select id, '${one}', slot, 'https://a', '{key.created}', 's', '${at}'
   from (values ('${firstWebhook}', 1), ('${secondWebhook}', 2)) as webhook(id, slot)`,
  `insert into accounts.webhook_events (id, at, body)
   values ('${firstEvent}', '${at}', '{}'), ('${secondEvent}', '${at}', '{}')`,
];
const message: Row = {
  ...{
    id: firstMessage,
    webhook_id: firstWebhook,
    event_id: firstEvent,
    type: 'key.created',
    created_at: at,
  },
};

function messages(): TableCases {
  const is = checksOf('webhook_messages');
  const id = ids('msg_', 20);
  const other = { id: secondMessage, webhook_id: secondWebhook, event_id: secondEvent };
  return {
    table: 'accounts.webhook_messages',
    before: twoWebhooks,
    row: message,
    needs: { due_at: at },
    defaults: { status: 'pending', attempts: 0, failures: 0 },
    cases: [
      key('webhook_messages_pkey', ['id'], message, other),
      key('webhook_messages_event_id_webhook_id_key', ['event_id', 'webhook_id'], message, other),
      ...is.pattern('id', id.accepted, id.refused),
      {
        // A status that is unknown has no due_at that fits it: `due` would refuse it, too.
        constraint: 'webhook_messages_status_check',
        refused: [{ status: 'other', due_at: null }],
        accepted: [
          { status: 'pending' },
          { status: 'delivered', due_at: null },
          { status: 'failed', due_at: null },
        ],
      },
      ...is.wholeFrom(0, 'attempts', 'failures'),
      ...is.check(
        'due',
        [{ due_at: null }, { status: 'delivered' }, { status: 'failed' }],
        [{ due_at: later }],
      ),
    ],
    references: [
      {
        constraint: 'webhook_messages_event_id_fkey',
        refused: { event_id: `evt_${'c'.repeat(20)}` },
        deleteParent: `delete from accounts.webhook_events where id = '${firstEvent}'`,
        outcome: 'the row goes too',
      },
    ],
  };
}

function attempts(): TableCases {
  const is = checksOf('webhook_attempts');
  const row = { message_id: firstMessage, attempt: '1', at, latency_ms: '0' };
  return {
    table: 'accounts.webhook_attempts',
    before: [
      ...twoWebhooks,
      `insert into accounts.webhook_messages (id, webhook_id, event_id, type, created_at, due_at)
       values ('${firstMessage}', '${firstWebhook}', '${firstEvent}', 'key.created', '${at}', '${at}'),
              ('${secondMessage}', '${secondWebhook}', '${firstEvent}', 'key.created', '${at}', '${at}')`,
    ],
    row,
    needs: { status: '200' },
    cases: [
      key('webhook_attempts_pkey', ['message_id', 'attempt'], row, {
        message_id: secondMessage,
        attempt: '2',
      }),
      ...is.wholeFrom(1, 'attempt'),
      ...is.wholeFrom(0, 'latency_ms'),
      ...is.whole(100, 999, 'status'),
      {
        constraint: 'webhook_attempts_error_check',
        refused: [{ status: null, error: 'é'.repeat(41) }],
        accepted: [{ status: null, error: 'é'.repeat(40) }],
      },
      ...is.textUpTo(1024, 'response'),
      ...is.check('check', [{ error: 'timeout' }, { status: null }], [{ status: null, error: 'timeout' }]),
    ],
    references: [
      {
        constraint: 'webhook_attempts_message_id_fkey',
        refused: { message_id: `msg_${'c'.repeat(20)}` },
        deleteParent: `delete from accounts.webhook_messages where id = '${firstMessage}'`,
        outcome: 'the row goes too',
      },
    ],
  };
}

const eventId = ids('evt_', 20);
const event = { id: firstEvent, at, body: '{}' };

const [firstFollow, secondFollow] = ['a', 'b'].map((letter) => `flw_${letter.repeat(20)}`) as [
  string,
  string,
];

function follows(): TableCases {
  const is = checksOf('follows');
  const row = {
    ...{ id: firstFollow, account_id: one, kind: 'series', subject: 'CPI', mode: 'at_once' },
    ...{ created_at: at, place: '0' },
  };
  const other = { ...row, id: secondFollow, account_id: two, kind: 'source', subject: 'Tests' };
  const id = ids('flw_', 20);
  return {
    table: 'accounts.follows',
    before: twoAccounts,
    row,
    cases: [
      key('follows_pkey', ['id'], row, other),
      key('follows_account_id_kind_subject_key', ['account_id', 'kind', 'subject'], row, other),
      ...is.pattern('id', id.accepted, id.refused),
      ...is.oneOf('kind', 'series', 'source', 'search'),
      ...is.text(500, 'subject'),
      ...is.oneOf('mode', 'at_once', 'daily'),
      ...is.wholeFrom(0, 'place'),
    ],
    references: [ofAccount('follows')],
  };
}

export const webhookTables: readonly TableCases[] = [
  webhooks(),
  {
    table: 'accounts.webhook_events',
    row: event,
    cases: [
      key('webhook_events_pkey', ['id'], event, { id: secondEvent }),
      ...checksOf('webhook_events').pattern('id', eventId.accepted, eventId.refused),
    ],
  },
  messages(),
  attempts(),
  follows(),
  {
    table: 'accounts.follow_reader',
    before: ['delete from accounts.follow_reader'], // the one row that the migration makes
    row: {},
    defaults: { one: true, place: 0 },
    cases: [
      { constraint: 'follow_reader_pkey', existing: {}, refused: [{}], accepted: [] },
      { constraint: 'follow_reader_one_check', refused: [{ one: 'false' }], accepted: [{ one: 'true' }] },
      ...checksOf('follow_reader').wholeFrom(0, 'place'),
    ],
  },
];

// /v1/webhooks: at most ten endpoints per account; a secret is shown once, and no other account sees an endpoint.
import test from 'ava';
import { QueryTypes } from 'sequelize';
import { createSecrets } from '../../accounts-api/secrets.ts';
import type { WebhookRecord } from '../../accounts-api/webhooks/webhook-fields.ts';
import { createLog } from '../../kernel/log/log.ts';
import { setPlan } from '../../accounts-api/operator/operator.ts';
import { holdersOf } from '../auth/holders.ts';
import {
  assertError,
  dataOf,
  startAccountsService,
  type AccountsService,
  type Client,
} from '../services/accounts-service.ts';
import { newWebhook, someEvents, type NewWebhook } from '../webhooks/endpoints.ts';
import { messagesTo } from '../webhooks/events.ts';
import { testIdentitySecret } from '../services/harness.ts';

let service: AccountsService;
test.before(async () => {
  service = await startAccountsService('2026-11-20T10:00:00.000Z');
});
test.after.always(() => service.close());

const url = 'https://hooks.example.org/in?token=abc';
const pro = () => service.newClient('pro');
const post = (client: Client, body: object, headers: Record<string, string> = {}) =>
  service.as(client, '/v1/webhooks', { body, headers });
const patch = (client: Client, id: string, body: object) =>
  service.as(client, `/v1/webhooks/${id}`, { method: 'PATCH', body });

async function list(client: Client): Promise<WebhookRecord[]> {
  return ((await service.as(client, '/v1/webhooks')).body as { data: WebhookRecord[] }).data;
}

test.serial('a new endpoint is shown with its secret once, and without it from then on', async (t) => {
  const client = await pro();
  const answer = await post(client, {
    url,
    events: someEvents,
    series: ['GDP', 'CPI*'],
    description: ' Ours ',
  });
  const { secret, ...record } = dataOf(t, answer, 201) as NewWebhook;
  t.regex(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  t.is(answer.headers.get('cache-control'), 'no-store');
  t.deepEqual(record, {
    ...{ id: record.id, url, description: 'Ours', events: [...someEvents], series: ['GDP', 'CPI*'] },
    ...{ status: 'enabled', disabled_because: null, disabled_at: null, failing_since: null },
    ...{ previous_secret_until: null, created_at: '2026-11-20T10:00:00Z' },
  });
  t.regex(record.id, /^wh_[a-z2-7]{20}$/);
  t.deepEqual(await list(client), [record]);
  t.deepEqual(dataOf(t, await service.as(client, `/v1/webhooks/${record.id}`)), record);
});

test.serial('a session may do the same', async (t) => {
  const { newHolder } = await holdersOf(service);
  const holder = await newHolder();
  await setPlan(service.deps, holder.accountId, 'pro');
  const made = await service.signedIn(holder, '/v1/webhooks', { body: { url, events: someEvents } });
  const { id } = dataOf(t, made, 201) as NewWebhook;
  t.is((await service.signedIn(holder, `/v1/webhooks/${id}`, { method: 'DELETE' })).status, 204);
});

test.serial('the secret of an endpoint is in no list, no log line, no audit row and no table', async (t) => {
  const lines: string[] = [];
  const log = createLog('accounts-api', 'trace', { write: (line) => void lines.push(line) });
  const service = await startAccountsService('2026-11-20T10:00:00.000Z', log);
  t.teardown(() => service.close());
  const client = await service.newClient('pro');
  const { id, secret } = await newWebhook(service, client, { url });
  const rotated = await service.as(client, `/v1/webhooks/${id}/rotate-secret`, { method: 'POST' });
  const { secret: next } = dataOf(t, rotated) as NewWebhook;
  const tables = await service.deps.db.sequelize.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'accounts'`,
    { type: QueryTypes.SELECT },
  );
  const listed = await service.as(client, '/v1/webhooks');
  const shown = [JSON.stringify(listed.body), lines.join('')];
  for (const { name } of tables) {
    const rows = await service.deps.db.sequelize.query(`select * from accounts.${name}`, {
      type: QueryTypes.SELECT,
    });
    shown.push(JSON.stringify(rows));
  }
  for (const value of [secret, next]) {
    for (const text of shown) {
      t.false(text.includes(value.slice('whsec_'.length)));
      t.false(text.includes(Buffer.from(value.slice('whsec_'.length), 'base64').toString('hex')));
    }
  }
});

test.serial('a stored secret decrypts to what was shown, for its own endpoint only', async (t) => {
  const client = await pro();
  const [one, other] = [await newWebhook(service, client), await newWebhook(service, client)];
  const secrets = createSecrets([testIdentitySecret]);
  const stored = (await service.deps.db.webhooks.findByPk(one.id))?.secret ?? '';
  t.is(`whsec_${secrets.open(one.id, stored).toString('base64')}`, one.secret);
  t.throws(() => secrets.open(other.id, stored));
});

test.serial(
  'the eleventh endpoint of an account is refused, of however many asked for at once',
  async (t) => {
    const client = await pro();
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => post(client, { url, events: someEvents })),
    );
    t.is(answers.filter(({ status }) => status === 201).length, 10);
    for (const answer of answers.filter(({ status }) => status !== 201))
      assertError(t, answer, 409, 'conflict');
    const [first] = await list(client);
    t.is((await service.as(client, `/v1/webhooks?id=${first?.id}`, { method: 'DELETE' })).status, 204);
    t.is((await post(client, { url, events: someEvents })).status, 201);
  },
);

test.serial(
  'a plan without webhooks cannot create one, and the error names the plan that has them; existing ones can be managed',
  async (t) => {
    const client = await pro();
    const { id } = await newWebhook(service, client);
    await setPlan(service.deps, client.accountId, 'free');
    const error = assertError(t, await post(client, { url, events: someEvents }), 403, 'plan_required');
    t.regex(error.message, /Pro plan/);
    const refusedUrl = { url: 'https://no-such-host.invalid/hook', events: someEvents };
    assertError(t, await post(client, refusedUrl), 403, 'plan_required'); // the plan is checked before the URL, so that nobody corrects a URL in vain
    for (const what of ['test', 'recover', `deliveries/msg_${'a'.repeat(20)}/redeliver`]) {
      const body = what === 'recover' ? { since: '2026-11-20T09:00:00Z' } : {};
      const answer = await service.as(client, `/v1/webhooks/${id}/${what}`, { method: 'POST', body });
      assertError(t, answer, 403, 'plan_required');
    }
    t.is((await patch(client, id, { enabled: false })).status, 200);
    t.is((await service.as(client, `/v1/webhooks/${id}`, { method: 'DELETE' })).status, 204);
  },
);

test.serial(
  'with an Idempotency-Key a retry makes no second endpoint, and is answered without the secret',
  async (t) => {
    const client = await pro();
    const headers = { 'idempotency-key': 'once' };
    const first = await post(client, { url, events: someEvents }, headers);
    const { secret, ...record } = dataOf(t, first, 201) as NewWebhook;
    t.truthy(secret);
    const again = await post(client, { url, events: someEvents }, headers);
    t.deepEqual(dataOf(t, again, 201), record);
    t.is(again.headers.get('idempotent-replayed'), 'true');
    const quoted = await post(client, { url, events: someEvents }, { 'idempotency-key': '"once"' });
    t.deepEqual(dataOf(t, quoted, 201), record, 'the draft standard quotes the key');
    t.is((await list(client)).length, 1);
    for (const key of ['""', 'k'.repeat(256)]) {
      const refused = await post(client, { url, events: someEvents }, { 'idempotency-key': key });
      assertError(t, refused, 400, 'invalid_request');
    }
    const other = await post(client, { url, events: ['key.created'] }, headers);
    assertError(t, other, 422, 'idempotency_mismatch');
    t.is(
      (await post(await pro(), { url, events: someEvents }, headers)).status,
      201,
      'the key of another account',
    );
  },
);

test.serial('each field that is not allowed is named', async (t) => {
  const client = await pro();
  const { id } = await newWebhook(service, client);
  const faults: [string, object][] = [
    ['events', { events: [] }],
    ['events', { events: ['key.created', 'key.created'] }],
    ['events.0', { events: ['webhook.test'] }],
    ['series', { series: [] }],
    ['series', { series: ['GDP', 'GDP'] }],
    ['series.0', { series: ['*'] }],
    ['series.0', { series: ['G*P'] }],
    ['series', { series: Array.from({ length: 101 }, (_, i) => `S${i}`) }],
    ['description', { description: '' }],
    ['description', { description: 'x'.repeat(201) }],
    ['description', { description: 'a\u0000b' }],
    ['url', { url: 'no url' }],
    ['url', { url: 7 }],
    ['account_id', { account_id: client.accountId }],
    ['secret', { secret: 'whsec_mine' }],
  ];
  for (const [param, change] of faults) {
    const what = JSON.stringify(change).slice(0, 80);
    t.is(
      assertError(t, await post(client, { url, events: someEvents, ...change }), 400, 'invalid_body').param,
      param,
      what,
    );
    t.is(assertError(t, await patch(client, id, change), 400, 'invalid_body').param, param, what);
  }
  t.is(
    assertError(t, await patch(client, id, {}), 400, 'invalid_body').message,
    'The body must have "url", "events", "series", "description" or "enabled".',
  );
  t.is(
    assertError(t, await patch(client, id, { url: `${url}#a` }), 400, 'invalid_body').message,
    '"url" must have no fragment (#).',
  );
  assertError(t, await post(client, { events: someEvents }), 400, 'invalid_body');
  assertError(t, await post(client, { url }), 400, 'invalid_body');
});

test.serial('a change affects only the given fields', async (t) => {
  const client = await pro();
  const { secret, ...record } = await newWebhook(service, client, { series: ['GDP'], description: 'one' });
  t.truthy(secret);
  const shown = async (change: object) => dataOf(t, await patch(client, record.id, change));
  t.deepEqual(await shown({ url: 'https://HOOKS.example.org:443/other' }), {
    ...record,
    url: 'https://hooks.example.org/other',
  });
  t.like(await shown({ events: ['dataset.updated'] }), { events: ['dataset.updated'], series: ['GDP'] });
  t.like(await shown({ series: null, description: null }), { series: null, description: null });
  service.clock.advance(1000);
  const at = service.clock.now().toISOString().replace('.000', '');
  t.like(await shown({ enabled: false }), { status: 'disabled', disabled_because: 'asked', disabled_at: at });
  t.like(await shown({ enabled: true }), { status: 'enabled', disabled_because: null, disabled_at: null });
});

test.serial('a deleted endpoint is gone, in both forms of the address', async (t) => {
  const client = await pro();
  const [one, two] = [await newWebhook(service, client), await newWebhook(service, client)];
  const remove = (path: string) => service.as(client, path, { method: 'DELETE' });
  t.is((await remove(`/v1/webhooks/${one.id}`)).status, 204);
  t.is((await remove(`/v1/webhooks?id=${two.id}`)).status, 204);
  assertError(t, await remove(`/v1/webhooks/${one.id}`), 404, 'not_found');
  assertError(t, await remove(`/v1/webhooks?id=${two.id}`), 404, 'not_found');
  assertError(t, await remove('/v1/webhooks'), 400, 'invalid_parameter');
  t.deepEqual(await list(client), []);
});

test.serial("another account's endpoints and deliveries are not found", async (t) => {
  const [owner, stranger] = [await pro(), await pro()];
  const { id } = await newWebhook(service, owner);
  const own = await newWebhook(service, stranger);
  const tested = await service.as(owner, `/v1/webhooks/${id}/test`, { method: 'POST' });
  const { id: delivery } = dataOf(t, tested, 202) as { id: string };
  const since = { since: '2026-11-20T09:00:00Z' };
  const attempts: [string, string, object?][] = [
    ['GET', `/v1/webhooks/${id}`],
    ['PATCH', `/v1/webhooks/${id}`, { enabled: false }],
    ['PATCH', `/v1/webhooks/${id}`, { url: 'https://hooks.example.org/stolen' }],
    ['DELETE', `/v1/webhooks/${id}`],
    ['DELETE', `/v1/webhooks?id=${id}`],
    ['POST', `/v1/webhooks/${id}/rotate-secret`],
    ['POST', `/v1/webhooks/${id}/test`],
    ['POST', `/v1/webhooks/${id}/recover`, since],
    ['GET', `/v1/webhooks/${id}/deliveries`],
    ['GET', `/v1/webhooks/${id}/deliveries/${delivery}`],
    ['POST', `/v1/webhooks/${id}/deliveries/${delivery}/redeliver`],
    ['GET', `/v1/webhooks/${own.id}/deliveries/${delivery}`],
    ['POST', `/v1/webhooks/${own.id}/deliveries/${delivery}/redeliver`],
  ];
  await service.deps.db.sequelize.query(
    `update accounts.webhook_messages set status = 'failed', due_at = null where id = '${delivery}'`,
  );
  const stored = async () => [
    await service.deps.db.webhooks.findByPk(id, { raw: true }),
    await messagesTo(service, id),
  ];
  const before = await stored();
  for (const [method, path, body] of attempts) {
    const answer = await service.as(stranger, path, { method, ...(body && { body }) });
    assertError(t, answer, 404, 'not_found');
  }
  t.deepEqual(await stored(), before);
  t.is((await list(stranger)).length, 1);
});

test.serial('a rotated secret is new, and for 24 hours the previous one signs, too', async (t) => {
  const client = await pro();
  const { id, secret } = await newWebhook(service, client);
  const rotated = await service.as(client, `/v1/webhooks/${id}/rotate-secret`, { method: 'POST' });
  const next = dataOf(t, rotated) as NewWebhook;
  t.not(next.secret, secret);
  const until = new Date(service.clock.now().getTime() + 24 * 60 * 60_000).toISOString().replace('.000', '');
  t.is(next.previous_secret_until, until);
  const stored = await service.deps.db.webhooks.findByPk(id);
  const secrets = createSecrets([testIdentitySecret]);
  const opened = [stored?.secret, stored?.previousSecret].map((each) =>
    secrets.open(id, each ?? '').toString('base64'),
  );
  t.deepEqual(
    opened,
    [next.secret, secret].map((each) => each.slice('whsec_'.length)),
  );
});

test.serial('a test event is made for its endpoint alone, and not for one that is disabled', async (t) => {
  const client = await pro();
  const { id } = await newWebhook(service, client, { events: ['dataset.updated'] });
  const other = await newWebhook(service, client);
  const made = dataOf(t, await service.as(client, `/v1/webhooks/${id}/test`, { method: 'POST' }), 202) as {
    id: string;
    body: string;
  };
  t.like(made, { type: 'webhook.test', status: 'pending', attempts: 0, log: [] });
  t.deepEqual(JSON.parse(made.body), {
    type: 'webhook.test',
    timestamp: service.clock.now().toISOString().replace('.000', ''),
    data: { webhook: id },
  });
  const listed = await service.as(client, `/v1/webhooks/${other.id}/deliveries`);
  t.deepEqual((listed.body as { data: unknown[] }).data, []);
  await patch(client, id, { enabled: false });
  assertError(t, await service.as(client, `/v1/webhooks/${id}/test`, { method: 'POST' }), 409, 'conflict');
});

test.serial('deliveries are listed newest first, by status and by type', async (t) => {
  const client = await pro();
  const { id } = await newWebhook(service, client);
  const ids: string[] = [];
  for (let i = 0; i < 3; i += 1) {
    service.clock.advance(1000);
    const { body } = await service.as(client, `/v1/webhooks/${id}/test`, { method: 'POST' });
    ids.unshift((body as { data: { id: string } }).data.id);
  }
  const listed = async (query: string) => {
    const { body } = await service.as(client, `/v1/webhooks/${id}/deliveries${query}`);
    return (body as { data: { id: string }[] }).data.map((row) => row.id);
  };
  t.deepEqual(await listed(''), ids);
  t.deepEqual(await listed('?sort=created_at'), ids.toReversed());
  t.deepEqual(await listed('?status=pending&type=webhook.test'), ids);
  t.deepEqual(await listed('?status=failed'), []);
  t.deepEqual(await listed('?type=key.created'), []);
});

test.serial('only the last 30 days can be recovered', async (t) => {
  const client = await pro();
  const { id } = await newWebhook(service, client);
  const recover = (ms: number) =>
    service.as(client, `/v1/webhooks/${id}/recover`, {
      body: { since: new Date(service.clock.now().getTime() + ms).toISOString() },
    });
  const month = 30 * 24 * 60 * 60_000;
  t.like(dataOf(t, await recover(-month), 202), { recovered: 0 });
  for (const ms of [-month - 1, 1]) {
    t.is(assertError(t, await recover(ms), 400, 'invalid_body').param, 'since');
  }
});

// Events of accounts are written in the transaction of the change that they report, or not at all.
import test from 'ava';
import { startAccountsService, type AccountsService } from '../test/services/accounts-service.ts';
import { eventsIn, type WrittenEvent } from '../test/services/outbox.ts';
import { emitEvents } from './events.ts';
import { issueKey } from './keys/keys.ts';
import { createKey, revokeKey } from './operator/operator.ts';

const now = '2026-11-20T10:00:00.000Z';
let service: AccountsService;
test.before(async () => {
  service = await startAccountsService(now);
});
test.after.always(() => service.close());

async function eventsOf(accountId: string): Promise<WrittenEvent[]> {
  return (await eventsIn(service.databaseUrl)).filter((event) => event.accountId === accountId);
}

const shown = (events: readonly WrittenEvent[]) => events.map(({ type, data }) => [type, data['key']]);

test('every creation or revocation of a key writes its event, with only the public fields of the key', async (t) => {
  const client = await service.newClient();
  const expires_at = '2027-01-31T00:00:00Z';
  const ask = { method: 'POST', body: { name: 'Production', expires_at } };
  const { body } = await service.as(client, '/v1/keys', ask);
  const made = (body as { data: { id: string; masked: string; key: string } }).data;
  await service.as(client, `/v1/keys/${made.id}`, { method: 'DELETE' });
  await service.as(client, `/v1/keys/${made.id}`, { method: 'DELETE' }); // already revoked: nothing changes
  const second = await createKey(service.deps, client.accountId, 'second');
  await revokeKey(service.deps, second.id);

  const events = await eventsOf(client.accountId);
  t.deepEqual(shown(events), [
    ['key.created', client.keyId],
    ['key.created', made.id],
    ['key.revoked', made.id],
    ['key.created', second.id],
    ['key.revoked', second.id],
  ]);
  const expected = { key: made.id, name: 'Production', masked: made.masked };
  t.deepEqual(events[1]?.data, { ...expected, expires_at });
  t.deepEqual(events[2]?.data, expected);
  t.is(events[1]?.at.toISOString(), now);
  t.false(JSON.stringify(events).includes(made.key), 'the value of the key is nowhere');
});

test('a retry with the same Idempotency-Key writes no second event', async (t) => {
  const client = await service.newClient();
  const ask = { method: 'POST', body: { name: 'once' }, headers: { 'idempotency-key': 'events-once' } };
  for (const replayed of [null, 'true']) {
    const { status, headers } = await service.as(client, '/v1/keys', ask);
    t.deepEqual([status, headers.get('idempotent-replayed')], [201, replayed]);
  }
  t.is((await eventsOf(client.accountId)).length, 2);
});

test('a key whose creation or revocation is rolled back is not reported', async (t) => {
  const client = await service.newClient();
  const undone = service.deps.db.inTransaction(async (transaction) => {
    const requester = {
      accountId: client.accountId,
      actor: { actorKind: 'operator', actorId: null },
    } as const;
    await issueKey(service.deps, transaction, requester, { name: 'undone', expiresAt: null });
    throw new Error('undone');
  });
  await t.throwsAsync(undone, { message: 'undone' });
  t.deepEqual(shown(await eventsOf(client.accountId)), [['key.created', client.keyId]]);
});

test('a key whose event cannot be written is neither created nor revoked', async (t) => {
  const client = await service.newClient();
  const { sequelize } = service.deps.db;
  await sequelize.query(
    `alter table events.outbox add constraint not_these check (account_id <> '${client.accountId}') not valid`,
  );
  await t.throwsAsync(createKey(service.deps, client.accountId, 'none'));
  await t.throwsAsync(revokeKey(service.deps, client.keyId));
  await sequelize.query('alter table events.outbox drop constraint not_these');
  const keys = await service.deps.db.keys.findAll({ where: { accountId: client.accountId } });
  t.deepEqual(
    keys.map(({ id, revokedAt }) => [id, revokedAt]),
    [[client.keyId, null]],
  );
});

test('the events of an account are deleted with it', async (t) => {
  const client = await service.newClient();
  t.is((await eventsOf(client.accountId)).length, 1);
  await service.deps.db.accounts.destroy({ where: { id: client.accountId } });
  t.deepEqual(await eventsOf(client.accountId), []);
});

test('events of several types and accounts are written together in their order; an empty list writes none', async (t) => {
  const [one, two] = [await service.newClient(), await service.newClient()];
  const test = { type: 'webhook.test', accountId: one.accountId, data: { webhook: 'wh_a' } } as const;
  const data = { month: '2026-11-01', percent: 80, limit: 1000 };
  const usage = { type: 'usage.threshold_reached', accountId: two.accountId, data } as const;
  await service.deps.db.inTransaction(async (transaction) => {
    await emitEvents(service.deps, transaction);
    await emitEvents(service.deps, transaction, test, usage);
  });
  const events = (await eventsIn(service.databaseUrl)).filter(({ type }) => !type.startsWith('key.'));
  t.like(events, [test, usage]);
  t.is(new Set(events.map(({ id }) => id)).size, 2);
});

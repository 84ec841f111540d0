// Idempotency-Key where a process dies or takes too long: work is done once, whoever ends first.
import test from 'ava';
import { startAccountsRoom, type AccountsRoom, type Client } from '../test/accounts-room.ts';
import { idempotently, type Remember } from './idempotency.ts';

let room: AccountsRoom;

// One room a test: each moves the clock.
test.beforeEach(async () => {
  room = await startAccountsRoom();
});
test.afterEach.always(() => room.close());

const asked = (client: Client, body: object = { name: 'x' }) => ({
  accountId: client.accountId,
  route: 'POST /v1/keys',
  key: 'k',
  body,
});

/** Work that leaves a trace in the database: it renames the account. */
const rename = (client: Client, name: string) => (remember: Remember) =>
  room.deps.db.sequelize.transaction(async (transaction) => {
    await room.deps.db.accounts.update({ name }, { where: { id: client.accountId }, transaction });
    await remember(transaction, { status: 201, data: { name } });
    return { status: 201, data: { name } };
  });

/** A request that claims the key and never ends, as if its process had been killed. */
async function die(client: Client): Promise<void> {
  await new Promise<void>((claimed) => {
    void idempotently(room.deps, asked(client), () => {
      claimed();
      return new Promise<never>(() => undefined);
    });
  });
}

test.serial('the claim of a process that died holds for a minute, then the same request runs', async (t) => {
  const client = await room.newClient();
  await die(client);
  room.clock.advance(60_000);
  const retry = () => idempotently(room.deps, asked(client), rename(client, 'retry'));
  await t.throwsAsync(retry(), { code: 'idempotency_in_progress' });
  room.clock.advance(1);
  const other = idempotently(room.deps, asked(client, { name: 'y' }), rename(client, 'other'));
  await t.throwsAsync(other, { code: 'idempotency_mismatch' });
  t.deepEqual(await retry(), { status: 201, data: { name: 'retry' }, replayed: false });
  t.deepEqual(await retry(), { status: 201, data: { name: 'retry' }, replayed: true });
});

test.serial(
  'work whose retry has run in its place is rolled back, and the retry stays the answer',
  async (t) => {
    const client = await room.newClient();
    const slow = idempotently(room.deps, asked(client), async (remember) => {
      room.clock.advance(60_001);
      await idempotently(room.deps, asked(client), rename(client, 'retry'));
      return rename(client, 'slow')(remember);
    });
    await t.throwsAsync(slow, { code: 'conflict' });
    t.is((await room.deps.db.accounts.findByPk(client.accountId))?.name, 'retry');
    const later = await idempotently(room.deps, asked(client), rename(client, 'third'));
    t.deepEqual(later, { status: 201, data: { name: 'retry' }, replayed: true });
  },
);

test.serial('a key is free again after a day, for any request', async (t) => {
  const client = await room.newClient();
  await idempotently(room.deps, asked(client), rename(client, 'first'));
  const next = () => idempotently(room.deps, asked(client, { name: 'y' }), rename(client, 'second'));
  room.clock.advance(24 * 60 * 60_000);
  await t.throwsAsync(next(), { code: 'idempotency_mismatch' });
  room.clock.advance(1);
  t.deepEqual(await next(), { status: 201, data: { name: 'second' }, replayed: false });
});

// Idempotency-Key when a process dies or takes too long: the work is done once, whichever request ends first.
import test from 'ava';
import {
  startAccountsService,
  type AccountsService,
  type Client,
} from '../../test/services/accounts-service.ts';
import { idempotently, type Remember } from './idempotency.ts';

let service: AccountsService;

// One service per test, as each test moves the clock.
test.beforeEach(async () => {
  service = await startAccountsService();
});
test.afterEach.always(() => service.close());

const asked = (client: Client, body: object = { name: 'x' }) => ({
  accountId: client.accountId,
  route: 'POST /v1/keys',
  key: 'k',
  body,
});

/** Work with a visible effect in the database: it renames the account. */
const rename = (client: Client, name: string) => (remember: Remember) =>
  service.deps.db.inTransaction(async (transaction) => {
    await service.deps.db.accounts.update({ name }, { where: { id: client.accountId }, transaction });
    await remember(transaction, { status: 201, data: { name } });
    return { status: 201, data: { name } };
  });

/** A request that claims the key and never ends, as if its process had been killed. */
async function die(client: Client): Promise<void> {
  await new Promise<void>((claimed) => {
    void idempotently(service.deps, asked(client), () => {
      claimed();
      return new Promise<never>(() => undefined);
    });
  });
}

test.serial('the claim of a process that died holds for a minute, then the same request runs', async (t) => {
  const client = await service.newClient();
  await die(client);
  service.clock.advance(60_000);
  const retry = () => idempotently(service.deps, asked(client), rename(client, 'retry'));
  await t.throwsAsync(retry(), { code: 'idempotency_in_progress' });
  service.clock.advance(1);
  const other = idempotently(service.deps, asked(client, { name: 'y' }), rename(client, 'other'));
  await t.throwsAsync(other, { code: 'idempotency_mismatch' });
  t.deepEqual(await retry(), { status: 201, data: { name: 'retry' }, replayed: false });
  t.deepEqual(await retry(), { status: 201, data: { name: 'retry' }, replayed: true });
});

test.serial(
  'work whose retry has run in its place is rolled back, and the retry stays the answer',
  async (t) => {
    const client = await service.newClient();
    const slow = idempotently(service.deps, asked(client), async (remember) => {
      service.clock.advance(60_001);
      await idempotently(service.deps, asked(client), rename(client, 'retry'));
      return rename(client, 'slow')(remember);
    });
    await t.throwsAsync(slow, { code: 'conflict' });
    t.is((await service.deps.db.accounts.findByPk(client.accountId))?.name, 'retry');
    const later = await idempotently(service.deps, asked(client), rename(client, 'third'));
    t.deepEqual(later, { status: 201, data: { name: 'retry' }, replayed: true });
  },
);

test.serial('an Idempotency-Key is free again after a day, for any request', async (t) => {
  const client = await service.newClient();
  await idempotently(service.deps, asked(client), rename(client, 'first'));
  const next = () => idempotently(service.deps, asked(client, { name: 'y' }), rename(client, 'second'));
  service.clock.advance(24 * 60 * 60_000);
  await t.throwsAsync(next(), { code: 'idempotency_mismatch' });
  service.clock.advance(1);
  t.deepEqual(await next(), { status: 201, data: { name: 'second' }, replayed: false });
});

test.serial(
  'requests of other accounts, or of this one on other routes, neither answer nor free the same key',
  async (t) => {
    const [client, stranger] = [await service.newClient(), await service.newClient()];
    const beside = async (n: number) => [
      { ...asked(client), accountId: (await service.newClient()).accountId },
      { ...asked(client), route: `POST /v1/other-${n}` },
      { ...asked(client), key: `another-${n}` },
    ];
    const done = { status: 201, data: { name: 'other' } };
    const earlier = await beside(1);
    for (const other of earlier) await idempotently(service.deps, other, rename(stranger, 'other'));
    await die(client); // claims its key without an answer, at the same instant as the others
    const attempt = () => idempotently(service.deps, asked(client), rename(client, 'held'));
    await t.throwsAsync(attempt(), { code: 'idempotency_in_progress' });
    for (const other of await beside(2)) {
      const failing = idempotently(service.deps, other, () => Promise.reject(new Error('no')));
      await t.throwsAsync(failing, { message: 'no' });
      await t.throwsAsync(attempt(), { code: 'idempotency_in_progress' });
      await idempotently(service.deps, other, rename(stranger, 'other'));
      await t.throwsAsync(attempt(), { code: 'idempotency_in_progress' });
    }
    service.clock.advance(60_001);
    t.deepEqual(await attempt(), { status: 201, data: { name: 'held' }, replayed: false });
    for (const other of earlier) {
      const replay = await idempotently(service.deps, other, rename(stranger, 'again'));
      t.deepEqual(replay, { ...done, replayed: true }, 'an answer has no lease');
    }
  },
);

test.serial('after a failure that follows the commit, a retry still gets the answer', async (t) => {
  const client = await service.newClient();
  const failing = idempotently(service.deps, asked(client), async (remember) => {
    await rename(client, 'done')(remember);
    throw new Error('lost');
  });
  await t.throwsAsync(failing, { message: 'lost' });
  const retry = await idempotently(service.deps, asked(client), rename(client, 'twice'));
  t.deepEqual(retry, { status: 201, data: { name: 'done' }, replayed: true });
});

test.serial('work is rolled back if its retry is running in its place', async (t) => {
  const client = await service.newClient();
  const slow = idempotently(service.deps, asked(client), async (remember) => {
    service.clock.advance(60_001);
    await die(client); // the retry, which runs still
    return rename(client, 'slow')(remember);
  });
  await t.throwsAsync(slow, { code: 'conflict' });
  t.is((await service.deps.db.accounts.findByPk(client.accountId))?.name, null);
});

test.serial('a failure does not release the key if a retry has taken over its claim', async (t) => {
  const client = await service.newClient();
  const slow = idempotently(service.deps, asked(client), async () => {
    service.clock.advance(60_001);
    await die(client); // the retry, which runs still
    throw new Error('slow');
  });
  await t.throwsAsync(slow, { message: 'slow' });
  const third = idempotently(service.deps, asked(client), rename(client, 'third'));
  await t.throwsAsync(third, { code: 'idempotency_in_progress' });
});

// The state of an account takes effect on the next call: the real gateway, the real accounts-api, and credentials that the gateway has in its cache when
// the account changes.
import test from 'ava';
import { connect, type AccountsDatabase } from '../../accounts-api/database.ts';
import { lockMonths, write } from '../../accounts-api/heartbeat/blocks.sql.ts';
import { touchKeys } from '../../accounts-api/heartbeat/ledger.sql.ts';
import type { Account } from '../../accounts-api/models/account.ts';
import { hashApiKey } from '../../kernel/credentials/api-key.ts';
import { dataIn, peopleOf, type Answer } from '../auth/people.ts';
import { untilWaiting } from '../run/until.ts';
import { startServices, type Services } from '../services/services.ts';

let services: Services;
let accounts: AccountsDatabase; // the connection of a second accounts-api, next to the one that serves
test.before(async () => {
  services = await startServices();
  await services.ingest('series_id,date,value\nA,2024-01-31,1\n');
  accounts = connect(services.databaseUrl);
});
test.after.always(async () => {
  await accounts?.close();
  await services?.close();
});

const statusOf = async (key: string) => (await services.call('/v1/series/A', { key })).status;

/** Calls with the key: the gateway then has its credential in its cache, and does not ask accounts-api again (gateway/cached-keys.test.ts). */
async function cache(key: string): Promise<void> {
  await services.call('/v1/series/A', { key });
}

async function keyOf(key: string): Promise<{ id: string; accountId: string }> {
  const found = await accounts.keys.findOne({ where: { hash: hashApiKey(key) } });
  if (found === null) throw new Error('There is no such key.');
  return found;
}

/** Changes an account like a handler: once it resolves, the change is answered. */
async function change(accountId: string, values: Partial<Account>): Promise<void> {
  await accounts.inTransaction((transaction) =>
    accounts.accounts.update(values, { where: { id: accountId }, transaction }),
  );
}

test.serial('when an account is closed, its keys are refused on the next call', async (t) => {
  const { newPerson, ask } = peopleOf(services);
  const { session } = await newPerson();
  const keys: string[] = [];
  for (const name of ['first', 'second']) {
    keys.push(dataIn(await ask('POST', '/v1/keys', { session, body: { name } }))['key'] as string);
  }
  for (const key of keys) {
    await cache(key);
    t.is(await statusOf(key), 200);
  }
  t.is((await ask('DELETE', '/v1/account', { session })).status, 204);
  for (const key of keys) t.deepEqual([await statusOf(key), await statusOf(key)], [401, 401]);
});

test.serial('an account is closed while its calls are being settled, and neither fails', async (t) => {
  const { newPerson, ask } = peopleOf(services);
  const { session } = await newPerson();
  const { key } = dataIn(await ask('POST', '/v1/keys', { session, body: { name: 'first' } }));
  await cache(key as string);
  const { id: keyId, accountId } = await keyOf(key as string);
  const now = new Date();
  const month = `${now.toISOString().slice(0, 7)}-01`;
  let closing: Promise<Answer> | undefined;
  // The locks of a settled batch: the months first, then the rows that belong to them.
  await accounts.inTransaction(async (transaction) => {
    const rows = await lockMonths(accounts, transaction, [{ account_id: accountId, month }]);
    closing = ask('DELETE', '/v1/account', { session });
    await untilWaiting(accounts.read);
    const charged = rows.map((row) => ({ ...row, used: row.used + 1 }));
    await write(accounts, transaction, charged, []);
    await touchKeys(accounts, transaction, [{ key_id: keyId, at: now.toISOString() }], now);
  });
  t.is((await closing)?.status, 204);
  t.is(await statusOf(key as string), 401);
});

test.serial(
  'an account is closed while the last use of its keys is being noted, and neither fails',
  async (t) => {
    const { newPerson, ask } = peopleOf(services);
    const { session } = await newPerson();
    const { id: accountId } = dataIn(await ask('GET', '/v1/account', { session }));
    // In the order of their creation and of their slots, which is opposite to the order of their ids.
    const ids = ['z', 'a'].map((letter) => `key_${letter.repeat(20)}`);
    await accounts.sequelize.query(
      `insert into accounts.api_keys (id, account_id, name, hash, mask, slot, created_at)
     select id, $1, 'test', encode(sha256(id::bytea), 'hex'), 'mask', slot, now() + slot * interval '1 s'
     from unnest($2::text[]) with ordinality as made(id, slot)`,
      { bind: [accountId, ids] },
    );
    const now = new Date();
    let closing: Promise<Answer> | undefined;
    await accounts.inTransaction(async (transaction) => {
      for (const key_id of ids.toSorted()) {
        await touchKeys(accounts, transaction, [{ key_id, at: now.toISOString() }], now);
        closing ??= ask('DELETE', '/v1/account', { session });
        await untilWaiting(accounts.read);
      }
    });
    t.is((await closing)?.status, 204);
  },
);

/** Tables whose rows a worker locks by their ids, and two rows that PostgreSQL would delete in the opposite order. */
const lockedById = {
  webhooks: `insert into accounts.webhooks (id, account_id, slot, url, events, secret, created_at)
    select id, $1, slot, 'https://hooks.example.org', '{key.created}', 'none', now()
    from unnest(array['wh_' || repeat('z', 20), 'wh_' || repeat('a', 20)]) with ordinality as made(id, slot)`,
  follows: `insert into accounts.follows (id, account_id, kind, subject, mode, created_at, place)
    select id, $1, 'series', id, 'daily', now() + slot * interval '1 s', 0
    from unnest(array['flw_' || repeat('z', 20), 'flw_' || repeat('a', 20)]) with ordinality as made(id, slot)`,
};
for (const [table, insert] of Object.entries(lockedById)) {
  test.serial(`an account is closed while a worker changes its ${table}, and neither fails`, async (t) => {
    const { newPerson, ask } = peopleOf(services);
    const { session } = await newPerson();
    const { id: accountId } = dataIn(await ask('GET', '/v1/account', { session }));
    await accounts.sequelize.query(insert, { bind: [accountId] });
    let closing: Promise<Answer> | undefined;
    await accounts.inTransaction(async (transaction) => {
      for (const place of [0, 1]) {
        await accounts.sequelize.query(
          `select from accounts.${table} where id = (
             select id from accounts.${table} where account_id = $1 order by id offset $2 limit 1) for no key update`,
          { bind: [accountId, place], transaction },
        );
        closing ??= ask('DELETE', '/v1/account', { session });
        await untilWaiting(accounts.read);
      }
    });
    t.is((await closing)?.status, 204);
  });
}

test.serial(
  'an unpaid account is refused on the next call, and a paid one is served on the next',
  async (t) => {
    const { accountId, key } = await services.accountWithKey();
    const states = [
      ['active', 200],
      ['inactive', 402],
      ['active', 200],
      ['inactive', 402],
      ['none', 200],
    ] as const;
    for (const [subscriptionState, status] of states) {
      await cache(key);
      await change(accountId, { subscriptionState });
      t.deepEqual([await statusOf(key), await statusOf(key)], [status, status], subscriptionState);
    }
  },
);

test.serial(
  'a disabled account is refused on the next call, and served again when it is enabled',
  async (t) => {
    const { accountId, key } = await services.accountWithKey();
    for (const [status, answer] of [
      ['disabled', 401],
      ['active', 200],
      ['disabled', 401],
    ] as const) {
      if (status === 'disabled') await cache(key);
      await change(accountId, { status });
      t.deepEqual([await statusOf(key), await statusOf(key)], [answer, answer], status);
    }
  },
);

test.serial('a changed expiry of a key applies to the next call', async (t) => {
  const { keyId, key } = await services.accountWithKey();
  await cache(key);
  const expire = (at: Date | null) =>
    accounts.inTransaction((transaction) =>
      accounts.keys.update({ expiresAt: at }, { where: { id: keyId }, transaction }),
    );
  await expire(new Date(Date.now() - 1));
  t.deepEqual([await statusOf(key), await statusOf(key)], [401, 401]);
  await expire(null);
  t.deepEqual([await statusOf(key), await statusOf(key)], [200, 200]);
});

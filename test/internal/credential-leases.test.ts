// The leases of gateways on cached credentials: what accounts-api believes of a gateway, and what a change of a credential waits for.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { connect } from '../../accounts-api/database.ts';
import { prune } from '../../accounts-api/housekeeping.sql.ts';
import { beginGeneration, selectGeneration } from '../../accounts-api/keys/credential-cache.sql.ts';
import { endLease, leaseGeneration, selectLeases } from '../../accounts-api/keys/credential-leases.sql.ts';
import { startAccountsService, type AccountsService } from '../services/accounts-service.ts';
import { until } from '../run/until.ts';

let service: AccountsService;
test.before(async () => {
  service = await startAccountsService();
});
test.after.always(() => service?.close());

/** Leases end by PostgreSQL's clock: on a busy machine they might end within a test. */
async function prolongLeases(): Promise<void> {
  await service.deps.db.sequelize.query(
    "update accounts.credential_leases set leased_until = leased_until + interval '1 hour'",
  );
}

/** A gateway as far as its lease goes: one request at a time, the answer of which may be lost. */
class Gateway {
  id = randomUUID();
  using: number | null = null;
  #waitsFor: number | undefined;
  #requests = 0;

  ask(): { request: number; using: number | null } {
    this.#waitsFor = this.#requests += 1;
    return { request: this.#waitsFor, using: this.using };
  }

  hear(request: number, generation: number): void {
    if (request === this.#waitsFor) this.using = generation; // what it has given up waiting for it does not hear
  }

  /** Its lease has ended, by its own clock: always before accounts-api's. It may ask again while that one lasts. */
  forget(): void {
    this.using = null;
  }
}

type Message = ReturnType<Gateway['ask']> & { gateway: Gateway };

const step = fc.record({
  what: fc.constantFrom('ask', 'deliver', 'deliver unheard', 'deliver twice', 'begin', 'forget'),
  which: fc.nat(1_000),
});

test.serial(
  'in whatever order requests and answers arrive or are lost, accounts-api knows of each generation that a gateway uses',
  async (t) => {
    const { sequelize } = service.deps.db;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const gateways = [new Gateway(), new Gateway()];
        const sent: Message[] = [];
        for (const { what, which } of steps) {
          const gateway = gateways[which % gateways.length] as Gateway;
          if (what === 'ask') sent.push({ gateway, ...gateway.ask() });
          else if (what === 'begin') await beginGeneration(sequelize, null);
          else if (what === 'forget') gateway.forget();
          else if (sent.length > 0) {
            const at = which % sent.length;
            const { gateway: from, request, using } = sent[at] as Message;
            const lease = { gatewayId: from.id, heldIn: 'redis' as const, using };
            const generation = await leaseGeneration(sequelize, lease);
            if (what !== 'deliver twice') sent.splice(at, 1); // else it arrives once more, at any later time
            if (what !== 'deliver unheard') from.hear(request, generation);
          }
          const leases = await selectLeases(sequelize);
          for (const { using } of gateways) {
            if (using !== null && !leases.some(({ generation }) => generation <= using)) return false;
          }
        }
        await sequelize.query('delete from accounts.credential_leases');
        return true;
      }),
      { numRuns: 60 },
    );
    t.pass();
  },
);

test.serial(
  'a change that cannot be written to Redis is answered when every gateway has said that it uses the new generation',
  async (t) => {
    const gateway = randomUUID();
    const lease = async (using: number | null) => {
      const answer = await service.internally('/internal/credential-cache/lease', {
        ...{ gateway, in: 'redis', using },
      });
      return (answer.body as { generation: number }).generation;
    };
    const client = await service.newClient();
    const before = await lease(null);
    await prolongLeases();
    let answered = false;
    const revoked = service
      .as(client, `/v1/keys/${client.keyId}`, { method: 'DELETE' })
      .finally(() => (answered = true));
    const began = async () => (await selectGeneration(service.deps.db.sequelize)).generation > before;
    await until('a generation has begun', began);
    const after = await lease(before); // it may not have heard the answer
    t.true(after > before);
    t.true((await lease(before)) >= after);
    for (let reads = 0; reads < 20; reads += 1) await selectLeases(service.deps.db.sequelize);
    t.false(answered);
    await lease(after);
    t.is((await revoked).status, 204);
    await service.internally('/internal/credential-cache/lease/end', { gateway });
    t.deepEqual(await selectLeases(service.deps.db.sequelize), []);
  },
);

test.serial('a lease that is requested while a generation begins is on the new one', async (t) => {
  const { sequelize } = service.deps.db;
  const { generation } = await selectGeneration(sequelize);
  const lease = { gatewayId: randomUUID(), heldIn: 'redis' as const, using: null };
  let leased: Promise<number> | undefined;
  await service.deps.db.inLedgerTransaction(async (transaction) => {
    await sequelize.query('update accounts.credential_cache set generation = generation + 1', {
      transaction,
    });
    leased = leaseGeneration(sequelize, lease);
    await until('it waits for the lock', async () => {
      const [rows] = await sequelize.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length === 1;
    });
  });
  t.is(await leased, generation + 1);
  await endLease(sequelize, lease.gatewayId);
});

test.serial('usage is settled while a change of a credential waits for a gateway', async (t) => {
  const gateway = randomUUID();
  await service.internally('/internal/credential-cache/lease', { gateway, in: 'redis', using: null });
  await prolongLeases();
  const client = await service.newClient();
  let answered = false;
  const revoked = service
    .as(client, `/v1/keys/${client.keyId}`, { method: 'DELETE' })
    .finally(() => (answered = true));
  await until(
    'the change is committed',
    async () => (await service.deps.db.keys.findByPk(client.keyId))?.revokedAt != null,
  );
  const batch = { batch_id: randomUUID(), usage: [], last_used: [] };
  t.is((await service.internally('/internal/quota/settle', batch)).status, 200);
  t.is((await selectLeases(service.deps.db.sequelize)).length, 1);
  t.false(answered);
  await service.internally('/internal/credential-cache/lease/end', { gateway });
  t.is((await revoked).status, 204);
});

test.serial('leases that ended an hour ago are deleted', async (t) => {
  const db = connect(service.databaseUrl);
  t.teardown(() => db.close());
  await db.sequelize.query(
    `insert into accounts.credential_leases select gen_random_uuid(), 'redis', 1, clock_timestamp() - ago * interval '1 minute'
     from unnest(array[59, 61]) as ago`,
  );
  await prune(db, service.clock.now());
  const [rows] = await db.sequelize.query('select from accounts.credential_leases');
  t.is(rows.length, 1);
});

// The leases of gateways and the changes of accounts and keys: a change is answered when it applies at every life, or the life's lease has ended.
import { createHash, randomUUID } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { prune } from '../../accounts-api/housekeeping.sql.ts';
import { leaseMs } from '../../kernel/heartbeat/times.ts';
import { lease, type Lease } from '../../accounts-api/heartbeat/gateways.sql.ts';
import { selectAcknowledged } from '../../accounts-api/heartbeat/changes.sql.ts';
import { isActiveEverywhere } from '../../accounts-api/heartbeat/block-rules.ts';
import { setPlan } from '../../accounts-api/operator/operator.ts';
import type { HeartbeatMessage } from '../../kernel/heartbeat/message.ts';
import { propertyRuns } from '../run/property-runs.ts';
import { startAccountsService, type AccountsService } from '../services/accounts-service.ts';
import { until, untilWaiting, within } from '../run/until.ts';

let service: AccountsService;
test.before(async () => {
  service = await startAccountsService();
});
test.after.always(() => service?.close());
test.beforeEach(() => forgetLives());

const run = (text: string, ...bind: unknown[]) => service.deps.db.sequelize.query(text, { bind });
async function forgetLives(): Promise<void> {
  await run('delete from accounts.quota_blocks');
  await run('delete from accounts.gateways');
}
const beat = (message: Partial<HeartbeatMessage>) => service.heartbeats.beat(message);
const hashOf = (key: string) => createHash('sha256').update(key).digest('hex');

/** Leases end by PostgreSQL's clock: on a busy machine they might end within a test. */
const prolongLeases = () =>
  run("update accounts.gateways set leased_until = leased_until + interval '1 hour'");

async function newestChange(): Promise<number> {
  return (await selectAcknowledged(service.deps.db.sequelize)).no;
}

const read = (text: string) => service.deps.db.read(text);

/** Begins a change that is committed at once and answered later. */
async function changing() {
  const client = await service.newClient('free');
  const before = await newestChange();
  const change = { isAnswered: false, accountId: client.accountId, answered: Promise.resolve(), no: before };
  change.answered = setPlan(service.deps, client.accountId, 'pro').then(
    () => void (change.isAnswered = true),
  );
  await until('it is committed', async () => (await newestChange()) > before);
  change.no = await newestChange();
  return change;
}

/** Reads that would let the change be answered, if anything did. */
async function look(): Promise<void> {
  for (let reads = 0; reads < 30; reads += 1) await selectAcknowledged(service.deps.db.sequelize);
}

test.serial('a change is answered when every life has seen it, and not before', async (t) => {
  const lives = [randomUUID(), randomUUID()];
  for (const life of lives) await beat({ life, begins: true });
  await prolongLeases();
  const change = await changing();
  for (const life of lives) {
    await beat({ life, seen: change.no - 1 }); // its answer has the change, and may be lost
    await look();
    t.false(change.isAnswered);
    const answer = await beat({ life, seen: change.no - 1 });
    t.deepEqual([answer.upto, answer.changes], [change.no, [change.accountId]]);
    await beat({ life, seen: change.no });
  }
  await within('the change is answered', change.answered);
  await beat({ ended: lives });
});

test.serial('a late message takes back nothing that a life has seen', async (t) => {
  const life = randomUUID();
  await beat({ life, begins: true });
  const before = await newestChange();
  const client = await service.newClient();
  await service.deps.db.accounts.update({ plan: 'pro' }, { where: { id: client.accountId } });
  await beat({ life, seen: await newestChange() });
  for (const begins of [false, true]) await beat({ life, begins, seen: before });
  await prolongLeases();
  await within('a change of before is answered', service.deps.db.changes.awaitCacheInvalidation());
  t.pass();
});

test.serial(
  'a lease that has ended by the clock of PostgreSQL does not count, whatever the clock of the service shows',
  async (t) => {
    const life = randomUUID();
    await beat({ life, begins: true });
    const [[row]] = (await run(
      'select extract(epoch from leased_until - clock_timestamp())::float8 * 1000 as ms from accounts.gateways',
    )) as [{ ms: number }[], unknown];
    t.true((row?.ms ?? 0) > leaseMs - 10_000 && (row?.ms ?? Infinity) < leaseMs + 100);
    await prolongLeases();
    const change = await changing();
    service.clock.advance(3_600_000);
    await look();
    t.false(change.isAnswered);
    await run('update accounts.gateways set leased_until = clock_timestamp()');
    await within('the change is answered', change.answered);
    service.clock.advance(-3_600_000);
    const back = await beat({ life, seen: change.no - 1 });
    t.deepEqual(
      [back.is_open, back.changes],
      [true, [change.accountId]],
      'it learns of it when it comes back',
    );
  },
);

test.serial('a life that ends is not waited for', async (t) => {
  const life = randomUUID();
  await beat({ life, begins: true });
  await prolongLeases();
  const change = await changing();
  await look();
  t.false(change.isAnswered);
  await beat({ ended: [life] });
  await within('the change is answered', change.answered);
});

test.serial('a lease that is given while a change commits has the change', async (t) => {
  const { db } = service.deps;
  const life = randomUUID();
  await beat({ life, begins: true });
  const client = await service.newClient();
  let leased: ReturnType<typeof lease> | undefined;
  await db.inLedgerTransaction(async (transaction) => {
    await db.accounts.update({ plan: 'pro' }, { where: { id: client.accountId }, transaction });
    await db.sequelize.query('set constraints all immediate', { transaction });
    leased = lease(db, { life, seen: 0, begins: false });
    await untilWaiting(read);
  });
  t.is((await leased)?.upto, await newestChange());
});

test.serial('a change that commits while a lease is being given waits for it, and sees it', async (t) => {
  const { db } = service.deps;
  const life = randomUUID();
  const client = await service.newClient();
  const before = await newestChange();
  let change: Promise<unknown> | undefined;
  let isAnswered = false;
  await db.sequelize.transaction(async (transaction) => {
    // As a lease is given, whose statement takes a while.
    await db.sequelize.query('select no from accounts.change_counter for share', { transaction });
    change = setPlan(service.deps, client.accountId, 'pro').then(() => (isAnswered = true));
    await untilWaiting(read);
    await db.sequelize.query(
      `insert into accounts.gateways (life, seen, leased_until)
       select $1, no, clock_timestamp() + interval '1 hour' from accounts.change_counter`,
      { bind: [life], transaction },
    );
  });
  await until('it is committed', async () => (await newestChange()) > before);
  await look();
  t.false(isAnswered);
  await beat({ life, seen: await newestChange() });
  await within('the change is answered', change ?? Promise.reject(new Error('none')));
});

test.serial('a change waits for no lease that is asked for after it, however many there are', async (t) => {
  const { db } = service.deps;
  const [life, client] = [randomUUID(), await service.newClient()];
  await beat({ life, begins: true });
  let change: Promise<unknown> | undefined;
  let leased: ReturnType<typeof lease> | undefined;
  await db.sequelize.transaction(async (transaction) => {
    await db.sequelize.query('select no from accounts.change_counter for share', { transaction });
    change = setPlan(service.deps, client.accountId, 'pro');
    await untilWaiting(read);
    leased = lease(db, { life, seen: 0, begins: false });
    await untilWaiting(read, 2);
  });
  t.is((await leased)?.upto, await newestChange());
  await beat({ life, seen: await newestChange() });
  await within('the change is answered', change ?? Promise.reject(new Error('none')));
});

test.serial(
  'a lease waits for a change that is being committed, so that no lease is given without it',
  async (t) => {
    const { db } = service.deps;
    for (const begins of [true, false]) {
      const client = await service.newClient();
      const life = randomUUID();
      if (!begins) await beat({ life, begins: true });
      let answer: ReturnType<typeof beat> | undefined;
      await db.sequelize.transaction(async (transaction) => {
        await db.keys.update(
          { revokedAt: new Date(), slot: null },
          { where: { id: client.keyId }, transaction },
        );
        await db.sequelize.query('set constraints all immediate', { transaction });
        answer = beat({ life, begins, keys: [hashOf(client.key)] });
        await untilWaiting(read);
      });
      const { upto, credentials } = (await answer) ?? { upto: -1, credentials: [] };
      t.is(upto, await newestChange());
      t.deepEqual(credentials, [null], 'what the answer has was read after the number');
    }
  },
);

test.serial('lookups and grants are of no earlier state than the number of the answer', async (t) => {
  const life = randomUUID();
  await beat({ life, begins: true });
  for (let round = 0; round < 15; round += 1) {
    const client = await service.newClient('free');
    const before = await newestChange();
    const wants = [{ account_id: client.accountId, month: '2026-11-01', has: 0, calls: 1, ahead: 0 }];
    const [answer] = await Promise.all([
      beat({ life, seen: before, wants, keys: [hashOf(client.key)] }),
      service.deps.db.accounts.update({ status: 'disabled' }, { where: { id: client.accountId } }),
    ]);
    await beat({ life, seen: await newestChange() }); // so that the next account does not wait for it
    if (answer.upto === before) continue;
    t.deepEqual(answer.credentials, [null]);
    t.is(answer.grants[0]?.granted, 0);
  }
  t.pass();
});

test.serial(
  'a beginning life learns that any account may have changed, as an earlier answer may have reached it',
  async (t) => {
    const life = randomUUID();
    const first = await beat({ life, begins: true });
    const client = await service.newClient();
    await service.deps.db.accounts.update({ plan: 'pro' }, { where: { id: client.accountId } });
    const second = await beat({ life, begins: true, seen: 0 }); // sent before the first was answered
    t.true(second.upto > first.upto);
    t.is(second.changes, null);
  },
);

test.serial(
  'a held message is answered at once by a change, and by nothing else before its time',
  async (t) => {
    const life = randomUUID();
    const { upto } = await beat({ life, begins: true });
    t.deepEqual((await beat({ life, seen: upto, wait_ms: 20 })).changes, []);
    // The service listens from its first held message on: later ones are woken, however seldom PostgreSQL is polled.
    await until('a change wakes a held message', async () => {
      const seen = await newestChange();
      const waiting = beat({ life, seen, wait_ms: 1000 });
      const client = await service.newClient();
      await service.deps.db.accounts.update({ plan: 'pro' }, { where: { id: client.accountId } });
      return (await waiting).changes?.includes(client.accountId) === true;
    });
    t.pass();
  },
);

test.serial('usage is taken while a change waits for a gateway', async (t) => {
  const life = randomUUID();
  await beat({ life, begins: true });
  await prolongLeases();
  const change = await changing();
  t.is((await service.heartbeats.report({})).status, 200);
  t.false(change.isAnswered);
  await beat({ life, seen: change.no });
  await change.answered;
});

test.serial(
  'changes are forgotten after an hour; who has not seen them learns that any account may have changed',
  async (t) => {
    const life = randomUUID();
    await beat({ life, begins: true });
    const client = await service.newClient();
    const before = await newestChange();
    for (const plan of ['pro', 'free'])
      await service.deps.db.accounts.update({ plan }, { where: { id: client.accountId } });
    await run(
      `update accounts.changes set at = clock_timestamp() - interval '61 minutes' where no <= $1`,
      before + 1,
    );
    await run(
      `update accounts.changes set at = clock_timestamp() - interval '59 minutes' where no = $1`,
      before + 2,
    );
    await prune(service.deps.db, service.clock.now());
    t.is((await beat({ life, seen: before })).changes, null);
    t.deepEqual((await beat({ life, seen: before + 1 })).changes, [client.accountId]);
    await forgetLives();
  },
);

test.serial('too many changes are answered as any', async (t) => {
  const life = randomUUID();
  await beat({ life, begins: true });
  const seen = await newestChange();
  await run(`update accounts.change_counter set no = no + 1001`);
  await run(
    `insert into accounts.changes select $1::bigint + n, 'acct_' || n, clock_timestamp() from generate_series(1, 1001) as n`,
    seen,
  );
  t.is((await beat({ life, seen })).changes, null);
  t.is((await beat({ life, seen: seen + 1 })).changes?.length, 1000);
});

const step = fc.record({
  what: fc.constantFrom('send', 'deliver', 'deliver unheard', 'deliver twice', 'change', 'silence'),
  which: fc.nat(1_000),
});

/** A gateway as far as its lease goes: one message at a time, whose answer may be lost. */
class Gateway {
  life = randomUUID();
  begins = true;
  /** The last change that applies; undefined: it may serve nothing. */
  serves: number | undefined;
  seen = 0;
  #waitsFor = 0;

  send() {
    this.#waitsFor += 1;
    return { gateway: this, message: this.#waitsFor, life: this.life, begins: this.begins, seen: this.seen };
  }

  hear(message: number, { upto, leaseMs }: Lease): void {
    if (message !== this.#waitsFor) return; // what it has given up waiting for it does not hear
    this.begins = false;
    this.seen = upto;
    this.serves = leaseMs > 0 ? upto : undefined;
  }
}

test.serial(
  'in whatever order messages and answers arrive, are doubled or are lost, no change applies for accounts-api that does not at a gateway',
  async (t) => {
    const { db } = service.deps;
    const client = await service.newClient();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const gateways = [new Gateway(), new Gateway()];
        const sent: ReturnType<Gateway['send']>[] = [];
        for (const { what, which } of steps) {
          const gateway = gateways[which % gateways.length] as Gateway;
          if (what === 'send') sent.push(gateway.send());
          else if (what === 'change') await run('update accounts.change_counter set no = no + 1');
          else if (what === 'silence') {
            gateway.serves = undefined; // always before its lease ends by PostgreSQL's clock
            await run(
              'update accounts.gateways set leased_until = clock_timestamp() where life = $1',
              gateway.life,
            );
          } else if (sent.length > 0) {
            const at = which % sent.length;
            const { gateway: from, message, ...rest } = sent[at] as (typeof sent)[number];
            const given = await lease(db, rest);
            if (what !== 'deliver twice') sent.splice(at, 1); // else it arrives once more, at any later time
            if (what !== 'deliver unheard' && given !== null) from.hear(message, given);
          }
          const { no, nowMs, gateways: known } = await selectAcknowledged(db.sequelize);
          for (const { serves } of gateways) {
            if (serves !== undefined && serves < no && isActiveEverywhere(no, known, nowMs)) return false;
          }
        }
        await forgetLives();
        return true;
      }),
      { numRuns: propertyRuns(40) },
    );
    t.truthy(client);
  },
);

// POST /internal/heartbeat, the blocks: a grant counts once, the limit holds, and what is out with a life comes back exactly once.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { QueryTypes } from 'sequelize';
import type { Grant, HeartbeatAnswer, HeartbeatMessage } from '../../kernel/heartbeat/message.ts';
import { closeLives } from '../../accounts-api/heartbeat/blocks.ts';
import { setPlan } from '../../accounts-api/operator/operator.ts';
import { propertyRuns } from '../run/property-runs.ts';
import { until } from '../run/until.ts';
import {
  assertError,
  startAccountsService,
  type AccountsService,
  type Client,
} from '../services/accounts-service.ts';
import { batchOf } from '../services/heartbeats.ts';

let service: AccountsService;
test.before(async () => {
  service = await startAccountsService('2026-11-20T10:00:00.000Z');
});
test.after.always(() => service?.close());

const month = '2026-11-01';
const limit = 1000;
const none = { granted: 0, elsewhere: 0, out: 0, limit: 0 };
const run = (text: string, ...bind: unknown[]) => service.deps.db.sequelize.query(text, { bind });

/** A life of a gateway, which answers each change at once, so that none waits for it. */
class Life {
  readonly id = randomUUID();
  begins = true;
  seen = 0;

  async beat(message: Partial<HeartbeatMessage> = {}): Promise<HeartbeatAnswer> {
    const { id: life, begins, seen } = this;
    const answer = await service.heartbeats.beat({ life, begins, seen, ...message });
    this.begins = false;
    this.seen = Math.max(this.seen, answer.upto);
    return answer;
  }

  async want(client: Client, has: number, calls: number, ahead = 0, of = month): Promise<Grant> {
    const { grants } = await this.beat({
      wants: [{ account_id: client.accountId, month: of, has, calls, ahead }],
    });
    return grants[0] ?? none;
  }

  /** @param of the life of the block. */
  async report(client: Client, calls: number, returned = 0, of = this.id): Promise<void> {
    const spent = [{ life: of, account_id: client.accountId, month, calls, returned }];
    await this.beat({ batch: batchOf({ spent }) });
  }

  /** Its lease ends, or ended so long ago. */
  async fallSilent(agoSeconds = 0): Promise<void> {
    await run(
      `update accounts.gateways set leased_until = clock_timestamp() - $2 * interval '1 s' where life = $1`,
      ...[this.id, agoSeconds],
    );
  }

  end = () => service.heartbeats.beat({ ended: [this.id] });
}

async function monthOf({ accountId }: Client): Promise<{ used: number; out: number; blocks: number }> {
  const [row] = await service.deps.db.sequelize.query<{ used: number; out: number; blocks: number }>(
    `select used::float8 as used, out::float8 as out,
            (select coalesce(sum(granted - spent - returned), 0) from accounts.quota_blocks as block
             where block.account_id = $1 and block.month = $2)::float8 as blocks
     from accounts.quota_months where account_id = $1 and month = $2`,
    { bind: [accountId, month], type: QueryTypes.SELECT },
  );
  return row ?? { used: 0, out: 0, blocks: 0 };
}

test('a doubled message, concurrent or later, is granted once and answered the same', async (t) => {
  const asked = fc.record({ calls: fc.integer({ min: 1, max: 300 }), times: fc.integer({ min: 1, max: 4 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(asked, { minLength: 1, maxLength: 4 }), async (questions) => {
      const client = await service.newClient('free');
      const life = new Life();
      let granted = 0;
      for (const { calls, times } of questions) {
        const ask = () => life.want(client, granted, calls);
        const answers = await Promise.all(Array.from({ length: times }, ask));
        answers.push(await ask()); // its answer was lost
        granted = Math.min(limit, granted + calls);
        for (const answer of answers) t.like(answer, { granted, elsewhere: 0, limit });
        t.deepEqual(await monthOf(client), { used: 0, out: granted, blocks: granted });
      }
      await life.end();
      t.deepEqual(await monthOf(client), { used: 0, out: 0, blocks: 0 });
    }),
    { numRuns: propertyRuns(12) },
  );
});

test('a late message, which knows of less, is granted nothing more', async (t) => {
  const client = await service.newClient('free');
  const life = new Life();
  await life.want(client, 0, 10);
  await life.want(client, 10, 20);
  t.like(await life.want(client, 0, 10), { granted: 30 });
  t.deepEqual(await monthOf(client), { used: 0, out: 30, blocks: 30 });
  await life.end();
});

test('three lives that want at once are never granted more than the limit, and all of it', async (t) => {
  for (let round = 0; round < 3; round += 1) {
    const client = await service.newClient('free');
    const lives = [new Life(), new Life(), new Life()];
    for (const life of lives) await life.beat();
    const granted = await Promise.all(
      lives.map(async (life, i) => {
        let has = 0;
        for (let turn = 0; turn < 30; turn += 1)
          has = (await life.want(client, has, 7 + ((turn * 5 + i) % 20), 9)).granted;
        return has;
      }),
    );
    t.is(granted[0]! + granted[1]! + granted[2]!, limit);
    t.deepEqual(await monthOf(client), { used: 0, out: limit, blocks: limit });
    await service.heartbeats.beat({ ended: lives.map(({ id }) => id) });
    t.deepEqual(await monthOf(client), { used: 0, out: 0, blocks: 0 });
  }
});

// Alone: the share is smaller the more gateways are live.
test.serial(
  'a grant is what is lacking, or what is wanted ahead within a share of the rest, and never more than the rest',
  async (t) => {
    const client = await service.newClient('starter'); // 25 000
    const life = new Life();
    t.like(await life.want(client, 0, 1, 1000), { granted: 1000, limit: 25_000 });
    t.like(await life.want(client, 1000, 2000, 1000), { granted: 3000 });
    t.like(await life.want(client, 3000, 21_998, 1000), { granted: 24_998 });
    t.like(await life.want(client, 24_998, 1, 1000), { granted: 24_999 });
    t.like(await life.want(client, 24_999, 5, 1000), { granted: 25_000 });
    t.like(await life.want(client, 25_000, 1), { granted: 25_000 });
    const unlimited = await service.newClient('enterprise');
    t.like(await life.want(unlimited, 0, 1, 1000), { granted: 1000, limit: null });
    await life.end();
  },
);

test('a grant says what is used and out elsewhere, and what of it is out with other lives', async (t) => {
  const client = await service.newClient('free');
  const [one, two] = [new Life(), new Life()];
  await one.want(client, 0, 100);
  await one.report(client, 30, 20);
  t.like(await two.want(client, 0, 10), { granted: 10, elsewhere: 80, out: 50 });
  t.like(await one.want(client, 100, 1), { granted: 101, elsewhere: 10, out: 10 });
  await service.heartbeats.beat({ ended: [one.id, two.id] });
  t.deepEqual(await monthOf(client), { used: 30, out: 0, blocks: 0 });
});

test('a key comes with a block for its first calls, which grows by no further lookup', async (t) => {
  const client = await service.newClient('free');
  const { keys } = service.deps.db;
  const hash = (await keys.findByPk(client.keyId))?.hash ?? '';
  const life = new Life();
  for (let turn = 0; turn < 3; turn += 1) {
    const { credentials } = await life.beat({ keys: [hash, hash] });
    for (const found of credentials) t.like(found?.block, { granted: 8, elsewhere: 0, limit });
  }
  await service.deps.db.accounts.update(
    { subscriptionState: 'inactive' },
    { where: { id: client.accountId } },
  );
  const { credentials } = await life.beat({ keys: [hash] });
  t.like(credentials[0], { active: false, block: null });
  await life.end();
});

test('a life that lacks what is out elsewhere wakes the held message of the other life, which returns it', async (t) => {
  const client = await service.newClient('free');
  const [holder, other] = [new Life(), new Life()];
  await holder.want(client, 0, limit);
  await other.beat();
  for (let recalls = 0; recalls < 3;) {
    const waiting = holder.beat({ wait_ms: 1000 });
    await other.want(client, 0, 1);
    const [recalled] = (await waiting).recalled;
    if (recalled === undefined) continue; // on a slow machine the message was answered before the other life asked
    t.is(recalled.account_id, client.accountId);
    recalls += 1; // the answer was lost: who waits recalls again
  }
  await holder.report(client, 10, 500);
  t.like(await other.want(client, 0, 1), { granted: 1, out: 490 });
  t.deepEqual((await holder.beat()).recalled, []);
  await service.heartbeats.beat({ ended: [holder.id, other.id] });
});

test('calls that were served elsewhere recall nothing', async (t) => {
  const client = await service.newClient('free');
  const [holder, other] = [new Life(), new Life()];
  await holder.want(client, 0, limit);
  await holder.report(client, limit);
  t.like(await other.want(client, 0, 1), { granted: 0, elsewhere: limit, out: 0 });
  t.deepEqual((await holder.beat()).recalled, []);
  await service.heartbeats.beat({ ended: [holder.id, other.id] });
});

test('a silent life is closed two minutes after its lease, and what it reports later is charged all the same', async (t) => {
  const client = await service.newClient('free');
  const life = new Life();
  await life.want(client, 0, 300);
  await life.report(client, 100);
  await life.fallSilent(90); // half a minute less, as this machine may be slow
  await closeLives(service.deps);
  t.deepEqual(await monthOf(client), { used: 100, out: 200, blocks: 200 });
  await life.fallSilent(121);
  await until('what is out comes back', async () => (await monthOf(client)).out === 0);
  await life.report(client, 50, 100);
  t.deepEqual(await monthOf(client), { used: 150, out: 0, blocks: 0 });
  const hash = (await service.deps.db.keys.findByPk(client.keyId))?.hash ?? '';
  const wants = [{ account_id: client.accountId, month, has: 300, calls: 1, ahead: 0 }];
  const answer = await life.beat({ wants, keys: [hash] });
  t.like(answer, { is_open: false, grants: [none], credentials: [null] });
  t.deepEqual(await monthOf(client), { used: 150, out: 0, blocks: 0 });
});

test('a life whose lease has ended goes on where it was, unless it was closed', async (t) => {
  const client = await service.newClient('free');
  const life = new Life();
  await life.want(client, 0, 5);
  await life.fallSilent(60);
  t.like(await life.want(client, 5, 1), { granted: 6 });
  await life.end();
});

test('a life that ends gives back what is out, once, however often that is reported, and is closed', async (t) => {
  const client = await service.newClient('free');
  const [life, later] = [new Life(), new Life()];
  await life.want(client, 0, 300);
  await later.want(client, 0, 20);
  const spent = [{ life: life.id, account_id: client.accountId, month, calls: 100, returned: 50 }];
  const batch = batchOf({ spent });
  const report = () => later.beat({ batch, ended: [life.id] });
  await Promise.all([report(), report(), report()]);
  await report();
  t.deepEqual(await monthOf(client), { used: 100, out: 20, blocks: 20 });
  t.false((await life.beat()).is_open);
  await later.end();
});

test('a change of the plan applies to the next grant, and a disabled account is granted nothing', async (t) => {
  const client = await service.newClient('free');
  const life = new Life();
  t.like(await life.want(client, 0, 5000), { granted: limit, limit });
  await life.fallSilent();
  await setPlan(service.deps, client.accountId, 'starter');
  t.like(await life.want(client, limit, 500), { granted: 1500, limit: 25_000 });
  await service.deps.db.accounts.update({ status: 'disabled' }, { where: { id: client.accountId } });
  t.deepEqual(await life.want(client, 1500, 1), none);
  t.deepEqual(await life.want({ accountId: 'acct_unknown', keyId: '' }, 0, 1), none);
  await life.end();
});

test.serial(
  'calls are granted of the present month only, with a tolerance of a minute for clock differences',
  async (t) => {
    const client = await service.newClient('free');
    const december = '2026-12-01';
    const life = new Life();
    const isGranted = async (of: string) => {
      const wants = [{ account_id: client.accountId, month: of, has: 0, calls: 1, ahead: 0 }];
      const { id, begins, seen } = life;
      const { status } = await service.heartbeats.post({ life: id, begins, seen, wants });
      return status === 200 && (await life.want(client, 0, 1, 0, of)).granted > 0;
    };
    await life.beat();
    t.teardown(() => service.clock.set('2026-11-20T10:00:00.000Z'));
    service.clock.set('2026-11-30T23:58:59.999Z');
    t.deepEqual([await isGranted(december), await isGranted(month)], [false, true]);
    service.clock.advance(1);
    t.true(await isGranted(december));
    service.clock.set('2026-12-01T00:00:59.999Z');
    t.true(await isGranted(month));
    service.clock.advance(1);
    t.deepEqual([await isGranted(month), await isGranted(december)], [false, true]);
    await life.end();
  },
);

test.serial(
  'a locked month does not delay the closing of other lives, and takes no connection',
  async (t) => {
    const stuck = await service.newClient('free');
    const stuckLife = new Life();
    await stuckLife.want(stuck, 0, 5);
    const { sequelize } = service.deps.db;
    await sequelize.transaction(async (transaction) => {
      const bind = [stuck.accountId];
      await sequelize.query('select from accounts.quota_months where account_id = $1 for update', {
        bind,
        transaction,
      });
      await stuckLife.fallSilent(121);
      for (let round = 0; round < 3; round += 1) {
        const [other, life] = [await service.newClient('free'), new Life()];
        await life.want(other, 0, 5);
        await life.fallSilent(121);
        await until('it has come back', async () => (await monthOf(other)).out === 0);
      }
      const waiting = await sequelize.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        { type: QueryTypes.SELECT },
      );
      t.is(waiting.length, 0);
      t.is((await monthOf(stuck)).out, 5);
      t.false((await stuckLife.beat()).is_open, 'it is closed before all of it has come back');
    });
    await until('it has come back too', async () => (await monthOf(stuck)).out === 0);
  },
);

test('a message that wants of an account twice, or nothing, is refused whole', async (t) => {
  const client = await service.newClient('free');
  const one = { account_id: client.accountId, month, has: 0, calls: 1, ahead: 0 };
  for (const wants of [
    [one, one],
    [{ ...one, calls: 0 }],
    [{ ...one, has: -1 }],
    [{ ...one, month: 'x' }],
    [{ ...one, month: '2026-11-02' }],
    [{ ...one, ahead: -1 }],
  ]) {
    assertError(t, await service.heartbeats.post({ begins: true, wants }), 400, 'invalid_body');
  }
  const twice = await service.heartbeats.post({ begins: true, wants: [one, one] });
  t.is(assertError(t, twice, 400, 'invalid_body').message, '"wants" must name an account once.');
  t.is((await monthOf(client)).out, 0);
});

test('whatever lives want, report and lose, a month is what they reported and what is out with them', async (t) => {
  const step = fc.record({
    what: fc.constantFrom('want', 'want', 'report', 'report twice', 'silence', 'end'),
    which: fc.nat(2),
    calls: fc.integer({ min: 1, max: 400 }),
    back: fc.nat(200),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const client = await service.newClient('free');
      const lives = [new Life(), new Life(), new Life()];
      const has = lives.map(() => 0);
      let served = 0;
      for (const { what, which, calls, back } of steps) {
        const life = lives[which] as Life;
        if (what === 'want') has[which] = (await life.want(client, has[which]!, calls, 5)).granted;
        else if (what.startsWith('report')) {
          const spent = [{ life: life.id, account_id: client.accountId, month, calls, returned: back }];
          const batch = batchOf({ spent });
          for (const _time of what === 'report' ? [1] : [1, 2]) await service.heartbeats.beat({ batch });
          if ((await monthOf(client)).used > served) served += calls; // else the month has no row yet
        } else {
          if (what === 'end') await life.end();
          else await life.fallSilent(121);
          if (what === 'silence') await closeLives(service.deps);
          lives[which] = new Life();
          has[which] = 0;
        }
        const { used, out, blocks } = await monthOf(client);
        t.is(used, served);
        t.is(out, blocks);
        t.true(out >= 0 && (out === 0 || used + out <= Math.max(limit, served + limit)));
      }
      await service.heartbeats.beat({ ended: lives.map(({ id }) => id) });
      t.deepEqual(await monthOf(client), { used: served, out: 0, blocks: 0 });
    }),
    { numRuns: propertyRuns(12) },
  );
});

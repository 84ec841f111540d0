// Allotments in a process: for any draws and top-ups what a few lines of arithmetic say; and what is kept is soon drawn or returned.
import { setImmediate as endOfTurn } from 'node:timers/promises';
import test from 'ava';
import fc from 'fast-check';
import { fakeClock, silentLog } from '../../test/services/harness.ts';
import { until } from '../../test/run/until.ts';
import type { Hold } from './hold.ts';
import { createProcessAllotments } from './process-allotments.ts';

const noon = '2026-11-20T10:00:00.000Z';
const month = { accountId: 'acct_a', month: '2026-11-01' };

function setUp() {
  const clock = fakeClock(noon);
  const told: { allotment: string; calls: number; returned: number }[] = [];
  const open = new Set<string>();
  let [flushes, inMonth] = [0, 0];
  const journal = {
    spent: (_account: string, _month: string, allotment: string, calls: number, returned: number) =>
      void told.push({ allotment, calls, returned }),
    async flush() {
      flushes += 1;
      await endOfTurn();
      inMonth = sum('returned');
    },
  };
  const renewed: string[][] = [];
  const accounts = {
    renew(asked: readonly { id: string }[]) {
      renewed.push(asked.map(({ id }) => id));
      return Promise.resolve(open);
    },
  };
  const nowMs = () => clock.now().getTime();
  const allotments = createProcessAllotments({ journal, accounts, nowMs, log: silentLog });
  /** The number of calls that one request is given. */
  const draw = async (
    calls: number,
    limit: number | null,
    credit?: { granted: number; elsewhere?: number },
  ) => {
    const { allotment } = await allotments.draw(month, [], null);
    const given = credit && { allotment, elsewhere: 0, askedAtMs: nowMs(), ...credit };
    const drawn = await allotments.draw(month, calls === 0 ? [] : [calls], limit, given);
    return { ...drawn, hold: drawn.holds[0] ?? null };
  };
  const sum = (of: 'calls' | 'returned') => told.reduce((total, each) => total + each[of], 0);
  const counts = { flushes: () => flushes, inMonth: () => inMonth };
  return { clock, told, allotments, draw, sum, open, renewed, nowMs, ...counts };
}

const step = fc.record({
  wanted: fc.nat(20),
  limit: fc.option(fc.oneof(fc.nat(100), fc.integer({ min: 9_950, max: 10_150 }))),
  credit: fc.option(fc.record({ granted: fc.nat(60), elsewhere: fc.nat(40), isOurs: fc.boolean() })),
  passMs: fc.constantFrom(0, 0, 9, 10, 99, 100, 1_999, 2_000),
  end: fc.option(fc.boolean()),
});

test('a draw gets what is granted, and neither under way, served nor returned, within the limit; what is put back can be drawn at once; what was kept for 100 ms is returned first: 10 ms if nothing is left of the month, two seconds while most of it is', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const { clock, allotments, sum, nowMs } = setUp();
      const { allotment } = await allotments.draw(month, [], null);
      let [granted, drawn, returned, elsewhere, served] = [0, 0, 0, 0, 0];
      let [keepUntil, keepMs] = [0, 100];
      const underWay: Hold[] = [];
      for (const { wanted, limit, credit, passMs, end } of steps) {
        clock.advance(passMs);
        const now = nowMs();
        if (credit?.isOurs === true) {
          const isMore = credit.granted > granted;
          granted = Math.max(granted, credit.granted);
          elsewhere = credit.elsewhere;
          const rest = (limit ?? Infinity) - (elsewhere + granted - returned);
          keepMs = 100;
          if (rest >= 10_000) keepMs = 2_000;
          if (rest <= 0) keepMs = 10;
          if (isMore) keepUntil = now + keepMs;
        } else if (now >= keepUntil) returned = granted - drawn;
        const within = limit === null ? Infinity : limit - elsewhere - drawn;
        const isGiven = wanted <= Math.min(granted - drawn - returned, within);
        if (isGiven) drawn += wanted;
        const given = credit && {
          ...credit,
          allotment: credit.isOurs ? allotment : 'another',
          askedAtMs: now,
        };
        const answer = await allotments.draw(month, [wanted], limit, given ?? undefined);
        t.like(answer, { allotment, granted, left: granted - drawn - returned, used: drawn + elsewhere });
        t.deepEqual(
          answer.holds.map((hold) => hold?.calls),
          [isGiven ? wanted : undefined],
        );
        underWay.push(...answer.holds.filter((hold) => hold !== null));
        const [hold] = end === null ? [] : underWay.splice(0, 1);
        if (hold === undefined) continue;
        hold.end(end === true);
        hold.end(end !== true); // changes nothing
        if (end === true) served += hold.calls;
        else {
          drawn -= hold.calls;
          keepUntil = now + keepMs;
        }
      }
      for (const hold of underWay) hold.end(false);
      allotments.close();
      t.deepEqual(
        [sum('calls'), sum('returned')],
        [served, granted - served],
        'when it ends, all that was granted is told as served or returned',
      );
    }),
    { numRuns: 100 },
  );
});

test('what is not drawn is returned by itself, and told at once: another gateway may wait for it', async (t) => {
  const { clock, told, allotments, draw, flushes } = setUp();
  t.teardown(() => allotments.close());
  const { allotment } = await draw(3, 100, { granted: 10 });
  clock.advance(100);
  t.is(flushes(), 0);
  await until('it is returned', () => flushes() === 1);
  t.deepEqual(told.at(-1), { allotment, calls: 0, returned: 7 });
});

test('a draw that finds a call kept for too long resolves once the month has it again, so that the top-up can have it', async (t) => {
  const { clock, allotments, draw, inMonth } = setUp();
  t.teardown(() => allotments.close());
  const { hold } = await draw(1, 1, { granted: 1 });
  hold?.end(false);
  clock.advance(10);
  t.like(await draw(1, 1), { hold: null, left: 0 });
  t.is(inMonth(), 1);
});

test('the months of accounts, and an account’s months, are apart', async (t) => {
  const { allotments, nowMs } = setUp();
  t.teardown(() => allotments.close());
  const others = [month, { ...month, accountId: 'acct_b' }, { ...month, month: '2026-12-01' }];
  const ids: string[] = [];
  for (const each of others) {
    const { allotment } = await allotments.draw(each, [], null);
    ids.push(allotment);
    const credit = { allotment, granted: 5, elsewhere: 0, askedAtMs: nowMs() };
    t.is((await allotments.draw(each, [5], null, credit)).holds[0]?.calls, 5);
  }
  t.is(new Set(ids).size, 3);
});

test('an allotment that is not the discarded one still returns what is not drawn', async (t) => {
  const { clock, told, allotments, draw, flushes } = setUp();
  t.teardown(() => allotments.close());
  const { allotment } = await draw(1, 100, { granted: 10 });
  await allotments.discard(month, 'another');
  clock.advance(100);
  await until('it is returned', () => flushes() === 1);
  t.deepEqual(told.at(-1), { allotment, calls: 0, returned: 9 });
});

test('a discarded allotment is drawn from no more, and its calls under way are not served; a new one takes its place', async (t) => {
  const { allotments, draw } = setUp();
  t.teardown(() => allotments.close());
  const { allotment, hold } = await draw(1, null, { granted: 10 });
  await allotments.discard(month, 'another');
  t.true(hold?.isValid);
  t.like(await draw(1, null), { allotment, hold: { calls: 1 } });
  await allotments.discard(month, allotment);
  t.false(hold?.isValid);
  const next = await draw(1, null);
  t.not(next.allotment, allotment);
  t.like(next, { hold: null, granted: 0 });
});

test('a minute after its allotment was last known to be open a call is not served, nor put back to be drawn; the next draws from a new one', async (t) => {
  const { clock, allotments, draw, sum } = setUp();
  t.teardown(() => allotments.close());
  const { allotment, hold } = await draw(1, null, { granted: 1 });
  clock.advance(59_999);
  t.true(hold?.isValid);
  clock.advance(1);
  t.false(hold?.isValid);
  hold?.end(false);
  t.like(await draw(1, null), { hold: null });
  const second = await draw(1, null, { granted: 2 });
  t.true(second.hold?.isValid);
  clock.advance(60_000);
  t.not((await draw(1, null)).allotment, second.allotment);
  t.is(sum('returned'), 0, `what accounts-api reclaims, as of ${allotment}, is returned by nobody else`);
});

test('a top-up asks ahead for what 50 ms will bring if calls go on coming: nothing where one comes now and then', async (t) => {
  const { clock, allotments, draw } = setUp();
  t.teardown(() => allotments.close());
  t.is((await draw(1, 100)).ahead, 1);
  await draw(1, 100, { granted: 1, elsewhere: 50 });
  clock.advance(51);
  t.is((await draw(1, 100)).ahead, 1);
  const { allotment } = await draw(30, 100, { granted: 31, elsewhere: 50 });
  clock.advance(10);
  const drawn = await allotments.draw(month, [1, 3], 100);
  t.like(drawn, { ahead: 4 + 150, low: 0 }, `${allotment} is not topped up early`);
});

test('while most of the month is left a top-up asks for what a second will bring, and is due when a quarter of a second is left', async (t) => {
  for (const limit of [null, 25_000]) {
    const { clock, allotments, draw } = setUp();
    t.teardown(() => allotments.close());
    await draw(60, limit, { granted: 300 });
    clock.advance(19);
    t.like(await draw(1, limit), { low: 0 }, 'the rate is not known yet');
    clock.advance(1);
    t.like(await draw(3, limit), { hold: { calls: 3 }, low: 800, ahead: 3_200 });
  }
});

test('it is not while half of the month is used, or fewer than 10,000 calls are left', async (t) => {
  for (const [limit, elsewhere] of [
    [25_000, 12_300],
    [10_000, 0],
  ] as const) {
    const { clock, allotments, draw } = setUp();
    t.teardown(() => allotments.close());
    await draw(60, limit, { granted: 300, elsewhere });
    clock.advance(20);
    t.like(await draw(4, limit), { hold: { calls: 4 }, low: 0, ahead: 160 });
  }
});

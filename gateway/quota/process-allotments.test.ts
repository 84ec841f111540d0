// Allotments in a process: for any draws and top-ups what a few lines of arithmetic say; and what is kept is soon drawn or returned.
import test from 'ava';
import fc from 'fast-check';
import { fakeClock } from '../../test/services/harness.ts';
import { until } from '../../test/run/until.ts';
import { createProcessAllotments } from './process-allotments.ts';

const noon = '2026-11-20T10:00:00.000Z';
const month = { accountId: 'acct_a', month: '2026-11-01' };

function setUp() {
  const clock = fakeClock(noon);
  const told: { allotment: string; drawn: number; returned: number }[] = [];
  let flushes = 0;
  const journal = {
    drawn: (_account: string, _month: string, allotment: string, drawn: number, returned: number) =>
      void told.push({ allotment, drawn, returned }),
    flush: () => void (flushes += 1),
  };
  const allotments = createProcessAllotments({ journal, nowMs: () => clock.now().getTime() });
  return { clock, told, allotments, flushes: () => flushes };
}

const step = fc.record({
  wanted: fc.nat(20),
  limit: fc.option(fc.nat(100)),
  credit: fc.option(fc.record({ granted: fc.nat(60), elsewhere: fc.nat(40), isOurs: fc.boolean() })),
  passMs: fc.constantFrom(0, 0, 99, 100),
});

test('a draw gets what is granted, and neither drawn nor returned, within the limit; what was kept for 100 ms is returned first', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const { clock, told, allotments } = setUp();
      const { allotment } = await allotments.draw(month, 0, null);
      let [granted, drawn, returned, elsewhere, keepUntil] = [0, 0, 0, 0, 0];
      for (const { wanted, limit, credit, passMs } of steps) {
        clock.advance(passMs);
        const now = clock.now().getTime();
        if (credit?.isOurs === true) {
          if (credit.granted > granted) keepUntil = now + 100;
          granted = Math.max(granted, credit.granted);
          elsewhere = credit.elsewhere;
        } else if (now >= keepUntil) returned = granted - drawn;
        const within = limit === null ? Infinity : limit - elsewhere - drawn;
        const taken = Math.max(0, Math.min(wanted, granted - drawn - returned, within));
        drawn += taken;
        const given = credit && { ...credit, allotment: credit.isOurs ? allotment : 'another' };
        const answer = await allotments.draw(month, wanted, limit, given ?? undefined);
        t.like(answer, { allotment, taken, granted, used: drawn + elsewhere });
      }
      allotments.close();
      returned = granted - drawn;
      t.deepEqual(
        [told.at(-1)?.drawn ?? 0, told.at(-1)?.returned ?? 0],
        [drawn, returned],
        'when it ends, all that was granted is told as drawn or returned',
      );
    }),
    { numRuns: 200 },
  );
});

test('what is not drawn is returned by itself, and told at once: another gateway may wait for it', async (t) => {
  const { clock, told, allotments, flushes } = setUp();
  const { allotment } = await allotments.draw(month, 0, null);
  await allotments.draw(month, 3, null, { allotment, granted: 10, elsewhere: 0 });
  clock.advance(100);
  t.is(flushes(), 0);
  await until('it is returned', () => flushes() === 1);
  t.deepEqual(told.at(-1), { allotment, drawn: 3, returned: 7 });
});

test('the months of accounts, and an account’s months, are apart', async (t) => {
  const { allotments } = setUp();
  const others = [month, { ...month, accountId: 'acct_b' }, { ...month, month: '2026-12-01' }];
  const ids: string[] = [];
  for (const each of others) {
    const { allotment } = await allotments.draw(each, 0, null);
    ids.push(allotment);
    t.is((await allotments.draw(each, 5, null, { allotment, granted: 5, elsewhere: 0 })).taken, 5);
  }
  t.is(new Set(ids).size, 3);
});

test('an allotment that is not the discarded one still returns what is not drawn', async (t) => {
  const { clock, told, allotments, flushes } = setUp();
  const { allotment } = await allotments.draw(month, 0, null);
  await allotments.draw(month, 1, null, { allotment, granted: 10, elsewhere: 0 });
  await allotments.discard(month, 'another');
  clock.advance(100);
  await until('it is returned', () => flushes() === 1);
  t.deepEqual(told.at(-1), { allotment, drawn: 1, returned: 9 });
});

test('a discarded allotment is drawn from no more; a new one takes its place', async (t) => {
  const { allotments } = setUp();
  const { allotment } = await allotments.draw(month, 0, null);
  await allotments.draw(month, 1, null, { allotment, granted: 10, elsewhere: 0 });
  await allotments.discard(month, 'another');
  t.like(await allotments.draw(month, 1, null), { allotment, taken: 1 });
  await allotments.discard(month, allotment);
  const next = await allotments.draw(month, 1, null);
  t.not(next.allotment, allotment);
  t.like(next, { taken: 0, granted: 0 });
});

test('a top-up asks ahead for what 50 ms will bring if calls go on coming: nothing where one comes now and then', async (t) => {
  const { clock, allotments } = setUp();
  const { allotment, ahead } = await allotments.draw(month, 1, null);
  t.is(ahead, 1);
  await allotments.draw(month, 1, null, { allotment, granted: 1, elsewhere: 0 });
  clock.advance(51);
  t.is((await allotments.draw(month, 1, null)).ahead, 1);
  await allotments.draw(month, 30, null, { allotment, granted: 31, elsewhere: 0 });
  clock.advance(10);
  t.is((await allotments.draw(month, 4, null)).ahead, 4 + 150);
});

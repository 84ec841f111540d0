// The script that draws from an allotment, in a real Redis: for any draws and top-ups what a few lines of arithmetic say.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { replicationIdLua } from '../../kernel/credentials/cache.ts';
import { openRedis, script } from '../../kernel/redis.ts';
import { silentLog, testRedisUrl } from '../../test/services/harness.ts';
import { drawLua } from './redis-allotments.ts';

const redis = openRedis(testRedisUrl(), silentLog);
test.before(() => redis.opened());
test.after.always(() => redis.close());

const draw = script(replicationIdLua + drawLua);
const later = '9999999999999';

/** @param credit the allotment that was topped up, all granted to it, what is charged elsewhere. */
async function ask(key: string, wanted: number, limit: number | null, credit = ['', '', ''], until = later) {
  const words = [String(wanted), limit === null ? '' : String(limit), 'new', until, ...credit];
  return redis.run(draw, key, words);
}

const credit = fc.record({ granted: fc.nat(60), elsewhere: fc.nat(40), isOurs: fc.boolean() });
const step = fc.record({
  wanted: fc.nat(20),
  limit: fc.option(fc.nat(100)),
  credit: fc.option(credit),
});

test('a draw gets what is granted and not drawn, within the limit; only a top-up of this allotment counts, and never less than before', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const key = `test:draw:${randomUUID()}`;
      let [granted, drawn, elsewhere] = [0, 0, 0];
      for (const { wanted, limit, credit: topUp } of steps) {
        const words = topUp && [topUp.isOurs ? 'new' : 'old', String(topUp.granted), String(topUp.elsewhere)];
        const answer = await ask(key, wanted, limit, words ?? undefined);
        if (topUp?.isOurs === true) {
          granted = Math.max(granted, topUp.granted);
          elsewhere = topUp.elsewhere;
        }
        const within = limit === null ? Infinity : limit - elsewhere - drawn;
        const taken = Math.max(0, Math.min(wanted, granted - drawn, within));
        drawn += taken;
        t.deepEqual(answer, ['new', taken, granted, drawn, elsewhere]);
      }
    }),
    { numRuns: 60 },
  );
});

test('a draw that Redis runs too late draws nothing and makes no allotment', async (t) => {
  const key = `test:draw:${randomUUID()}`;
  t.is(await ask(key, 1, 10, ['new', '5', '0'], '1'), null);
  t.deepEqual(await ask(key, 1, 10), ['new', 0, 0, 0, 0]);
});

// The scripts that draw from an allotment and tell it how calls ended, in a real Redis: for any draws, top-ups, ends and gateways that
// die what a few lines of arithmetic say.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { serverLua } from '../../kernel/credentials/cache.ts';
import { openRedis, script } from '../../kernel/redis.ts';
import { silentLog, testRedisUrl } from '../../test/services/harness.ts';
import { drawLua } from './redis-allotments.ts';
import { tellLua } from './redis-shares.ts';

const redis = openRedis(testRedisUrl(), silentLog, { deadlineMs: 30_000 }); // also on a busy machine
test.before(() => redis.opened());
test.after.always(() => redis.close());

const draw = script(drawLua, serverLua);
const tell = script(tellLua);
const setField = script(`return redis.call('hset', KEYS[1], ARGV[1], ARGV[2])`);
const getField = script(`return redis.call('hget', KEYS[1], ARGV[1])`);
const later = '9999999999999';

/** Makes the field one that was written so many seconds ago. */
async function age(key: string, field: string, seconds: number): Promise<void> {
  const value = await redis.run(getField, key, [field]);
  if (typeof value !== 'string') throw new Error(`The allotment has no ${field}.`);
  await redis.run(setField, key, [field, value.replace(/\d+$/, String(Date.now() - 1000 * seconds))]);
}

interface Ask {
  wanted?: string;
  limit?: number | null;
  share?: string;
  /** The totals served and put back. */
  ended?: readonly [number, number];
  /** The allotment that was topped up, all granted to it, what is charged elsewhere. */
  credit?: readonly string[];
  until?: string;
}

function ask(key: string, { wanted = '1 1', limit = null, share = 'a', ...more }: Ask) {
  const { ended = [0, 0], credit = ['', '', ''], until = later } = more;
  const words = [wanted, String(limit ?? ''), 'new', until, share, ...ended.map(String), ...credit];
  return redis.run(draw, key, words) as Promise<
    [id: string, given: number[], granted: number, drawn: number, elsewhere: number, underWay: number] | null
  >;
}

const run = fc.record({ requests: fc.integer({ min: 1, max: 4 }), calls: fc.integer({ min: 1, max: 9 }) });
const share = fc.constantFrom('a', 'b', 'c');
const step = fc.oneof(
  fc.record({
    what: fc.constant('draw' as const),
    share,
    wanted: fc.array(run, { maxLength: 3 }),
    limit: fc.option(fc.nat(100)),
    credit: fc.option(fc.record({ granted: fc.nat(60), elsewhere: fc.nat(40), isOurs: fc.boolean() })),
  }),
  fc.record({
    what: fc.constant('end' as const),
    share,
    served: fc.nat(6),
    back: fc.nat(6),
    isTold: fc.boolean(),
  }),
  fc.record({ what: fc.constantFrom('lapse' as const), share }),
);

/** A share as its gateway knows it, and as Redis does. */
interface Share {
  token: string;
  hasDrawn: boolean;
  hasLapsed: boolean;
  underWay: number;
  ended: [served: number, back: number];
  told: [served: number, back: number];
}

test('a request gets all its calls or none, of what is granted and neither under way nor served, within the limit; what was put back can be drawn, and what a gateway that has ended left under way', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 16 }), async (steps) => {
      const key = `test:draw:${randomUUID()}`;
      let [granted, drawn, elsewhere] = [0, 0, 0];
      const shares = new Map<string, Share>();
      const lapsed = new Set<string>();
      const newShare = (name: string): Share => {
        const state = { hasDrawn: false, hasLapsed: false, underWay: 0 };
        const share: Share = { token: randomUUID(), ...state, ended: [0, 0], told: [0, 0] };
        shares.set(name, share);
        return share;
      };
      const shareOf = (name: string): Share => shares.get(name) ?? newShare(name);
      const hear = (one: Share) => {
        if (one.hasLapsed) drawn += one.ended[0] - one.told[0];
        else drawn -= one.ended[1] - one.told[1];
        one.told = [...one.ended];
      };
      const inRedis = (one: Share) =>
        one.hasLapsed ? 0 : one.underWay + one.ended[0] + one.ended[1] - one.told[0] - one.told[1];
      for (const each of steps) {
        let mine = shareOf(each.share);
        if (each.what === 'end') {
          const served = Math.min(each.served, mine.underWay);
          const back = Math.min(each.back, mine.underWay - served);
          mine.underWay -= served + back;
          mine.ended = [mine.ended[0] + served, mine.ended[1] + back];
          if (!each.isTold || !mine.hasDrawn || lapsed.has(each.share)) continue;
          for (let times = 0; times < 2; times += 1) {
            const words = ['new', mine.token, ...mine.ended.map(String)];
            t.is(await redis.run(tell, key, words), mine.hasLapsed ? 0 : 1);
            hear(mine);
          }
          continue;
        }
        if (each.what === 'lapse') {
          if (!mine.hasDrawn || mine.hasLapsed) continue;
          await age(key, `share:${mine.token}`, 80);
          lapsed.add(each.share);
          continue;
        }
        if (mine.hasLapsed && mine.underWay > 0) mine = newShare(each.share); // as its gateway does
        const { wanted, limit, credit } = each;
        const runs = wanted.map(({ requests, calls }) => `${requests} ${calls}`).join(' ');
        const words = credit && [
          credit.isOurs ? 'new' : 'old',
          String(credit.granted),
          String(credit.elsewhere),
        ];
        lapsed.delete(each.share); // it is seen again before others were short
        const answer = await ask(key, {
          ...{ wanted: runs, limit, share: mine.token, ended: mine.ended },
          ...(words !== null && { credit: words }),
        });
        if (credit?.isOurs === true) {
          granted = Math.max(granted, credit.granted);
          elsewhere = credit.elsewhere;
        }
        hear(mine);
        Object.assign(mine, { hasDrawn: true, hasLapsed: false });
        const most = limit === null ? granted : Math.min(granted, limit - elsewhere);
        const sum = wanted.reduce((total, { requests, calls }) => total + requests * calls, 0);
        if (most - drawn < sum) {
          for (const name of lapsed) {
            drawn -= inRedis(shareOf(name));
            shareOf(name).hasLapsed = true;
          }
          lapsed.clear();
        }
        let taken = 0;
        const given = wanted.map(({ requests, calls }) => {
          const fit = Math.max(0, Math.min(requests, Math.floor((most - drawn - taken) / calls)));
          taken += fit * calls;
          return fit;
        });
        drawn += taken;
        mine.underWay += taken;
        const all = [...shares.values()].reduce((total, one) => total + inRedis(one), 0);
        t.deepEqual(answer, ['new', given, granted, drawn, elsewhere, taken < sum ? all : 0]);
        t.true(taken === 0 || drawn <= most);
      }
    }),
    { numRuns: 150 },
  );
});

test('a draw that Redis runs too late draws nothing and makes no allotment', async (t) => {
  const key = `test:draw:${randomUUID()}`;
  t.is(await ask(key, { limit: 10, credit: ['new', '5', '0'], until: '1' }), null);
  t.deepEqual(await ask(key, { limit: 10 }), ['new', [0], 0, 0, 0, 0]);
});

test('calls that a gateway served before its share lapsed stay drawn, once however often it tells of them, and it is told that the share is gone', async (t) => {
  const key = `test:draw:${randomUUID()}`;
  await ask(key, { wanted: '' });
  t.like(await ask(key, { wanted: '5 1', credit: ['new', '5', '0'] }), { 1: [5], 3: 5 });
  t.is(await redis.run(tell, key, ['new', 'a', '1', '0']), 1);
  await age(key, 'share:a', 80);
  t.like(await ask(key, { wanted: '1 1', share: 'b' }), { 1: [1], 3: 2 });
  for (let times = 0; times < 2; times += 1) {
    t.is(await redis.run(tell, key, ['new', 'a', '1', '0']), 0, 'as it was told before');
    t.like(await ask(key, { wanted: '', share: 'b' }), { 3: 2 });
  }
  for (let times = 0; times < 2; times += 1) {
    t.is(await redis.run(tell, key, ['new', 'a', '3', '1']), 0);
    t.like(await ask(key, { wanted: '', share: 'b' }), { 3: 4 });
  }
  t.like(await ask(key, { wanted: '2 1', share: 'b' }), { 1: [1], 3: 5 });
  t.is(await redis.run(tell, key, ['another', 'b', '1', '0']), 0);
});

test('calls that a gateway served stay drawn also if it draws by the share that has lapsed before it tells of them', async (t) => {
  const key = `test:draw:${randomUUID()}`;
  await ask(key, { wanted: '' });
  await ask(key, { wanted: '3 1', credit: ['new', '5', '0'] });
  await age(key, 'share:a', 80);
  t.like(await ask(key, { wanted: '4 1', share: 'b' }), { 1: [4], 3: 4 });
  t.like(await ask(key, { wanted: '', ended: [1, 2] }), { 3: 5 });
  t.is(await redis.run(tell, key, ['new', 'a', '1', '2']), 1, 'the share is there again');
  t.like(await ask(key, { wanted: '1 1', ended: [1, 2] }), { 1: [0], 3: 5 });
});

test('what a share that has lapsed had served is forgotten after an hour', async (t) => {
  const key = `test:draw:${randomUUID()}`;
  await ask(key, { wanted: '2 1' });
  await age(key, 'share:a', 80);
  await ask(key, { share: 'b' });
  t.is(await redis.run(getField, key, ['share:a']), null);
  await age(key, 'lapsed:a', 3_500);
  await ask(key, { share: 'b' });
  t.not(await redis.run(getField, key, ['lapsed:a']), null);
  await age(key, 'lapsed:a', 3_700);
  await ask(key, { share: 'b' });
  t.is(await redis.run(getField, key, ['lapsed:a']), null);
});

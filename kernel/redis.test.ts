import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as endOfTurn, setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { silentLog, testRedisUrl } from '../test/services/harness.ts';
import { startRedis } from '../test/services/redis.ts';
import { until } from '../test/run/until.ts';
import {
  openRedis,
  parseRedisUrl,
  redisDeadlineMs,
  RedisUnavailable,
  script,
  type RedisLink,
} from './redis.ts';
import { createLog, type Log } from './log/log.ts';
import { projectRoot } from './project.ts';

test('a single server, a cluster and sentinels are distinguished by the URL', (t) => {
  t.deepEqual(parseRedisUrl('rediss://u:p@a:1/2'), { kind: 'single', url: 'rediss://u:p@a:1/2' });
  t.deepEqual(parseRedisUrl('redis+cluster://u:p@a:1,b:2'), {
    kind: 'cluster',
    urls: ['redis://u:p@a:1', 'redis://u:p@b:2'],
  });
  t.deepEqual(parseRedisUrl('rediss+cluster://a:1'), { kind: 'cluster', urls: ['rediss://a:1'] });
  t.deepEqual(parseRedisUrl('redis+sentinel://u:p%40@a,b:5/main'), {
    kind: 'sentinel',
    name: 'main',
    nodes: [
      { host: 'a', port: 26_379 },
      { host: 'b', port: 5 },
    ],
    username: 'u',
    password: 'p@',
  });
  const withColons = parseRedisUrl('redis+sentinel://u:a:b@h/main');
  t.is(withColons?.kind === 'sentinel' && withColons.password, 'a:b', 'as in the URL of one server');
  const ofIpv6 = parseRedisUrl('redis+sentinel://[::1]:5/main');
  t.deepEqual(ofIpv6?.kind === 'sentinel' && ofIpv6.nodes, [{ host: '::1', port: 5 }]);
});

test('a URL that is not for Redis is refused', (t) => {
  for (const text of [
    'http://a',
    'redis',
    'redis+sentinel://a:1',
    'redis+cluster://',
    'redis+other://a',
    'redis+cluster://a,',
    'xredis+cluster://a:1',
    'redis+cluster://a:1/x y',
  ]) {
    t.is(parseRedisUrl(text), null, text);
  }
});

const echo = script(`
if ARGV[1] == 'nothing' then return nil end
if ARGV[1] == 'fault' then return redis.call('hget', KEYS[1]) end
return { KEYS[1], #ARGV, ARGV[1] or '', ARGV[2] or '' }`);

test('concurrent runs of a script each have their own keys, arguments and answer', async (t) => {
  const redis = await openPatiently(t);
  const runs = [
    redis.run(echo, ['a'], ['1']),
    redis.run(echo, ['b'], ['nothing']),
    redis.run(echo, ['c'], []),
  ];
  t.deepEqual(await Promise.all([...runs, redis.run(echo, ['d', 'e'], ['x', 'y'])]), [
    ['a', 1, '1', ''],
    null,
    ['c', 0, '', ''],
    ['d', 2, 'x', 'y'],
  ]);
  const many = Array.from({ length: 250 }, (_, i) => redis.run(echo, [`k${i}`], [String(i)]));
  t.deepEqual(
    await Promise.all(many),
    many.map((_, i) => [`k${i}`, 1, String(i), '']),
  );
});

test('arguments arrive unchanged, empty or in any script', async (t) => {
  const redis = await openPatiently(t);
  for (const args of [
    ['', ''],
    ['päge', '数'],
    ['a\nb', '"'],
    ['a\0b', 'c'],
  ])
    t.deepEqual(await redis.run(echo, ['k'], args), ['k', 2, ...args]);
});

test('a failed run affects no other run', async (t) => {
  const redis = await openPatiently(t);
  const [before, failing, after] = ['1', 'fault', '2'].map((word) => redis.run(echo, ['a'], [word]));
  await t.throwsAsync(failing as Promise<unknown>, { instanceOf: RedisUnavailable });
  t.deepEqual(await before, ['a', 1, '1', '']);
  t.deepEqual(await after, ['a', 1, '2', '']);
});

for (const [how, words] of [
  ['alone', ['fault']],
  ['among others', ['1', 'fault', '2']],
] as const) {
  test(`after a script that failed ${how}, Redis is not asked until it answers again`, async (t) => {
    const redis = await openPatiently(t);
    const runs = words.map((word) => redis.run(echo, ['a'], [word]));
    const failed = runs[words.findIndex((word) => word === 'fault')] as Promise<unknown>;
    const asked: string[] = [];
    const refused = failed.catch(() =>
      redis.ask(() => Promise.resolve(asked.push('at once'))).catch((error: unknown) => error),
    );
    t.true((await refused) instanceof RedisUnavailable);
    t.deepEqual(asked, []);
    await Promise.allSettled(runs);
    await untilUsable(redis);
    t.deepEqual(await redis.run(echo, ['a'], ['3']), ['a', 1, '3', '']);
  });
}

test('a call to a stalled Redis fails in well under a second, and the next one does not wait at all', async (t) => {
  const server = await startRedis();
  t.teardown(() => server.stop());
  const redis = openRedis(server.url, silentLog);
  t.teardown(() => redis.close());
  await untilUsable(redis);
  server.stall();
  // Timers fire in the order of their deadlines, however late, so the order of the two does not depend on the machine's load.
  const second = new Promise((resolve) => setTimeout(resolve, 1_000, 'a second has passed'));
  const givenUp = redis.run(echo, ['a'], ['1']).catch((error: unknown) => error);
  t.true((await Promise.race([givenUp, second])) instanceof RedisUnavailable);
  const next = redis.run(echo, ['a'], ['2']).catch((error: unknown) => error);
  t.true((await Promise.race([next, endOfTurn('it waits')])) instanceof RedisUnavailable);
  server.goOn();
  await untilUsable(redis);
});

test('the deadline of Redis is the one that docs/operations.md names', (t) => {
  const documented = /Each command has (\d+) ms \(`redisDeadlineMs`\)/.exec(
    readFileSync(path.join(projectRoot, 'docs/operations.md'), 'utf8'),
  );
  t.is(Number(documented?.[1]), redisDeadlineMs);
});

/** A link with a long deadline, also sufficient on a busy machine: for tests that are not about the deadline. */
async function openPatiently(t: ExecutionContext): Promise<RedisLink> {
  const redis = openRedis(testRedisUrl(), silentLog, { deadlineMs: 30_000 });
  t.teardown(() => redis.close());
  await untilUsable(redis);
  return redis;
}

function untilUsable(redis: RedisLink): Promise<void> {
  return until('Redis is asked again', () => redis.isUsable);
}

/** A log, and the messages of the warnings written to it. */
function listening(): { log: Log; warnings: { msg: string; err: { message: string } }[] } {
  const warnings: { msg: string; err: { message: string } }[] = [];
  const log = createLog('test', 'warn', { write: (line) => void warnings.push(JSON.parse(line) as never) });
  return { log, warnings };
}

test('a Redis that is unavailable at the start is logged at once, and again while it stays unavailable', async (t) => {
  const { log, warnings } = listening();
  const redis = openRedis('redis://127.0.0.1:1', log, { warnEveryMs: 1 });
  t.teardown(() => redis.close());
  await until('it is logged three times', () => warnings.length >= 3);
  for (const { msg, err } of warnings) {
    t.regex(msg, /Redis does not answer correctly/);
    t.regex(err.message, /ECONNREFUSED/);
  }
});

test('a Redis that refuses the password is logged once a minute, with the reason and without the password', async (t) => {
  const server = await startRedis('--requirepass', 'the right one');
  t.teardown(() => server.stop());
  const { log, warnings } = listening();
  const redis = openRedis(`redis://:the-wrong-one@127.0.0.1:${server.port}`, log);
  t.teardown(() => redis.close());
  await until('it is logged', () => warnings.length > 0);
  t.regex(warnings[0]?.err.message ?? '', /WRONGPASS|invalid username-password/);
  await t.throwsAsync(redis.run(echo, ['a'], []), { instanceOf: RedisUnavailable });
  await pause(3 * 400); // some beats later
  t.is(warnings.length, 1);
  t.false(JSON.stringify(warnings).includes('the-wrong-one'));
});

test('a Redis that requires a password that is not set is logged at once', async (t) => {
  const server = await startRedis('--requirepass', 'the right one');
  t.teardown(() => server.stop());
  const { log, warnings } = listening();
  const redis = openRedis(server.url, log);
  t.teardown(() => redis.close());
  await until('it is logged', () => warnings.length > 0);
  t.regex(warnings[0]?.err.message ?? '', /NOAUTH/);
});

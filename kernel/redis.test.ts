import test from 'ava';
import { silentLog, testRedisUrl } from '../test/harness.ts';
import { openRedis, parseRedisUrl, RedisUnavailable, script } from './redis.ts';

test('one server, a cluster and sentinels are told apart by their address', (t) => {
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
});

test('what is no address of Redis is refused', (t) => {
  for (const text of [
    'http://a',
    'redis',
    'redis+sentinel://a:1',
    'redis+cluster://',
    'redis+other://a',
    'redis+cluster://a,',
  ]) {
    t.is(parseRedisUrl(text), null, text);
  }
});

const echo = script(`
if ARGV[1] == 'nothing' then return nil end
if ARGV[1] == 'fault' then return redis.call('hget', KEYS[1]) end
return { KEYS[1], #ARGV, ARGV[1] or '', ARGV[2] or '' }`);

test('runs of a script that are asked for at once each have their own key, arguments and answer', async (t) => {
  const redis = openRedis(testRedisUrl(), silentLog);
  await redis.opened();
  const runs = [redis.run(echo, 'a', ['1']), redis.run(echo, 'b', ['nothing']), redis.run(echo, 'c', [])];
  t.deepEqual(await Promise.all([...runs, redis.run(echo, 'd', ['x', 'y'])]), [
    ['a', 1, '1', ''],
    null,
    ['c', 0, '', ''],
    ['d', 2, 'x', 'y'],
  ]);
  const many = Array.from({ length: 250 }, (_, i) => redis.run(echo, `k${i}`, [String(i)]));
  t.deepEqual(
    await Promise.all(many),
    many.map((_, i) => [`k${i}`, 1, String(i), '']),
  );
  redis.close();
});

test('a run that fails fails alone', async (t) => {
  const redis = openRedis(testRedisUrl(), silentLog);
  await redis.opened();
  const [before, failing, after] = ['1', 'fault', '2'].map((word) => redis.run(echo, 'a', [word]));
  await t.throwsAsync(failing as Promise<unknown>, { instanceOf: RedisUnavailable });
  t.deepEqual(await before, ['a', 1, '1', '']);
  t.deepEqual(await after, ['a', 1, '2', '']);
  redis.close();
});

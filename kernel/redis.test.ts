import test from 'ava';
import { parseRedisUrl } from './redis.ts';

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

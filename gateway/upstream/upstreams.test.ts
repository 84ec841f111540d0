import test from 'ava';
import fc from 'fast-check';
import { createUpstreams } from './upstreams.ts';

const [a, b] = ['http://a', 'http://b'] as const;

function at(urls: readonly string[]) {
  const clock = { nowMs: 0 };
  return { upstreams: createUpstreams('data-api', urls, () => clock.nowMs), clock };
}

const pickMany = (pick: () => string) => [...new Set(Array.from({ length: 12 }, () => pick()))].sort();

test('a retry never goes to the instance that failed while there is another, whatever else has failed', (t) => {
  const step = fc.record({
    what: fc.constantFrom('failed', 'answered', 'pick', 'wait'),
    url: fc.constantFrom(a, b),
    ms: fc.nat(3_000),
  });
  fc.assert(
    fc.property(fc.array(step), fc.constantFrom(a, b), (steps, last) => {
      const { upstreams, clock } = at([a, b]);
      for (const { what, url, ms } of steps) {
        if (what === 'wait') clock.nowMs += ms;
        else if (what === 'pick') upstreams.pick(url);
        else upstreams[what](url);
      }
      upstreams.failed(last);
      return upstreams.pick(last) !== last;
    }),
  );
  const { upstreams } = at([a]);
  upstreams.failed(a);
  t.is(upstreams.pick(a), a, 'there is no other');
});

test('a failed instance is tried by one call, and used in turn again as soon as it answers', (t) => {
  const { upstreams, clock } = at([a, b]);
  upstreams.failed(a);
  t.deepEqual(pickMany(upstreams.pick), [b]);
  clock.nowMs = 200;
  const picked = Array.from({ length: 12 }, () => upstreams.pick());
  t.is(picked.filter((url) => url === a).length, 1);
  t.false(upstreams.isHealthy(a));
  upstreams.answered(a);
  t.true(upstreams.isHealthy(a));
  t.deepEqual(pickMany(upstreams.pick), [a, b]);
});

test('a call that tried a failed instance without a result does not exclude it for ever', (t) => {
  const { upstreams, clock } = at([a, b]);
  upstreams.failed(a);
  clock.nowMs = 200;
  t.true(pickMany(upstreams.pick).includes(a)); // the client left, so the call neither failed nor was answered
  t.false(pickMany(upstreams.pick).includes(a));
  clock.nowMs = 2_700;
  t.true(pickMany(upstreams.pick).includes(a));
});

test('if all have failed, all are used in turn', (t) => {
  const { upstreams } = at([a, b]);
  upstreams.failed(a);
  upstreams.failed(b);
  t.deepEqual(pickMany(upstreams.pick), [a, b]);
});

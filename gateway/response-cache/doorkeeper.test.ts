import test from 'ava';
import { createDoorkeeper } from './doorkeeper.ts';

test('a name is known from its second time on, and hardly any other with it', (t) => {
  const wasAskedFor = createDoorkeeper();
  const names = Array.from({ length: 1_000 }, (_, i) => `identity  /v1/series/S${i} */*`);
  t.deepEqual(
    names.filter((name) => wasAskedFor(name)),
    [],
  );
  const again = names.filter((name) => wasAskedFor(name)).length;
  t.true(again > 950, `${again} of 1000 are known`);
});

test('a name that was not asked for since many others is forgotten', (t) => {
  const wasAskedFor = createDoorkeeper();
  t.false(wasAskedFor('first'));
  for (let i = 0; i < 1_000_000; i += 1) wasAskedFor(`other ${i}`);
  t.false(wasAskedFor('first'));
});

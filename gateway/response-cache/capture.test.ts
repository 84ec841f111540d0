// Which answers are cached, and which calls wait for them: the two tables of fixed size.
import test from 'ava';
import { validityText } from '../../kernel/http/validity.ts';
import { fakeClock } from '../../test/services/harness.ts';
import { createCaptures } from './capture.ts';
import { createAnswerCache } from './answer-cache.ts';

const needed = { edition: 'e', load: 1 };

/** Creates captures. `ask` requests an answer that data-api gives at once, and returns whether it was cached. */
function start() {
  const answers = createAnswerCache(1_000_000);
  const captures = createCaptures(answers, fakeClock('2026-11-20T12:00:00Z'));
  const begin = (name: string) => captures.begin({ name, needed });
  const ask = (name: string) => {
    const capture = begin(name);
    capture.onHead(200, ['etag', '"1"'], validityText({ state: needed, forMs: 60_000 }));
    capture.onEnd();
    return answers.delete(name);
  };
  return { captures, begin, ask, join: (name: string) => captures.join({ name, needed }) };
}

test('an answer is cached from its second request on, and hardly any other answer is', (t) => {
  const { ask } = start();
  const names = Array.from({ length: 1_000 }, (_, i) => `identity  /v1/series/S${i} */*`);
  t.deepEqual(
    names.filter((name) => ask(name)),
    [],
  );
  const again = names.filter((name) => ask(name)).length;
  t.true(again > 950, `${again} of 1000 are stored`);
});

test('an answer that was last requested long ago counts as new', (t) => {
  const { ask } = start();
  t.false(ask('first'));
  for (let i = 0; i < 300_000; i += 1) ask(`other ${i}`);
  t.false(ask('first'));
});

test('calls with the same cache key join an answer in flight until it ends, and no others do', async (t) => {
  const { begin, join } = start();
  const own = begin('name');
  const joined = join('name');
  t.truthy(joined);
  for (let i = 0; i < 20_000; i += 1) t.is(join(`other ${i}`), undefined);
  own.end('left');
  t.is(join('name'), undefined);
  t.is(await joined, 'left');
});

test('no call joins an answer that will not be cached, or that may not include a newer load', (t) => {
  const { captures, begin, join } = start();
  const capture = begin('name');
  t.is(captures.join({ name: 'name', needed: { ...needed, load: 2 } }), undefined);
  t.is(captures.join({ name: 'name', needed: { ...needed, edition: 'f' } }), undefined);
  capture.onHead(200, ['etag', '"1"'], validityText({ state: needed, forMs: 60_000 }));
  t.false(capture.isOpen, 'it was asked for once');
  t.is(join('name'), undefined);
});

test('a later answer with the same key replaces the earlier one, whose end does not remove it', async (t) => {
  const { begin, join } = start();
  const [earlier, later] = [begin('name'), begin('name')];
  earlier.end();
  const joined = join('name');
  later.end('left');
  t.is(await joined, 'left');
});

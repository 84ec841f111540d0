import test from 'ava';
import { Capture } from './capture.ts';
import { createAnswersUnderWay } from './under-way.ts';

const aCapture = () =>
  new Capture({
    ...{ needed: { edition: 'e', load: 1 }, askedAtMs: 0, former: undefined, isWanted: true },
    ...{ keep: () => undefined, sendFormer: () => undefined },
  });

test('an answer under way is found by its name until it is removed, and by no other name', (t) => {
  const underWay = createAnswersUnderWay();
  const own = aCapture();
  underWay.add('name', own);
  t.is(underWay.get('name'), own);
  for (let i = 0; i < 20_000; i += 1) t.is(underWay.get(`other ${i}`), undefined);
  underWay.remove('name', own);
  t.is(underWay.get('name'), undefined);
});

test('a later answer of the same name takes the place of the earlier, whose end does not remove it', (t) => {
  const underWay = createAnswersUnderWay();
  const [earlier, later] = [aCapture(), aCapture()];
  underWay.add('name', earlier);
  underWay.add('name', later);
  underWay.remove('name', earlier);
  t.is(underWay.get('name'), later);
});

import test from 'ava';
import { z } from 'zod';
import { eventKinds, eventTypes, seriesEventTypes } from './catalogue.ts';

for (const type of eventTypes) {
  test(`the sample of ${type} matches its schema and has every field`, (t) => {
    const { data, sample } = eventKinds[type];
    t.deepEqual(z.strictObject(data.shape).parse(sample), sample);
    t.deepEqual(Object.keys(sample), Object.keys(data.shape));
  });
}

test('the events that can be filtered by series ids are those with ids', (t) => {
  const withIds = eventTypes.filter((type) => Object.hasOwn(eventKinds[type].data.shape, 'series'));
  t.deepEqual(withIds.toSorted(), [...seriesEventTypes].toSorted());
  for (const type of withIds) t.is(eventKinds[type].of, 'everybody', type);
});

test('an instant is in UTC, to the second', (t) => {
  const { data, sample } = eventKinds['dataset.updated'];
  for (const published_at of ['2026-11-16T12:30:04.000Z', '2026-11-16T12:30:04+00:00', '2026-11-16'])
    t.false(data.safeParse({ ...sample, published_at }).success, published_at);
});

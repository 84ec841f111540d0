import test from 'ava';
import { requireSchema, schemaDifferences, type Migration } from './schema.sql.ts';

const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name, checksum: `sum of ${name}` })) as [
  Migration,
  Migration,
  Migration,
];
const changedB = { ...b, checksum: 'another' };

test('migrations of this version can be missing, unknown ones are newer, and other texts are changed', (t) => {
  const fit = { missing: [], changed: [], newer: [] };
  t.deepEqual(schemaDifferences([a, b], [a, b]), fit);
  t.deepEqual(schemaDifferences([a, b], []), { ...fit, missing: ['a', 'b'] });
  t.deepEqual(schemaDifferences([a, b], [b, c]), { ...fit, missing: ['a'], newer: ['c'] });
  t.deepEqual(schemaDifferences([a, b], [a, changedB]), { ...fit, changed: ['b'] });
});

test('readiness names the migrations that do not fit, and accepts newer ones, as during the roll-out of a version', async (t) => {
  const requireOf = (expected: Migration[], applied: Migration[]) =>
    requireSchema(() => Promise.resolve(applied), expected);
  await t.notThrowsAsync(requireOf([a, b], [a, b, c]));
  await t.throwsAsync(requireOf([a, b, c], [changedB]), {
    code: 'unavailable',
    message: /does not fit this version: it lacks a, c; other texts were applied as b\.$/,
  });
  const whyOf = async (thrown: Error) =>
    (
      await t.throwsAsync(
        requireSchema(() => Promise.reject(thrown), [a]),
        { code: 'unavailable' },
      )
    )?.message;
  t.is(await whyOf(new Error('connect ECONNREFUSED')), 'The database does not respond.');
  t.regex((await whyOf(Object.assign(new Error('missing'), { code: '42P01' }))) ?? '', /never migrated/);
  const ofSequelize = Object.assign(new Error('refused'), { parent: { code: '28P01' } });
  t.regex((await whyOf(ofSequelize)) ?? '', /refuses the user or the password/);
});

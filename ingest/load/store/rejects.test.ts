import test from 'ava';
import { Rejects } from './rejects.ts';

test('a refused value is shown in full up to 200 characters, and truncated above', (t) => {
  const rejects = new Rejects();
  rejects.add(2, 'value', 'x'.repeat(200), 'a number');
  rejects.add(3, 'value', 'x'.repeat(201), 'a number');
  t.deepEqual(
    rejects.first.map(({ value }) => value),
    ['x'.repeat(200), `${'x'.repeat(200)}…`],
  );
});

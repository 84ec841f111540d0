import test from 'ava';
import { createProgress } from './progress.ts';

function terminal(isTTY: boolean) {
  const written: string[] = [];
  return { written, isTTY, write: (text: string) => void written.push(text) };
}

test('a terminal shows the share of the file that is read, and the rows', (t) => {
  const out = terminal(true);
  const progress = createProgress(2_000, out);
  progress.show(1_234, 500);
  progress.show(5_000, 2_500);
  t.true(out.written[0]?.includes(`${'█'.repeat(8)}${'·'.repeat(22)} 25 %  1,234 rows`));
  t.true(out.written[1]?.includes(`${'█'.repeat(30)} 100 %  5,000 rows`));
  progress.clear();
  t.is(out.written[2], '\r\x1b[K');
});

test('standard input has no end to see, so its rows alone are shown', (t) => {
  const out = terminal(true);
  createProgress(undefined, out).show(1_234, 500);
  t.is(out.written[0], '\r\x1b[K1,234 rows');
});

test('a file or a pipe gets no progress', (t) => {
  const out = terminal(false);
  const progress = createProgress(2_000, out);
  progress.show(1_234, 500);
  progress.clear();
  t.deepEqual(out.written, []);
});

import test from 'ava';
import { createProgress, createRunProgress } from './progress.ts';

function terminal(isTTY: boolean, columns?: number) {
  const written: string[] = [];
  return {
    written,
    isTTY,
    ...(columns !== undefined && { columns }),
    write: (text: string) => void written.push(text),
  };
}

test('a terminal shows the share of the file that has been read, and the rows', (t) => {
  const out = terminal(true);
  const progress = createProgress(2_000, out);
  progress.show(1_234, 500);
  progress.show(5_000, 2_500);
  t.true(out.written[0]?.includes(`${'█'.repeat(8)}${'·'.repeat(22)} 25 %  1,234 rows`));
  t.true(out.written[1]?.includes(`${'█'.repeat(30)} 100 %  5,000 rows`));
  progress.clear();
  t.is(out.written[2], '\r\x1b[K');
});

test('for standard input, whose size is unknown, only the rows are shown', (t) => {
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

const half = { tablesDone: 500, tables: 1_000, pointsRead: 1_000_000, bytesRead: 600, bytesTotal: 1_200 };

test('a run over many tables is one line: share, tables, points, points a second, time left', (t) => {
  const out = terminal(true, 100);
  let now = 5_000;
  const progress = createRunProgress(out, () => now);
  progress.show({ ...half, tablesDone: 0, pointsRead: 10, bytesRead: 12 });
  t.is(out.written[0], `\r\x1b[K${'·'.repeat(30)} 1 %  0 of 1,000 tables  10 points`, 'no rate yet');
  now += 65_000;
  progress.show(half);
  t.is(
    out.written[1],
    `\r\x1b[K${'█'.repeat(15)}${'·'.repeat(15)} 50 %  500 of 1,000 tables  1,000,000 points  15,385/s  1:05 left`,
  );
  now += 7_235_000;
  progress.show(half);
  t.regex(out.written[2] ?? '', / 2:01:40 left$/);
});

test('the line of a run is shown ten times a second at most, and at once after another line was printed', (t) => {
  const out = terminal(true);
  let now = 0;
  const progress = createRunProgress(out, () => now);
  progress.show(half);
  now += 99;
  progress.show(half);
  t.is(out.written.length, 1);
  progress.clear();
  progress.show(half);
  t.is(out.written.length, 3);
  now += 100;
  progress.show(half);
  t.is(out.written.length, 4);
});

test('the line of a run is never longer than the terminal is wide', (t) => {
  for (const columns of [20, 40, 60, 70, 80, 200]) {
    const out = terminal(true, columns);
    let now = 0;
    const progress = createRunProgress(out, () => (now += 10_000));
    progress.show(half);
    const [line = ''] = out.written;
    t.true(line.slice('\r\x1b[K'.length).length < columns, `${columns}: ${line}`);
    t.regex(line, /50 % /);
  }
});

test('a run gets no progress in a file or a pipe', (t) => {
  const out = terminal(false);
  const progress = createRunProgress(out, () => 0);
  progress.show(half);
  progress.clear();
  t.deepEqual(out.written, []);
});

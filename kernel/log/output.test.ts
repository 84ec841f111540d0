import { spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
import test from 'ava';
import { LogOutput, type Files } from './output.ts';

/** A file that accepts a given number of bytes per write, or fails with a given code. */
function fakeFile() {
  let text = '';
  const file = { accepts: Infinity as number | string };
  let asked: (() => void) | undefined;
  const files: Files = {
    write(_fd, bytes, done) {
      asked = () => {
        asked = undefined;
        const { accepts } = file;
        if (typeof accepts === 'string') return done(Object.assign(new Error(accepts), { code: accepts }), 0);
        const written = Math.min(accepts, bytes.length);
        text += bytes.toString('utf8', 0, written);
        done(null, written);
      };
    },
    writeSync(_fd, bytes) {
      text += bytes.toString();
      return bytes.length;
    },
  };
  const lines = () => text.trimEnd().replaceAll(/"time":"[^"]*"/g, '"time":""').split('\n'); // prettier-ignore
  return { file, files, lines, answer: () => asked?.(), isAsked: () => asked !== undefined };
}

/** Longer than the buffer, so it is written at once. */
const long = (letter: string) => `${letter.repeat(70_000)}\n`;
const lost = (lines: number) => `{"level":50,"time":"","lines":${lines},"msg":"log lines were lost"}`;

test('a line that cannot be written is lost and counted, and the next ones are written', (t) => {
  const { file, files, lines, answer } = fakeFile();
  const output = new LogOutput(1, files);
  output.write(long('a'));
  file.accepts = 'ENOSPC';
  answer();
  output.write(long('b'));
  answer();
  file.accepts = Infinity;
  output.write(long('c'));
  answer();
  answer();
  t.deepEqual(lines(), ['c'.repeat(70_000), lost(2)]);
});

test('a partly written line is not joined to the next one', (t) => {
  const { file, files, lines, answer } = fakeFile();
  const output = new LogOutput(1, files);
  output.write(long('a'));
  file.accepts = 3;
  answer();
  file.accepts = 'ENOSPC';
  answer();
  output.write(long('b'));
  file.accepts = Infinity;
  answer();
  answer();
  t.deepEqual(lines(), ['aaa', 'b'.repeat(70_000), lost(1)]);
});

test('the lines that wait for a stalled reader are bounded, and dropped lines are counted', (t) => {
  const { files, lines, answer, isAsked } = fakeFile();
  const output = new LogOutput(1, files);
  for (let i = 0; i < 1_000; i += 1) output.write(long('a'));
  while (isAsked()) answer();
  const written = lines();
  t.true(written.length < 200);
  t.is(written.at(-1), lost(1_001 - written.length));
});

test('nothing is written once the reader has gone', (t) => {
  const { file, files, isAsked, answer } = fakeFile();
  const output = new LogOutput(1, files);
  output.write(long('a'));
  output.write(long('b'));
  file.accepts = 'EPIPE';
  answer();
  output.write(long('c'));
  t.false(isAsked());
});

test('waiting lines are written at the end, except those already being written', (t) => {
  const { files, lines, answer } = fakeFile();
  const output = new LogOutput(1, files);
  output.write(long('a'));
  output.write(long('b'));
  output.write('c\n');
  output.writeNow();
  answer();
  t.deepEqual(lines(), ['b'.repeat(70_000), 'c', 'a'.repeat(70_000)]);
});

test('gathered lines are written before the process ends', (t) => {
  const { files, lines, isAsked } = fakeFile();
  const output = new LogOutput(1, files);
  output.write('a\n');
  output.write('b\n');
  output.writeNow();
  t.false(isAsked());
  t.deepEqual(lines(), ['a', 'b']);
});

test('a process whose log is on a full disk continues, and can end', (t) => {
  const program = `
    const { createLog, standardOutput } = await import(${JSON.stringify(new URL('log.ts', import.meta.url))});
    const log = createLog('test', 'info', standardOutput());
    for (let i = 0; i < 3; i += 1) {
      log.info('x'.repeat(100_000));
      await new Promise(setImmediate);
    }
    log.info('the last');
    process.stderr.write('served');`;
  const words = ['--input-type=module', '--eval', program];
  const stdio = ['ignore', openSync('/dev/full', 'w'), 'pipe'] as const;
  const { status, stderr } = spawnSync(process.execPath, words, { stdio: [...stdio], encoding: 'utf8', timeout: 30_000 }); // prettier-ignore
  t.deepEqual([status, stderr], [0, 'served']);
});

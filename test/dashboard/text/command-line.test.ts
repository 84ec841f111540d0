// The commands that pages show next to their own actions.
import { execFileSync } from 'node:child_process';
import test from 'ava';
import fc from 'fast-check';
import { commandLine } from '../../../dashboard/text/command-line.ts';

test('words that need no quotes have none', (t) => {
  t.is(commandLine('almanac', 'loads', 'retract', '7', '--erase'), 'almanac loads retract 7 --erase');
  t.is(commandLine('--reason', 'wrong unit'), "--reason 'wrong unit'");
  t.is(commandLine('--reason', "it's wrong"), "--reason 'it'\\''s wrong'");
});

test('a shell reads the words as they were, whatever they hold', (t) => {
  const word = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0'));
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 20 }), (words) => {
      const line = commandLine('printf', '%s\\0', ...words);
      const read = execFileSync('sh', ['-c', line], { encoding: 'utf8' });
      t.deepEqual(read.split('\0').slice(0, -1), words);
    }),
    { numRuns: 20 },
  );
});

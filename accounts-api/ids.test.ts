import test from 'ava';
import { mintSessionToken } from '../kernel/credentials/session-token.ts';
import { newId } from './ids.ts';

test('ids cannot be guessed: each character is one of 32 at random, and none reveals the next', (t) => {
  const made = Array.from({ length: 4_000 }, () => newId('acct').slice('acct_'.length));
  const sessions = Array.from({ length: 4_000 }, () => mintSessionToken().id.slice('sess_'.length));
  for (const [ids, length] of [
    [made, 20],
    [sessions, 16],
  ] as const) {
    t.is(new Set(ids).size, ids.length);
    t.true(ids.every((id) => new RegExp(`^[a-z2-7]{${length}}$`).test(id)));
    for (let place = 0; place < length; place += 1) {
      const counts = new Map<string, number>();
      for (const id of ids) counts.set(id[place] ?? '', (counts.get(id[place] ?? '') ?? 0) + 1);
      t.is(counts.size, 32);
      // 125 of each are expected, with a standard deviation of 11; seven deviations either way occur once in 10^9 runs.
      for (const [character, count] of counts)
        t.true(count > 48 && count < 202, `${character} at ${place}: ${count}`);
    }
  }
});

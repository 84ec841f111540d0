// The search for secrets at the end of a run finds a secret in every place.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { mintApiKey } from '../../kernel/credentials/api-key.ts';
import { mintSessionToken } from '../../kernel/credentials/session-token.ts';
import { findLeaks } from './traces.ts';

test('a secret in a row, a log line or Redis is found, by its form or because it was noted', (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-traces-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const [key, session] = [mintApiKey(), mintSessionToken().token];
  writeFileSync(path.join(directory, 'secrets-1'), '"test-0123456789ab"\n"four unrelated words, noted"\n');
  writeFileSync(
    path.join(directory, 'rows-x'),
    `harmless\tacct_1\nid\t{"k":"${key}"}\nx\ttest-0123456789ab\t1\nxtest-0123456789ab\n${key.slice(0, -1)}!\n`,
  );
  writeFileSync(path.join(directory, 'log-1'), `{"level":30,"path":"/a?t=${session}"}\n`);
  const redis = { name: 'redis', text: 'almanac:x four unrelated words, noted' };
  const { leaks, secrets } = findLeaks(directory, [redis]);
  t.is(secrets, 2);
  t.deepEqual(leaks.map(({ what, where }) => `${what} in ${where.split(': ')[0]}`).toSorted(), [
    'a noted secret in redis:1',
    'a noted secret in rows-x:3',
    'a session token in log-1:1',
    'an API key in rows-x:2',
  ]);
});

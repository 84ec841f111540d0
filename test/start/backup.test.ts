// The proof of a backup: an installation is backed up, destroyed and restored, and its API answers as before.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { createInstallation } from '../services/instance.ts';

const installation = await createInstallation({
  IDENTITY_SECRET: 'of the tests, as it seals the cursors of pages', // it is no part of a backup
});
test.after.always(() => installation.remove());

const targets = [
  '/v1/catalog?limit=1000',
  '/v1/catalog/DEMO.CPI',
  '/v1/search?q=price&limit=100',
  '/v1/calendar?limit=100',
  '/v1/series/DEMO.CPI?limit=1000',
  '/v1/series/DEMO.CPI?limit=5&transform=yoy&format=csv',
  '/v1/series/DEMO.PAYROLLS/triangle?format=csv',
  '/v1/series/DEMO.PAYROLLS/vintages',
  '/v1/commodities/items',
  '/v1/funds?limit=50',
  '/v1/keys',
  '/v1/webhooks',
];

/** The answers of the API by target, as status and body; and how many of the calls count against the month. */
async function answers(key: string): Promise<{ found: Record<string, string>; charged: number }> {
  const found: Record<string, string> = {};
  let charged = 0;
  for (const target of targets) {
    const response = await fetch(installation.url + target, { headers: { 'x-api-key': key } });
    // When a key was used last is written a moment after the call.
    const body = (await response.text()).replace(/"last_used_at":("[^"]*"|null)/g, '"last_used_at":…');
    found[target] = `${response.status} ${body}`;
    if (response.headers.has('x-quota-limit')) charged += 1;
  }
  return { found, charged };
}

test('an installation that was destroyed and restored answers every call as before, and bills on', async (t) => {
  const first = await installation.start();
  const key = first.apiKey ?? '';
  const { found: before, charged } = await answers(key);
  t.true(charged >= 5);
  for (const [target, answer] of Object.entries(before))
    t.true(answer.startsWith('200 '), target + answer.slice(0, 200));
  const usage = async () => {
    const response = await fetch(`${installation.url}/v1/usage`, { headers: { 'x-api-key': key } });
    return ((await response.json()) as { data: { used: number } }).data.used;
  };
  const file = path.join(path.dirname(installation.dataDir), 'backup.gz');
  await installation.almanac('backup', file.replace('backup', 'running'));
  t.is(await first.stop('SIGTERM'), 0);

  await installation.almanac('backup', file);
  rmSync(installation.dataDir, { recursive: true });
  const reported = JSON.parse(await installation.almanac('restore', file, '--json')) as { rows: number };
  t.true(reported.rows > 10_000);
  t.true(existsSync(path.join(installation.dataDir, 'postgres')));

  const second = await installation.start();
  t.is(second.apiKey, undefined, 'the demo account is there');
  t.is(await usage(), charged, 'the calls of before count');
  t.deepEqual((await answers(key)).found, before);

  const inUse = await installation.run('restore', file, '--replace');
  t.is(inUse.code, 1);
  t.regex(inUse.output, /This database is in use \(almanac .*\)\. Stop all services and commands first/);
  const csv = path.join(path.dirname(installation.dataDir), 'new.csv');
  writeFileSync(csv, 'date,value\n2024-01-01,7\n');
  await installation.almanac(
    'ingest',
    'observations',
    csv,
    '--create',
    '--set',
    'series_id=NEW,name=N,unit=One,frequency=daily,source=T',
  );
  const loaded = await fetch(`${installation.url}/v1/series/NEW`, { headers: { 'x-api-key': key } });
  t.regex(await loaded.text(), /"value":7/);
  t.is(await second.stop('SIGTERM'), 0);
});

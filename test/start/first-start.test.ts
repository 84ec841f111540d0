// The first start of an installation, also if it is interrupted: the demo is loaded while services start, and its account is created last.
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { until } from '../run/until.ts';
import { createInstallation, type Installation } from '../services/instance.ts';
import { ownerUrlOf } from './sinks.ts';

async function setUp(t: ExecutionContext): Promise<Installation> {
  const installation = await createInstallation();
  t.teardown(() => installation.remove());
  return installation;
}

/** How many files of the demo are loaded; 0 while there is no database, or not yet its schema. */
async function loadsOf(installation: Installation): Promise<number> {
  if (!existsSync(path.join(installation.dataDir, 'postgres/postmaster.pid'))) return 0;
  const client = new pg.Client({ connectionString: ownerUrlOf(installation) });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ count: number }>('select count(*)::int as count from data.loads');
    return rows[0]?.count ?? 0;
  } catch {
    return 0;
  } finally {
    await client.end();
  }
}

/** The next start prints a key, and answers with all of the demo. */
async function startsWithDemo(t: ExecutionContext, installation: Installation): Promise<void> {
  const { apiKey = '', output, stop } = await installation.start();
  t.regex(output, /^Loading the demo data …$/m);
  t.regex(apiKey, /^pk_live_/);
  for (const id of ['DEMO.CPI', 'DEMO.FX', 'DEMO.SHARE-INDEX']) {
    const answer = await fetch(`${installation.url}/v1/series/${id}`, { headers: { 'x-api-key': apiKey } });
    t.is(answer.status, 200, id);
  }
  const { accounts } = JSON.parse(await installation.almanac('accounts', 'list', '--json')) as {
    accounts: unknown[];
  };
  t.is(accounts.length, 1);
  t.is(await stop(), 0);
}

test('a first start that is killed while it loads the demo is completed by the next, which prints the key', async (t) => {
  const installation = await setUp(t);
  const first = installation.spawn('start');
  const isPartLoaded = async () => (await loadsOf(installation)) > 3;
  await until('a part of the demo is loaded', isPartLoaded, 120_000);
  await first.end('SIGKILL');
  t.notRegex(first.output(), /pk_live_/);
  await startsWithDemo(t, installation);
});

test('a first start with a busy port fails before it creates anything', async (t) => {
  const installation = await setUp(t);
  const other = createServer();
  const { port } = new URL(installation.url);
  await new Promise<void>((resolve) => other.listen(Number(port), '127.0.0.1', resolve));
  const { code, output } = await installation.run('start');
  t.is(code, 1);
  t.regex(output, /Port \d+ on 127\.0\.0\.1 is in use/);
  t.false(existsSync(installation.dataDir), 'it is found out before anything is made');
  await new Promise((resolve) => other.close(resolve));
  await startsWithDemo(t, installation);
});

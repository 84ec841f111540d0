// A statement that waits for a lock is slow: the log names the statement and its call, and contains none of its values.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import pg from 'pg';
import { start as startAccounts } from '../../accounts-api/main.ts';
import { start as startDataApi } from '../../data-api/main.ts';
import { anonymous, createSealer, identityHeader } from '../../kernel/identity.ts';
import { createLog, type Log } from '../../kernel/log/log.ts';
import { createTestDatabase, fakeClock, testIdentitySecret } from '../services/harness.ts';
import { projectPlans } from '../services/services.ts';
import { testSignIn } from '../services/sign-in.ts';
import { until } from '../run/until.ts';

const shared = {
  identitySecret: testIdentitySecret,
  host: '127.0.0.1',
  port: 0,
  clock: fakeClock('2026-11-20T12:00:00Z'),
  slowStatementMs: 1,
};
const plans = projectPlans();
const hash = 'a'.repeat(64);

for (const [name, table, start, path, body] of [
  [
    'data-api',
    'data.loads',
    (log: Log, databaseUrl: string) =>
      startDataApi({ ...shared, log, databaseUrl, seriesTimeZone: 'UTC', publicUrl: 'http://localhost' }),
    '/internal/newest-load',
    undefined,
  ],
  [
    'accounts-api',
    'accounts.api_keys',
    (log: Log, databaseUrl: string) =>
      startAccounts({ ...shared, log, databaseUrl, redisUrl: undefined, plans, signIn: testSignIn }),
    '/internal/heartbeat',
    JSON.stringify({
      ...{ life: randomUUID(), begins: true, seen: 0, wait_ms: 0, ended: [], batch: null, wants: [] },
      ...{ keys: [hash], month: '2026-11-01' },
    }),
  ],
] as const) {
  test(`a slow statement of ${name} is logged with its call and without its values`, async (t) => {
    const { url: databaseUrl, drop } = await createTestDatabase();
    const lines: Record<string, unknown>[] = [];
    const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
    const service = await start(createLog('test', 'warn', { write }), databaseUrl);
    const holder = new pg.Client({ connectionString: databaseUrl });
    const watcher = new pg.Client({ connectionString: databaseUrl }); // a transaction sees one state of pg_stat_activity
    await Promise.all([holder.connect(), watcher.connect()]);
    t.teardown(async () => {
      await Promise.all([holder.end(), watcher.end()]);
      await service.close();
      await drop();
    });
    await holder.query('begin');
    await holder.query(`lock table ${table}`);
    const answer = fetch(service.url + path, {
      ...(body === undefined ? {} : { method: 'POST', body }),
      headers: {
        [identityHeader]: createSealer(testIdentitySecret, name)(
          { ...anonymous, scope: 'internal' },
          body === undefined ? 'GET' : 'POST',
          path,
        ),
        'x-request-id': 'the-call',
        'content-type': 'application/json',
      },
    });
    await until('a statement waits', async () => {
      const { rows } = await watcher.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    });
    await holder.query('commit');
    t.is((await answer).status, 200);
    const slow = lines.filter(({ event }) => event === 'slow_statement');
    const own = slow.find(({ request_id: id, sql }) => id === 'the-call' && String(sql).includes(table));
    t.truthy(own, JSON.stringify(lines));
    t.true(Number(own?.['duration_ms']) >= 1);
    t.false(JSON.stringify(lines).includes(hash));
  });
}

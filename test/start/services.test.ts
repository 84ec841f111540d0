// Services that run alone, as on a cluster: processes with the roles of migrations/roles.sql, on a separate database.
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { projectRoot } from '../../kernel/project.ts';
import { serviceUrl, type ServiceRole } from '../../migrations/roles.ts';
import { commandLine, settingsOf } from '../cli/terminal.ts';
import { exempt } from '../openapi/check-answers.ts';
import { startServing } from '../run/processes.ts';
import { until } from '../run/until.ts';
import { createTestDatabase } from '../services/harness.ts';

const program = path.join(projectRoot, 'almanac.js');
const services = ['data-api', 'accounts-api', 'publisher'] as const;
const roles: Readonly<Record<string, ServiceRole>> = {
  'data-api': 'almanac_data_api',
  publisher: 'almanac_publisher',
};

async function setUp(t: ExecutionContext) {
  const database = await createTestDatabase();
  t.teardown(() => database.drop());
  const owner = new pg.Client({ connectionString: database.url });
  await owner.connect();
  t.teardown(() => owner.end());
  const urlOf = (service: string) => serviceUrl(database.url, roles[service] ?? 'almanac_accounts_api');
  const settings = settingsOf(database.url);
  const almanac = commandLine(settings);
  const ports = { DATA_API_PORT: '0', ACCOUNTS_API_PORT: '0' };
  return {
    owner,
    /** Starts a service. @returns its URL. */
    async start(service: string, more: Record<string, string> = {}): Promise<string> {
      const running = new RegExp(`${service} is running: (\\S+)`);
      const child = await startServing(running, process.execPath, [program, 'start', service], {
        name: service,
        env: {
          ...process.env,
          DASHBOARD: 'off',
          ...settings,
          REDIS_URL: '',
          ...ports,
          DATABASE_URL: urlOf(service),
          ...more,
        },
      });
      t.teardown(() => child.end());
      return child.ready[1] ?? '';
    },
    /** Starts a service that cannot start, in this process. @returns its exit code and output. */
    async fail(service: string, more: Record<string, string> = {}) {
      const env = { ...ports, DATABASE_URL: urlOf(service), ...more };
      const { code, stderr } = await almanac(['start', service], { env });
      return { code, output: stderr };
    },
  };
}

async function readiness(url: string): Promise<{ status: number; message: string }> {
  exempt(url); // the document has the answer of the gateway
  const response = await fetch(`${url}/readyz`);
  const { error } = (await response.json()) as { error?: { message: string } };
  return { status: response.status, message: error?.message ?? '' };
}

test('a service is not ready while the schema of its database does not fit, and a newer one is refused at the start', async (t) => {
  const { owner, start, fail } = await setUp(t);
  const urls = await Promise.all(services.map((service) => start(service)));
  const all = () => Promise.all(urls.map(readiness));
  const untilAll = (what: string, status: number, pattern: RegExp) =>
    until(what, async () =>
      (await all()).every((each) => each.status === status && pattern.test(each.message)),
    );
  const newest = '(select max(name) from public.almanac_migrations)';
  await untilAll('all are ready', 200, /^$/);

  const { rows } = await owner.query<{ name: string; checksum: string }>(
    `delete from public.almanac_migrations where name = ${newest} returning name, checksum`,
  );
  const [{ name, checksum } = { name: '', checksum: '' }] = rows;
  const lacks = new RegExp(`does not fit this version: it lacks ${name}\\.`);
  await untilAll('all lack a migration', 503, lacks);
  await owner.query('insert into public.almanac_migrations (name, checksum) values ($1, $2)', [
    name,
    'other',
  ]);
  await untilAll('all find other texts', 503, new RegExp(`other texts were applied as ${name}\\.`));
  await owner.query('update public.almanac_migrations set checksum = $2 where name = $1', [name, checksum]);
  await owner.query(`insert into public.almanac_migrations (name, checksum) values ('999999_newer', '0')`);
  await untilAll('what runs while a new version is rolled out goes on', 200, /^$/);
  for (const { code, output } of await Promise.all(['data-api', 'worker'].map((each) => fail(each)))) {
    t.is(code, 1);
    t.regex(output, /newer version of Almanac has migrated this database \(999999_newer\)/);
  }
  await owner.query(`delete from public.almanac_migrations where name = any($1)`, [['999999_newer', name]]);
  for (const { code, output } of await Promise.all(services.map((each) => fail(each)))) {
    t.is(code, 1);
    t.regex(
      output,
      new RegExp(`may not migrate this database, and it lacks ${name}\\. Run "almanac migrate"`),
    );
  }
  await owner.query('drop table public.almanac_migrations');
  for (const { status } of await all()) t.is(status, 503);
});

test.serial(
  'a service that cannot start leaves the process with the signal listeners that it had',
  async (t) => {
    const { fail } = await setUp(t);
    const listeners = () =>
      (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) => process.listenerCount(signal));
    const before = listeners();
    for (const service of services) t.is((await fail(service, { HOST: '203.0.113.1' })).code, 1);
    t.deepEqual(listeners(), before);
  },
);

test('a service whose port is busy names the setting of that port', async (t) => {
  const { fail } = await setUp(t);
  const other = createServer();
  t.teardown(() => other.close());
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  for (const [service, setting] of [
    ['data-api', 'DATA_API_PORT'],
    ['accounts-api', 'ACCOUNTS_API_PORT'],
    ['publisher', 'PUBLISHER_PORT'],
  ] as const) {
    const { code, output } = await fail(service, { [setting]: String(port) });
    t.is(code, 1);
    t.regex(output, new RegExp(`Port ${port} on 127\\.0\\.0\\.1 is in use .* ${setting}=${port + 1}\\.`));
  }
  const nowhere = await fail('data-api', { HOST: '203.0.113.1' });
  t.regex(nowhere.output, /Cannot listen on port 0 of 203\.0\.113\.1 \(see DATA_API_PORT\)/);
});

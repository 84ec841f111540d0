// What `almanac check` reports about clocks, the replica, metrics, traces and the memory of Redis, each in a good and a bad state.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { entitlementOf } from '../../cli/commands/check-observability.ts';
import { serveMetrics } from '../../kernel/http/metrics-server.ts';
import { createTestDatabase } from '../services/harness.ts';
import { freePort } from '../services/instance.ts';
import { startRedis } from '../services/redis.ts';
import { exempt } from '../openapi/check-answers.ts';
import { commandLine, settingsOf } from './terminal.ts';

const database = await createTestDatabase();
test.after.always(() => database.drop());
const almanac = commandLine(settingsOf(database.url));

/** The findings about one subject. */
async function findingOf(
  what: string,
  env: Record<string, string>,
): Promise<{ state: string; detail: string }> {
  const { stdout } = await almanac(['check', '--json'], { env });
  const { findings } = JSON.parse(stdout) as { findings: { what: string; state: string; detail: string }[] };
  const { state = '', detail = '' } = findings.find((finding) => finding.what === what) ?? {};
  return { state, detail };
}

/** A server that answers everything alike. */
async function startAnswering(t: ExecutionContext, status: number): Promise<number> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status).end('a page');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  exempt(`http://127.0.0.1:${port}`);
  return port;
}

test('the clock of the database on this machine is right', async (t) => {
  const { state, detail } = await findingOf('clock', {});
  t.is(state, 'ok');
  t.regex(detail, /^that of the database is \d\.\d s (?:behind|ahead of) that of this machine$/);
});

test('a replica that is far behind is a fault, and a primary in its place is reported as a primary', async (t) => {
  t.deepEqual(await findingOf('replica', { DATABASE_READ_URL: database.url }), {
    state: 'ok',
    detail: 'DATABASE_READ_URL is a primary, not a replica',
  });
  t.is(entitlementOf({ lag_seconds: 29.94 }), '29.9 s behind its primary');
  t.throws(() => entitlementOf({ lag_seconds: 31 }), { message: /31\.0 s behind its primary; at most 30 s/ });
});

test('the port of metrics is free, serves them, or belongs to another program', async (t) => {
  const port = String(await freePort());
  t.like(await findingOf('metrics', { METRICS_PORT: port }), { state: 'ok' });
  t.regex((await findingOf('metrics', { METRICS_PORT: port })).detail, /is free/);
  const served = await serveMetrics([{ name: 'almanac_one', help: 'One.', read: () => [{ value: 1 }] }], {
    host: '127.0.0.1',
    port: 0,
  });
  t.teardown(() => served.close());
  exempt(served.url);
  const own = await findingOf('metrics', { METRICS_PORT: new URL(served.url).port });
  t.is(own.state, 'ok');
  t.regex(own.detail, /serves 1 metrics of Almanac/);
  const other = await findingOf('metrics', { METRICS_PORT: String(await startAnswering(t, 200)) });
  t.is(other.state, 'failed');
  t.regex(other.detail, /another program answers/);
});

test('the address for traces passes if it accepts traces', async (t) => {
  const at = async (status: number) =>
    findingOf('traces', {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await startAnswering(t, status)}`,
    });
  t.is((await at(200)).state, 'ok');
  t.is((await at(401)).state, 'ok', 'its headers are not known here');
  const missing = await at(404);
  t.is(missing.state, 'failed');
  t.regex(missing.detail, /\/v1\/traces answers 404/);
});

test('a Redis that evicts keys is a fault', async (t) => {
  const redis = await startRedis('--maxmemory', '20mb', '--maxmemory-policy', 'allkeys-lru');
  t.teardown(() => redis.stop());
  const evicting = await findingOf('redis', { REDIS_URL: redis.url });
  t.is(evicting.state, 'failed');
  t.regex(evicting.detail, /maxmemory-policy is allkeys-lru: set noeviction/);
  await redis.command('config', 'set', 'maxmemory-policy', 'noeviction');
  t.deepEqual(await findingOf('redis', { REDIS_URL: redis.url }), {
    state: 'ok',
    detail: 'takes writes, and evicts nothing',
  });
  await redis.command('acl', 'setuser', 'few', 'on', '>few', '~*', '&*', '+@all', '-info');
  const few = redis.url.replace('redis://', 'redis://few:few@');
  const unknown = await findingOf('redis', { REDIS_URL: few });
  t.is(unknown.state, 'ok');
  t.regex(unknown.detail, /maxmemory-policy is unknown/);
});

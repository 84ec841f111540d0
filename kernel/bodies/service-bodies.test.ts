import { request } from 'node:http';
import test from 'ava';
import { silentLog, testIdentitySecret } from '../../test/services/harness.ts';
import { until } from '../../test/run/until.ts';
import { sendJson } from '../http/reply.ts';
import { startService } from '../http/server.ts';
import { anonymous, createOpener, createSealer, identityHeader } from '../identity.ts';

const seal = createSealer(testIdentitySecret, 'data-api');

test('a service buffers at most its budget of body bytes, and half of it per client', async (t) => {
  let waiting: (() => void)[] = [];
  const service = await startService({
    ...{ log: silentLog, host: '127.0.0.1', port: 0, bodiesBytesMax: 4_000, ready: () => Promise.resolve() },
    openIdentity: createOpener(testIdentitySecret, 'data-api'),
    routes: [
      {
        ...{ method: 'POST', path: '/things', scope: 'client' },
        handler: (_request, response) => void waiting.push(() => sendJson(response, 201, {})),
      },
    ],
  });
  t.teardown(() => service.close());
  const call = (client: string, bytes: number) =>
    new Promise<number>((resolve, reject) => {
      const headers = {
        ...{ [identityHeader]: seal(anonymous, 'POST', '/things'), 'content-type': 'application/json' },
        ...{ 'x-forwarded-for': client, 'content-length': bytes },
      };
      const sent = request(`${service.url}/things`, { method: 'POST', headers }, ({ statusCode = 0 }) =>
        resolve(statusCode),
      );
      sent.once('error', reject);
      sent.end(`["${'x'.repeat(bytes - 4)}"]`);
    });
  const pending = [call('192.0.2.1', 1_900)];
  await until('the first is under way', () => waiting.length === 1);
  t.is(await call('192.0.2.1', 200), 429);
  pending.push(call('192.0.2.2', 1_900));
  await until('the second is under way', () => waiting.length === 2);
  t.is(await call('192.0.2.3', 300), 503);
  for (const answer of waiting) answer();
  waiting = [];
  t.deepEqual(await Promise.all(pending), [201, 201]);
  const later = call('192.0.2.3', 1_900);
  await until('there is room again', () => waiting.length === 1);
  waiting[0]?.();
  t.is(await later, 201);
});

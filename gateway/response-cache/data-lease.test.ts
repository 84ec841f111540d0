// The lease on the state of the data, before instances of data-api that answer, fail and come back.
import { createServer } from 'node:http';
import test from 'ava';
import { silentLog, testIdentitySecret } from '../../test/services/harness.ts';
import { closeServer, listen } from '../../kernel/http/server.ts';
import { createUpstreams } from '../upstream/upstreams.ts';
import { createDataLease } from './data-lease.ts';

const state = { edition: 'one', load: 7 };
const leaseFrom = (url: string) => {
  const upstreams = createUpstreams('data-api', [url]);
  return {
    upstreams,
    lease: createDataLease({ upstreams, identitySecret: testIdentitySecret, log: silentLog }),
  };
};

test('an instance that answers the question for the lease takes calls again at once', async (t) => {
  const server = createServer((_request, response) => void response.end(JSON.stringify(state)));
  const url = await listen(server, '127.0.0.1', 0);
  const { upstreams, lease } = leaseFrom(url);
  upstreams.failed(url);
  await lease.open();
  t.deepEqual(lease.current()?.generation, state);
  t.true(upstreams.isHealthy(url));
  await lease.close();
  await closeServer(server);
});

test('an instance that refuses the connection, as it does at its end, is avoided by calls', async (t) => {
  const server = createServer();
  const url = await listen(server, '127.0.0.1', 0);
  await closeServer(server);
  const { upstreams, lease } = leaseFrom(url);
  await lease.open();
  t.is(lease.current(), undefined);
  t.false(upstreams.isHealthy(url));
  await lease.close();
});

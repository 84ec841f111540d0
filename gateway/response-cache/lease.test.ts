// The lease on the state of the data, with instances of data-api that answer, fail and recover.
import { createServer } from 'node:http';
import test from 'ava';
import { silentLog, testIdentitySecret } from '../../test/services/harness.ts';
import { until } from '../../test/run/until.ts';
import { closeServer, listen } from '../../kernel/http/server.ts';
import { createUpstreams } from '../upstream/upstreams.ts';
import { createDataLease, leaseSource } from './lease.ts';

const state = { edition: 'one', load: 7 };
const leaseFrom = (url: string) => {
  const upstreams = createUpstreams('data-api', [url]);
  return { upstreams, lease: createDataLease(leaseSource(upstreams, testIdentitySecret), silentLog) };
};

test('an instance that answers the request for the lease gets calls again at once', async (t) => {
  const server = createServer((_request, response) => void response.end(JSON.stringify(state)));
  const url = await listen(server, '127.0.0.1', 0);
  const { upstreams, lease } = leaseFrom(url);
  upstreams.failed(url);
  await until('there is a lease', () => lease.current() !== undefined);
  t.deepEqual(lease.current(), state);
  t.true(upstreams.isHealthy(url));
  lease.close();
  await closeServer(server);
});

test('an instance that refuses the connection, as when it stops, gets no calls', async (t) => {
  const server = createServer();
  const url = await listen(server, '127.0.0.1', 0);
  await closeServer(server);
  const { upstreams, lease } = leaseFrom(url);
  t.is(lease.current(), undefined);
  await until('it is avoided', () => !upstreams.isHealthy(url));
  t.is(lease.current(), undefined);
  lease.close();
});

test('an instance that knows only an older load than another instance did grants no lease', async (t) => {
  const due: (() => void)[] = [];
  const time = { now: 0 };
  const answers = [state, { ...state, load: 6 }, { edition: 'two', load: 1 }];
  const source = {
    ask: async () => answers.shift() ?? state,
    now: () => time.now,
    after: (_ms: number, run: () => void) => {
      due.push(run);
      return () => undefined;
    },
  };
  const lease = createDataLease(source, silentLog);
  const renewedAt = async (ms: number) => {
    await until('it has been asked for', () => due.length > 0);
    time.now = ms;
    due.shift()?.();
    await until('it has been asked for again', () => due.length > 0);
  };
  lease.current();
  await renewedAt(250);
  t.deepEqual(lease.current(), state, 'that of before');
  time.now = 500;
  t.is(lease.current(), undefined);
  await renewedAt(750);
  t.deepEqual(lease.current(), { edition: 'two', load: 1 }, 'another build counts anew');
});

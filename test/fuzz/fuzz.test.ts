// A few hundred requests of the fuzzer (run.ts), to check that it runs: the faults that it found have their own tests.
import test from 'ava';
import { fuzz, startFuzzed } from './fuzz.ts';
import { createRandom } from '../chaos/random.ts';
import { drawRequest, operations } from './requests.ts';

test('400 random requests over all endpoints: no server error and no answer that violates the OpenAPI document', async (t) => {
  const services = await startFuzzed();
  t.teardown(() => services.close());
  const { faults, statuses } = await fuzz(services, { seed: 1, count: 400 });
  t.deepEqual(faults, []);
  // Requests that are all refused at once would find nothing.
  t.true((statuses.get(200) ?? 0) > 30, JSON.stringify([...statuses]));
  for (const status of [400, 401, 404]) t.true(statuses.has(status), `${status}`);
  t.true(operations.length > 50);
});

test('a request can be drawn for every operation, with a file for the body of an upload', (t) => {
  const random = createRandom(77_412);
  const actor = {
    ...{ keys: ['pk_live_a'], session: 's.t', email: 'a@b.example', password: 'p' },
    ...{ etag: undefined, cursor: undefined, id: undefined },
  };
  const drawn = Array.from({ length: 20_000 }, () => drawRequest(random, actor));
  const files = drawn.filter(
    ({ method, target, headers }) =>
      method === 'POST' &&
      /^\/v1\/operator\/uploads(?:\?|$)/.test(target) &&
      headers['content-type'] === 'application/octet-stream',
  );
  t.true(files.length > 50, `${files.length}`);
  t.true(files.filter(({ body }) => body?.includes('xl/workbook.xml')).length > 0);
});

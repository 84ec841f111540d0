import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import test from 'ava';
import { parse } from 'yaml';
import { Failure } from '../kernel/errors.ts';
import { compilePipelines } from './pipeline.ts';
import { parseRoutes } from './routes.ts';
import type { BuildPolicy } from './policy.ts';

const text = readFileSync(new URL('../config/gateway.config.yml', import.meta.url), 'utf8');
const { policies: names } = parse(text) as { policies: string[] };

/** The project's own routes, with policies that record that they ran and call the next one. */
function compiled(overrides: Record<string, BuildPolicy> = {}) {
  const ran: string[] = [];
  const answered: unknown[] = [];
  const noting = names.map((name): [string, BuildPolicy] => [
    name,
    (action) => (_request, _response, next) => {
      ran.push(Object.keys(action as object).length === 0 ? name : `${name} ${JSON.stringify(action)}`);
      next();
    },
  ]);
  const policies = { ...Object.fromEntries(noting), ...overrides };
  const run = compilePipelines(parseRoutes(text, names), policies, (_request, _response, thrown) => {
    answered.push(thrown);
  });
  const call = (method: string, url: string) => run({ method, url } as IncomingMessage, {} as ServerResponse);
  return { ran, answered, call };
}

test('a data call runs the policies of its pipeline, in the order of the file, with their actions', async (t) => {
  const { ran, call } = compiled();
  await call('GET', '/v1/series/A?from=2024');
  t.deepEqual(
    ran.map((step) => step.split(' ')[0]),
    [
      'request-id',
      'framing',
      'path-check',
      'cors',
      'credential',
      'usage',
      'plan',
      'rate',
      'concurrency',
      'quota',
      'response-cache',
      'forward',
    ],
  );
  t.true(ran.includes('credential {"accept":["key"]}'));
  t.true(ran.includes('rate {"by":"account"}'));
});

test('paths that only read run compiled, for GET, HEAD and OPTIONS; all others are the engine’s', (t) => {
  const { call } = compiled();
  for (const url of [
    '/v1/series',
    '/v1/series/A',
    '/v1/funds/1/nav',
    '/v1/catalog',
    '/v1/plans',
    '/healthz',
  ]) {
    t.truthy(call('GET', url), url);
    t.truthy(call('HEAD', url), url);
  }
  t.truthy(call('OPTIONS', '/v1/series/A'));
  for (const [method, url] of [
    ['POST', '/v1/series/A'],
    ['GET', '/v1/keys'],
    ['DELETE', '/v1/keys/1'],
    ['POST', '/auth/login'],
    ['GET', '/v1/nothing'],
    ['GET', '/v1/series/..'],
    ['GET', '//v1/series/A'],
    ['GET', '/v1/series/%41'],
    ['GET', 'http://a/v1/series/A'],
    ['GET', '*'],
  ] as const) {
    t.is(call(method, url), undefined, `${method} ${url}`);
  }
});

test('a policy that does not call the next one ends the pipeline', async (t) => {
  const { ran, call } = compiled({ plan: () => () => undefined });
  await call('GET', '/v1/series/A');
  t.is(ran.at(-1), 'usage');
});

test('a failure thrown by a policy, at once or later, is answered, and the pipeline ends', async (t) => {
  const failure = new Failure('forbidden', 'no');
  for (const plan of [() => () => Promise.reject(failure), () => () => void failing(failure)]) {
    const { ran, answered, call } = compiled({ plan });
    await call('GET', '/v1/series/A');
    t.deepEqual(answered, [failure]);
    t.is(ran.at(-1), 'usage');
  }
});

function failing(failure: Failure): never {
  throw failure;
}

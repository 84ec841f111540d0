import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { parseRoutes } from '../../gateway/routes.ts';
import { projectRoot } from '../../kernel/project.ts';
import { startTestGateway } from './recording-upstream.ts';

const text = readFileSync(path.join(projectRoot, 'config/gateway.config.yml'), 'utf8');

/** Starts the gateway on a changed copy of the configuration. */
async function startOn(changed: string) {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-routes-'));
  try {
    cpSync(path.join(projectRoot, 'config'), directory, { recursive: true });
    writeFileSync(path.join(directory, 'gateway.config.yml'), changed);
    return await startTestGateway({ configDirectory: directory });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function replaced(from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`The file has no ${from}`);
  return text.replace(from, to);
}

const faults: Record<string, [changed: string, message: RegExp]> = {
  'a condition': [
    replaced(
      '- credential: { action: { accept: [key] } }',
      '- credential: { condition: { name: always }, action: { accept: [key] } }',
    ),
    /is not allowed: the engine could mount the policy behind `forward`/,
  ],
  'a policy that does not exist': [replaced('- quota:', '- quotas:'), /do not exist: quotas/],
  'one of the engine’s own policies': [
    replaced('[request-id, framing,', '[proxy, request-id, framing,'),
    /do not exist: proxy/,
  ],
  'a policy with an action it does not take': [
    replaced('by: ip', 'by: country'),
    /Invalid action in gateway.config.yml/,
  ],
  'an endpoint that no pipeline serves': [
    replaced('apiEndpoints: [rest]', 'apiEndpoints: [plans]'),
    /served twice/,
  ],
  'an endpoint that does not exist': [
    replaced('apiEndpoints: [rest]', 'apiEndpoints: [nothing]'),
    /unknown endpoint "nothing"/,
  ],
  'a path with a pattern of its own': [replaced('- /v1/search', '- /v1/search.*'), /must be a path/],
};

for (const [name, [changed, message]] of Object.entries(faults)) {
  test.serial(`the gateway refuses to start on ${name}`, async (t) => {
    await t.throwsAsync(startOn(changed), { message });
  });
}

test.serial('the gateway starts again after a refusal', async (t) => {
  const gateway = await startOn(text);
  t.is((await fetch(`${gateway.url}/v1/catalog`)).status, 200);
  await gateway.close();
});

test.serial('two gateways of one process serve side by side', async (t) => {
  const [one, two] = [await startTestGateway(), await startTestGateway()];
  t.is((await fetch(`${one.url}/v1/catalog`)).status, 200);
  t.is((await fetch(`${two.url}/v1/catalog`)).status, 200);
  t.is(one.dataApi.received.length, 1);
  t.is(two.dataApi.received.length, 1);
  await one.close();
  t.is((await fetch(`${two.url}/v1/catalog`)).status, 200);
  await two.close();
});

test.serial('a port that is in use gives a readable message', async (t) => {
  const one = await startTestGateway();
  const port = Number(new URL(one.url).port);
  await t.throwsAsync(startTestGateway({ port }), { message: /is in use by another program/ });
  await one.close();
});

const registered = [
  'request-id',
  'framing',
  'path-check',
  'cors',
  'stripe-events',
  'credential',
  'pin',
  'session',
  'usage',
  'plan',
  'rate',
  'query-body',
  'concurrency',
  'quota',
  'response-cache',
  'forward',
  'mcp',
  'page',
  'dashboard',
  'health',
  'not-found',
];

test('every pipeline first opens the call, then checks its framing and its path, before anything else', (t) => {
  const { pipelines } = parseRoutes(text, registered).forEngine;
  for (const { policies } of Object.values(pipelines)) {
    t.deepEqual(policies.slice(0, 3).flatMap(Object.keys), ['request-id', 'framing', 'path-check']);
  }
});

test('all checks of a keyed call precede its forwarding', (t) => {
  const { pipelines } = parseRoutes(text, registered).forEngine;
  t.deepEqual(pipelines['data']?.policies.slice(3).flatMap(Object.keys), [
    'cors',
    'credential',
    'usage',
    'plan',
    'rate',
    'concurrency',
    'quota',
    'response-cache',
    'forward',
  ]);
});

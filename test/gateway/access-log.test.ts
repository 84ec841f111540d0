import test from 'ava';
import { createLog } from '../../kernel/log/log.ts';
import { startAccountsService } from '../services/accounts-service.ts';
import { exchange } from './raw.ts';
import { noon, startTestGateway } from './recording-upstream.ts';

test('each call writes one log line: caller, request, outcome and stage times; no key and no query', async (t) => {
  const lines: string[] = [];
  const log = createLog('gateway', 'info', { write: (line) => void lines.push(line) });
  const accounts = await startAccountsService(noon);
  t.teardown(() => accounts.close());
  const gateway = await startTestGateway({ accounts, log });
  t.teardown(() => gateway.close());
  const { accountId, key } = await accounts.newClient('enterprise');
  const calls = [
    `/v1/series/A?from=2024&api_key=${key}`,
    `/v1/series/${key}`,
    `/v1/series/${key.replace('_', '%5F')}`,
    `/v1/nothing/${key}`,
    `/v1/series/A?q=${key}`,
  ];
  for (const path of calls) await fetch(gateway.url + path, { headers: { 'x-api-key': key } });
  await exchange(gateway.url, `GET /v1/${key} junk\r\n\r\n`);
  await gateway.close();
  const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const ofCalls = entries.filter(({ msg }) => msg === 'call');
  t.is(ofCalls.length, calls.length);
  t.like(ofCalls[0], {
    level: 30,
    service: 'gateway',
    ip: '127.0.0.1',
    account_id: accountId,
    method: 'GET',
    route: '/v1/series/:id',
    path: '/v1/series/A',
    status: 200,
    complete: true,
  });
  for (const name of [
    'bytes',
    'credential_ms',
    'rate_ms',
    'quota_ms',
    'upstream_ms',
    'answer_ms',
    'total_ms',
  ]) {
    t.true(Number(ofCalls[0]?.[name]) > 0, name);
  }
  t.regex(String(ofCalls[0]?.['request_id']), /^[0-9a-f-]{36}$/);
  t.regex(String(ofCalls[0]?.['key_id']), /^key_/);
  t.like(ofCalls[3], { status: 404, code: 'not_found', route: undefined, path: undefined });
  t.is(entries.filter(({ code }) => code === 'invalid_request').length, 1, 'junk leaves a line as well');
  t.false(lines.join('').includes(key.slice(8)), 'no line holds the key');
  t.notRegex(lines.join(''), /from=2024/);
});

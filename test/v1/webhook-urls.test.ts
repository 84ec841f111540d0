// The URL of a webhook in POST and PATCH: only URLs that the guard admits are accepted, and no answer reveals the network.
import test from 'ava';
import { assertError, startAccountsService, type AccountsService } from '../services/accounts-service.ts';
import { newWebhook, someEvents } from '../webhooks/endpoints.ts';
import { localWebhooks } from '../webhooks/settings.ts';

let service: AccountsService;
test.before(async () => {
  service = await startAccountsService();
});
test.after.always(() => service.close());

test('a URL that the guard refuses is refused by the API, whichever endpoint takes it, and the answer reveals nothing of the network', async (t) => {
  const client = await service.newClient('pro');
  const { id } = await newWebhook(service, client);
  const refused = [
    ...[
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '169.254.169.254',
      '10.0.0.7',
      '0.0.0.0',
    ],
    ...['private.example', 'mixed.example', 'metadata.example', 'unknown.example', 'localhost', 'postgres'],
    ...['hooks.example.org:22', 'hooks.example.org:6379', 'user@hooks.example.org', 'hooks.example.org.'],
  ].map((host) => `https://${host}/`);
  refused.push(
    'http://hooks.example.org/',
    'file:///etc/passwd',
    'gopher://hooks.example.org/',
    'https://hooks.example.org/\r\nx: y',
  );
  const messages = new Map<string, string>();
  for (const url of refused) {
    const posted = await service.as(client, '/v1/webhooks', { body: { url, events: someEvents } });
    const patched = await service.as(client, `/v1/webhooks/${id}`, { method: 'PATCH', body: { url } });
    for (const answer of [posted, patched]) {
      const error = assertError(t, answer, 400, 'invalid_body');
      t.is(error.param, 'url', url);
      t.notRegex(error.message, /\d+\.\d+\.\d+|NXDOMAIN|private|loopback/, url);
      messages.set(url, error.message);
    }
  }
  const [first, ...others] = ['private', 'mixed', 'metadata', 'unknown'].map((name) =>
    messages.get(`https://${name}.example/`),
  );
  for (const other of others) t.is(other, first);
});

test('URLs that the operator allows are accepted, in the normalized form of the URL standard', async (t) => {
  const open = await startAccountsService(undefined, undefined, { webhooks: localWebhooks });
  t.teardown(() => open.close());
  const client = await open.newClient('pro');
  const { url } = await newWebhook(open, client, { url: 'HTTP://0x7f.1:3000/hook' });
  t.is(url, 'http://127.0.0.1:3000/hook');
});

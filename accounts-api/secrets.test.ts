// The encryption of the secrets of webhooks, and their signatures, by the libraries that customers verify with.
import test from 'ava';
import { Webhook as Standard } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';
import { recordSecret } from '../test/run/traces.ts';
import { createSecrets, SecretUnreadable, signatureOf } from './secrets.ts';

const [old, next] = ['an old key of the installation, long', 'the next key of the installation, long'];
const body = '{"type":"webhook.test","timestamp":"2026-11-20T10:00:00Z","data":{"name":"Zürich 🌍"}}';

function headersOf(secrets: readonly Buffer[], sent = body) {
  const [id, timestamp] = ['msg_a', Math.floor(Date.now() / 1000)];
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatureOf(secrets, { id, timestamp, body: Buffer.from(sent) }),
  };
}

test('a signature is verified by standardwebhooks and svix; another body, id, time or secret is not', (t) => {
  const secrets = createSecrets([next]);
  const [one, other] = ['wh_a', 'wh_b'].map((id) => secrets.mint(id)) as [
    ReturnType<typeof secrets.mint>,
    ReturnType<typeof secrets.mint>,
  ];
  recordSecret(one.value);
  const headers = headersOf([secrets.open('wh_a', one.sealed)]);
  t.deepEqual(new Standard(one.value).verify(body, headers), JSON.parse(body));
  for (const library of [Standard, Svix]) {
    const receiver = new library(one.value);
    t.notThrows(() => receiver.verify(body, headers));
    t.throws(() => receiver.verify(body.replace('"data"', '"Data"'), headers));
    t.throws(() => receiver.verify(body, { ...headers, 'webhook-id': 'msg_b' }));
    t.throws(() => receiver.verify(body, { ...headers, 'webhook-timestamp': '1000000000' }));
    t.throws(() => new library(other.value).verify(body, headers));
  }
});

test('while two secrets overlap, either verifies', (t) => {
  const secrets = createSecrets([next]);
  const [one, two] = [secrets.mint('wh_a'), secrets.mint('wh_a')];
  const headers = headersOf([two, one].map(({ sealed }) => secrets.open('wh_a', sealed)));
  t.is(headers['webhook-signature'].split(' ').length, 2);
  for (const { value } of [one, two]) {
    t.truthy(new Standard(value).verify(body, headers));
    t.notThrows(() => new Svix(value).verify(body, headers));
  }
});

test('a secret can be decrypted while its key is set as the previous one, and is re-encrypted with the current one', (t) => {
  const before = createSecrets([old]).mint('wh_a');
  const both = createSecrets([next, old]);
  const opened = both.open('wh_a', before.sealed);
  t.is(`whsec_${opened.toString('base64')}`, before.value);
  const renewed = both.renew('wh_a', before.sealed);
  t.true(renewed.startsWith(`${both.keyId}.`));
  t.deepEqual(createSecrets([next]).open('wh_a', renewed), opened);
  t.throws(() => createSecrets([next]).open('wh_a', before.sealed), { instanceOf: SecretUnreadable });
});

test('a stored secret that was changed, or moved to another endpoint, cannot be decrypted', (t) => {
  const secrets = createSecrets([next]);
  const { sealed } = secrets.mint('wh_a');
  t.throws(() => secrets.open('wh_b', sealed));
  const [id = '', text = ''] = sealed.split('.');
  const bytes = Buffer.from(text, 'base64');
  for (const at of [0, 20, bytes.length - 1]) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    t.throws(() => secrets.open('wh_a', `${id}.${changed.toString('base64')}`));
  }
  t.not(secrets.mint('wh_a').value, secrets.mint('wh_a').value);
});

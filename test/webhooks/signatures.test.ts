// Messages are signed with the current secret and, for a day, also with the previous one. The signed bytes are those of the log.
import test from 'ava';
import { Webhook as Standard } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';
import { renewSecrets } from '../../accounts-api/webhooks/webhook-worker.ts';
import { createSecrets } from '../../accounts-api/secrets.ts';
import { openWebhookTools } from '../../accounts-api/webhooks/webhook-tools.ts';
import { recordSecret } from '../run/traces.ts';
import { until, untilWaiting } from '../run/until.ts';
import { silentLog, testIdentitySecret } from '../services/harness.ts';
import { dataOf } from '../services/accounts-service.ts';
import type { NewWebhook } from './endpoints.ts';
import { messagesTo } from './events.ts';
import { startWebhookWorker } from './receiver.ts';
import { testWebhooks } from './settings.ts';
import { logOf, signatureHeaders, stage, untilStatus, work } from './stage.ts';

const hour = 3_600_000;

test.serial(
  'a delivery is verified by standardwebhooks and svix, and its bytes are those that are shown in the log',
  async (t) => {
    const it = await stage(t);
    await work(t, it);
    it.receiver.answer((_request, response) => response.writeHead(200).end('taken <b>well</b>\u0000'));
    const name = await it.report();
    const request = await it.receiver.next();
    t.like(request, { path: '/hook', method: 'POST' });
    t.is(request.headers['content-type'], 'application/json');
    t.is(request.headers['host'], `127.0.0.1:${it.receiver.port}`);
    const event = new Standard(it.webhook.secret).verify(request.body, signatureHeaders(request));
    t.like(event, { type: 'key.revoked', data: { name } });
    t.notThrows(() => new Svix(it.webhook.secret).verify(request.body, signatureHeaders(request)));
    await untilStatus(it, 'delivered');
    const [message] = await messagesTo(it.service, it.webhook.id);
    t.is(request.headers['webhook-id'], message?.id);
    const delivery = await logOf(t, it, message?.id ?? '');
    t.is(delivery.body, request.body);
    t.like(delivery.log, {
      0: { status: 200, error: null, response: 'taken <b>well</b>\u{fffd}' },
      length: 1,
    });
  },
);

test.serial(
  'for 24 hours after a rotation a delivery has both signatures, the new one first; then the new one only',
  async (t) => {
    const it = await stage(t);
    await work(t, it);
    const rotated = await it.service.as(it.client, `/v1/webhooks/${it.webhook.id}/rotate-secret`, {
      method: 'POST',
    });
    const { secret } = dataOf(t, rotated) as NewWebhook;
    await it.report();
    const request = await it.receiver.next();
    for (const each of [secret, it.webhook.secret]) {
      t.truthy(new Standard(each).verify(request.body, signatureHeaders(request)));
      t.notThrows(() => new Svix(each).verify(request.body, signatureHeaders(request)));
    }
    const signatures = request.headers['webhook-signature']?.split(' ') ?? [];
    t.is(signatures.length, 2);
    const only = { ...signatureHeaders(request), 'webhook-signature': signatures[0] ?? '' };
    t.truthy(new Standard(secret).verify(request.body, only));

    it.service.clock.advance(24 * hour);
    await it.report();
    const later = await it.receiver.next();
    t.is(later.headers['webhook-signature']?.split(' ').length, 1);
  },
);

test.serial(
  'a replaced key of the installation: secrets are encrypted anew, and signatures stay what they were',
  async (t) => {
    const it = await stage(t);
    const next = 'the next key of the installation, long';
    const both = [next, testIdentitySecret];
    await it.service.as(it.client, `/v1/webhooks/${it.webhook.id}/rotate-secret`, { method: 'POST' });
    await renewSecrets(
      { ...it.service.deps, log: silentLog },
      openWebhookTools({ ...testWebhooks, secretKeys: both }),
    );
    const { keyId } = createSecrets([next]);
    const stored = await it.service.deps.db.webhooks.findByPk(it.webhook.id);
    t.is(stored?.secret.split('.')[0], keyId);
    t.is(stored?.previousSecret?.split('.')[0], keyId);
    await work(t, it, { secretKeys: [next] });
    await it.report();
    const request = await it.receiver.next();
    t.truthy(new Standard(it.webhook.secret).verify(request.body, signatureHeaders(request)));
  },
);

test.serial(
  'secrets are renewed without waiting for an endpoint that is being changed, which is left for the next run',
  async (t) => {
    const it = await stage(t);
    const { db, clock } = it.service.deps;
    const next = 'the next key of the installation, long';
    const isRenewed = async () => {
      await renewSecrets(
        { ...it.service.deps, log: silentLog },
        openWebhookTools({ ...testWebhooks, secretKeys: [next, testIdentitySecret] }),
      );
      const stored = await db.webhooks.findByPk(it.webhook.id);
      return [stored?.previousSecret == null, stored?.secret.startsWith(createSecrets([next]).keyId)];
    };
    const previousSecret = createSecrets([testIdentitySecret]).mint(it.webhook.id).sealed;
    const ended = { previousSecret, previousSecretUntil: clock.now() };
    await db.webhooks.update(ended, { where: { id: it.webhook.id } });
    let renewing: Promise<unknown> = Promise.resolve();
    await db.inLedgerTransaction(async (transaction) => {
      await db.webhooks.findByPk(it.webhook.id, { transaction, lock: true });
      renewing = isRenewed();
      const waits = untilWaiting(db.read).then(() => 'waits for a lock');
      t.deepEqual(await Promise.race([renewing, waits]), [false, false]);
    });
    await renewing;
    t.deepEqual(await isRenewed(), [true, true]);
  },
);

test.serial(
  'a previous secret that cannot be decrypted keeps no message from being sent, signed by the present one',
  async (t) => {
    const it = await stage(t);
    const next = 'a key that replaced one which is lost';
    const { value, sealed } = createSecrets([next]).mint(it.webhook.id);
    const { db, clock } = it.service.deps;
    const stored = await db.webhooks.findByPk(it.webhook.id);
    const previousSecretUntil = new Date(clock.now().getTime() + 24 * hour);
    await stored?.update({ secret: sealed, previousSecret: stored.secret, previousSecretUntil });
    await work(t, it, { secretKeys: [next] });
    await it.report();
    const request = await it.receiver.next();
    t.truthy(new Standard(recordSecret(value)).verify(request.body, signatureHeaders(request)));
    t.is(request.headers['webhook-signature']?.split(' ').length, 1);
  },
);

test.serial(
  'each secret is encrypted anew whatever the other one is, and a previous one is deleted after its 24 hours',
  async (t) => {
    const it = await stage(t);
    const [next, lost] = [
      'the next key of the installation, long',
      'a key that was lost, and is long enough',
    ];
    const { db, clock } = it.service.deps;
    const keysOf = async () => {
      const stored = await db.webhooks.findByPk(it.webhook.id);
      return [stored?.secret, stored?.previousSecret].map((sealed) => sealed?.split('.')[0]);
    };
    const renew = (...secretKeys: string[]) =>
      renewSecrets({ ...it.service.deps, log: silentLog }, openWebhookTools({ ...testWebhooks, secretKeys }));
    const previousSecretUntil = new Date(clock.now().getTime() + 24 * hour);
    const previousSecret = createSecrets([lost]).mint(it.webhook.id).sealed;
    await db.webhooks.update({ previousSecret, previousSecretUntil }, { where: { id: it.webhook.id } });
    const [nextId, lostId] = [next, lost].map((key) => createSecrets([key]).keyId);
    await renew(next, testIdentitySecret);
    t.deepEqual(await keysOf(), [nextId, lostId]);
    await renew(lost);
    t.deepEqual(await keysOf(), [nextId, lostId]);
    await renew(testIdentitySecret, lost);
    t.deepEqual(await keysOf(), [nextId, createSecrets([testIdentitySecret]).keyId]);
    it.service.clock.advance(24 * hour);
    await renew(testIdentitySecret);
    t.deepEqual(await keysOf(), [nextId, undefined]);
  },
);

test.serial(
  'a message whose secret cannot be decrypted waits, and is no failure of its endpoint',
  async (t) => {
    const it = await stage(t);
    const stranger = await startWebhookWorker(it.service, {
      secretKeys: ['a key that nothing was encrypted with'],
    });
    await it.report();
    await until('it is put off', async () => {
      const [message] = await messagesTo(it.service, it.webhook.id);
      return message !== undefined && Number(message.due_at) === it.service.clock.now().getTime() + 300_000;
    });
    await stranger.close();
    t.deepEqual(it.receiver.received, []);
    t.like(await it.service.deps.db.webhooks.findByPk(it.webhook.id, { raw: true }), { failingSince: null });
    await work(t, it);
    it.service.clock.advance(300_000);
    t.truthy(await it.receiver.next());
  },
);

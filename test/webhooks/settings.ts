// The settings for webhooks of the services that tests start: names are resolved without a network, and receivers are on this machine.
import type { WebhookSettings } from '../../accounts-api/webhooks/settings.ts';
import { testIdentitySecret } from '../services/harness.ts';

/** The address of every name under `.example.org`; nothing is sent to it. */
export const publicAddress = '93.184.215.14';

export const testWebhooks: WebhookSettings = {
  secretKeys: [testIdentitySecret],
  resolve: (name) =>
    name.endsWith('.example.org')
      ? Promise.resolve([publicAddress])
      : Promise.reject(new Error('There is no such name.')),
};

/** To receivers on this machine, too. */
export const localWebhooks: WebhookSettings = {
  ...testWebhooks,
  allowCidrs: ['127.0.0.0/8'],
  allowHttp: true,
};

// The settings for webhooks of the services that tests start: names are resolved without a network, and receivers are on this machine.
import type { WebhookSettings } from '../../accounts-api/webhooks/webhook-tools.ts';
import { testIdentitySecret } from '../services/harness.ts';

/** The address of every name under `.example.org`; nothing is sent to it. */
const publicAddress = '93.184.215.14';

const inside: Record<string, string[]> = {
  'private.example': ['10.0.0.7'],
  'mixed.example': [publicAddress, '10.0.0.7'],
  'metadata.example': ['169.254.169.254'],
};

/** The addresses of a name. @throws Error as of a name server if there is no such name. */
export function resolveTestName(name: string): Promise<string[]> {
  const addresses = name.endsWith('.example.org') ? [publicAddress] : inside[name];
  if (addresses !== undefined) return Promise.resolve(addresses);
  return Promise.reject(new Error(`NXDOMAIN ${name} at 10.0.0.53`));
}

export const testWebhooks: WebhookSettings = {
  secretKeys: [testIdentitySecret],
  resolve: resolveTestName,
};

/** To receivers on this machine, too. */
export const localWebhooks: WebhookSettings = {
  ...testWebhooks,
  allowCidrs: ['127.0.0.0/8'],
  allowHttp: true,
};

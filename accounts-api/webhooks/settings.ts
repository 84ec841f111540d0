// What accounts-api and its worker are set up with for webhooks, and what is made of it.
import {
  createAddressGuard,
  type AddressGuard,
  type AddressRules,
  type Resolve,
} from '../../kernel/outbound/address-guard.ts';
import { createSecrets, type Secrets } from './secrets.ts';

export interface WebhookSettings extends Partial<AddressRules> {
  /** The key that encrypts the secrets of endpoints is derived from the first; all of them decrypt. */
  secretKeys: readonly string[];
  /** How names are resolved; by default by DNS. */
  resolve?: Resolve;
}

export interface WebhookTools {
  readonly secrets: Secrets;
  readonly guard: AddressGuard;
}

export function openWebhookTools({
  secretKeys,
  allowCidrs = [],
  allowHttp = false,
  resolve,
}: WebhookSettings): WebhookTools {
  return {
    secrets: createSecrets(secretKeys),
    guard: createAddressGuard({ allowCidrs, allowHttp }, resolve),
  };
}

// The webhook settings of accounts-api and its worker, and the objects derived from them.
import {
  createAddressGuard,
  type AddressGuard,
  type AddressRules,
  type Resolve,
} from '../../kernel/outbound/address-guard.ts';
import { createSecrets, type Secrets } from '../secrets.ts';

export interface WebhookSettings extends Partial<AddressRules> {
  /** The key that encrypts webhook secrets is derived from the first; all of them decrypt. */
  secretKeys: readonly string[];
  /** Resolves names; by default through DNS. */
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

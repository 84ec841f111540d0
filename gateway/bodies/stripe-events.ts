// Refuses requests that cannot be Stripe events before their body is read: when billing is off, and when the signature header is missing, malformed
// or old. Only accounts-api can verify the signature.
import { fail } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Accounts } from '../accounts-client.ts';
import type { Policy } from '../policy.ts';

/** accounts-api allows five minutes by its own clock; this wider limit allows for a gateway whose clock is off. */
const toleranceSeconds = 3_600;
// Such as `t=1761480000,v1=5257a8…,v0=6ffbb5…`, in any order.
const shape = /^(?:[a-z0-9]{1,8}=[0-9a-f]{1,128}(?:, ?|$)){2,16}$/;

export function stripeEvents(options: { accounts: Pick<Accounts, 'hasBilling'>; clock: Clock }): Policy {
  return async (request, _response, next) => {
    if (!(await options.accounts.hasBilling()))
      fail('not_found', 'This endpoint is not set up here: billing is off.');
    if (!isPlausible(request.headers['stripe-signature'], options.clock.now().getTime() / 1000))
      fail(
        'invalid_request',
        'The Stripe-Signature header is missing or malformed, or its timestamp is not current.',
      );
    next();
  };
}

function isPlausible(header: string | string[] | undefined, nowSeconds: number): boolean {
  if (typeof header !== 'string' || !shape.test(header)) return false;
  const parts = header.split(',').map((part) => part.trim());
  const times = parts.filter((part) => /^t=\d{1,12}$/.test(part)).map((part) => Number(part.slice(2)));
  const isNow = times.length > 0 && times.every((t) => Math.abs(t - nowSeconds) <= toleranceSeconds);
  return isNow && parts.some((part) => /^v1=[0-9a-f]{64}$/.test(part));
}

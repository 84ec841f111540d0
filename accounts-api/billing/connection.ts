// The connection to Stripe: the API client, the settings for billing, and the derivation of return page tokens.
import { createHmac, hkdfSync } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Stripe } from 'stripe';
import { fail } from '../../kernel/errors.ts';
import type { StripeSettings } from '../../kernel/settings/settings.ts';

export interface Billing {
  readonly stripe: Stripe;
  /** The secrets that an event may be signed with. */
  readonly webhookSecrets: readonly string[];
  /** Whether the key is of the live mode. Events and objects of the other mode are refused. */
  readonly isLive: boolean;
  readonly graceMs: number;
}

const dayMs = 24 * 60 * 60_000;
/** The limit of one attempt; the SDK makes up to three. */
const timeoutMs = 15_000;

/** Loaded on first use: an installation without billing does not need the SDK. */
const sdk = () => createRequire(import.meta.url)('stripe') as typeof Stripe;

export function createBilling({ secretKey, webhookSecrets, apiUrl, graceDays }: StripeSettings): Billing {
  const { hostname, port, protocol } = new URL(apiUrl);
  const isHttps = protocol === 'https:';
  const StripeClient = sdk();
  return {
    stripe: new StripeClient(secretKey, {
      host: hostname,
      port: port === '' ? (isHttps ? 443 : 80) : Number(port),
      protocol: isHttps ? 'https' : 'http',
      maxNetworkRetries: 2,
      timeout: timeoutMs,
      telemetry: false,
    }),
    webhookSecrets,
    isLive: /^[sr]k_live_/.test(secretKey),
    graceMs: graceDays * dayMs,
  };
}

/**
 * Creates the token of a checkout's return page. It is derived from the id, so that a request to Stripe repeated after a crash is identical to the
 * byte, and the token need not be stored.
 */
export function createClaimTokens(secret: string): (checkoutId: string) => string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'almanac return pages of checkouts', 32));
  return (checkoutId) => createHmac('sha256', key).update(checkoutId).digest('base64url');
}

/** @throws Failure `billing_not_configured` without a Stripe key. */
export function requireBilling({ billing }: { billing: Billing | null }): Billing {
  return (
    billing ??
    fail('billing_not_configured', 'No plan can be bought here: the operator has not set up billing.')
  );
}

/**
 * Asks Stripe for a waiting client. @throws Failure `unavailable` if Stripe does not answer, or refuses temporarily; `billing_not_configured` if it
 * refuses the request, such as for a portal that is not set up, or the key lacks the permission.
 * @throws StripeError with `isMissing` true if an object does not exist.
 */
export async function askStripe<Answer>(request: Promise<Answer>): Promise<Answer> {
  try {
    return await request;
  } catch (error) {
    const { errors } = sdk();
    const absences = [
      errors.StripeAPIError,
      errors.StripeConnectionError,
      errors.StripeRateLimitError,
      errors.StripeAuthenticationError,
    ];
    if (absences.some((kind) => error instanceof kind)) {
      fail('unavailable', 'The payment service does not answer at the moment. Try again.', {
        ...{ detail: error, headers: { 'retry-after': '10' } },
      });
    }
    const refusals = [errors.StripePermissionError, errors.StripeInvalidRequestError];
    if (isMissing(error) || !refusals.some((kind) => error instanceof kind)) throw error;
    return fail(
      'billing_not_configured',
      'The payment service refuses this request: the operator has to check the billing settings.',
      { detail: error },
    );
  }
}

/** Closes a Checkout page. @returns false if it is not open: it was paid or has expired. @throws StripeError. */
export async function expireSession(stripe: Stripe, id: string): Promise<boolean> {
  try {
    await stripe.checkout.sessions.expire(id);
    return true;
  } catch (error) {
    if (error instanceof sdk().errors.StripeInvalidRequestError) return false;
    throw error;
  }
}

/** Whether Stripe refused a request because an object in it does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof sdk().errors.StripeInvalidRequestError && error.code === 'resource_missing';
}

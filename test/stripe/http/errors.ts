// The errors that the fake of Stripe answers: their status, type, code, parameter and message, as Stripe words them.
import type { Stripe } from 'stripe';

/** An answer other than 200; `error` is the body's `error` object. */
export class StripeFailure extends Error {
  readonly status: number;
  readonly error: {
    type: Stripe.RawErrorType;
    message: string;
    code?: string;
    param?: string;
  };

  constructor(status: number, error: StripeFailure['error']) {
    super(error.message);
    this.status = status;
    this.error = error;
  }
}

/** 400 by default: an invalid request. */
export function invalid(
  message: string,
  { status = 400, ...rest }: { status?: number; code?: string; param?: string } = {},
): StripeFailure {
  return new StripeFailure(status, { type: 'invalid_request_error', message, ...rest });
}

/** An id that names nothing: 404 in the path (`param` is `id`), 400 in a parameter. */
export function noSuch(kind: string, id: string, param = 'id'): StripeFailure {
  return invalid(`No such ${kind}: '${id}'`, {
    status: param === 'id' ? 404 : 400,
    code: 'resource_missing',
    param,
  });
}

/** 402: the card of the customer was declined. */
export function cardDeclined(): StripeFailure {
  return new StripeFailure(402, {
    type: 'card_error',
    code: 'card_declined',
    message: 'Your card was declined.',
  });
}

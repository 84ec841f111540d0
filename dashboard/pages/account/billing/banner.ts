// The banner of the billing page: at most one, for the most serious condition. A pure function from the account to the texts.
import { moneyText } from '../../../text/amounts.ts';
import { dayText, instantText } from '../../../text/times.ts';

/** The parts of `/v1/account` that decide it. */
export interface SubscriptionFacts {
  plan: string;
  subscription_state: 'none' | 'active' | 'inactive';
  subscription: {
    status: string | null;
    current_period_end: string | null;
    cancels_at: string | null;
    grace_ends_at: string | null;
    latest_invoice: {
      status: string | null;
      amount_due: number;
      currency: string;
      hosted_invoice_url: string | null;
      next_attempt_at: string | null;
    } | null;
  } | null;
}

export interface Banner {
  /** Red: calls are refused now. Amber: service continues until a day. Blue: it ends on a day as requested. */
  kind: 'bad' | 'warn' | 'acc';
  title: string;
  text: string;
  /** The remedy; `url` null: the billing portal. */
  action: { label: string; url: string | null };
}

export function bannerOf({ subscription, subscription_state: state }: SubscriptionFacts): Banner | null {
  if (subscription === null) return null;
  const { status, cancels_at: endsAt, grace_ends_at: graceEndsAt, latest_invoice: invoice } = subscription;
  const due = invoice === null ? '' : ` ${moneyText(invoice.amount_due, invoice.currency)} is due.`;
  const pay = { label: 'Pay the invoice', url: invoice?.hosted_invoice_url ?? null };
  if (state === 'inactive') {
    if (status === 'paused') {
      const text = 'Calls are refused with 402 until it resumes.';
      return {
        kind: 'bad',
        title: 'The subscription is paused',
        text,
        action: { label: 'Open the billing portal', url: null },
      };
    }
    const text = `Calls are refused with 402 until the invoice is paid.${due} Keys and webhooks are unchanged.`;
    return { kind: 'bad', title: 'A payment is missing, and calls are refused', text, action: pay };
  }
  if (status === 'past_due') {
    const until =
      graceEndsAt === null
        ? ''
        : ` Calls are served until ${instantText(graceEndsAt)} UTC; then they are refused with 402.`;
    const next = invoice?.next_attempt_at ?? null;
    const again = next === null ? '' : ` The card is tried again on ${dayText(next)}.`;
    return {
      kind: 'warn',
      title: 'The last payment failed',
      text: `${due}${until}${again}`.trim(),
      action: pay,
    };
  }
  if (endsAt !== null && status !== 'canceled') {
    const text =
      'You have cancelled it. Until then, nothing changes; afterwards, the account is on the free plan.';
    const action = { label: 'Keep the plan', url: null };
    return { kind: 'acc', title: `The plan ends on ${dayText(endsAt)}`, text, action };
  }
  if (status === 'incomplete') {
    const text = `The first payment is not complete.${due} Your plan changes once it is paid.`;
    return { kind: 'warn', title: 'The payment is not complete', text, action: pay };
  }
  return null;
}

// A payer without an account receives the state of the purchase, and the first key of the created account, shown once. The token is only on the
// return page: its holder has begun the purchase or paid for it.
import { z } from 'zod';
import type { Request } from 'express';
import { sha256 } from '../../kernel/credentials/sha256.ts';
import { memberOf } from '../../kernel/entries.ts';
import { fail } from '../../kernel/errors.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import type { ServiceDeps } from '../deps.ts';
import { endpoint } from '../endpoint.ts';
import { issueKey, keySchema } from '../keys/keys.ts';
import { selectCheckoutOfClaim, spendClaim, type Checkout } from './checkouts.sql.ts';

/** How long after the payment the first key can be claimed. */
const claimMs = 60 * 60_000;

const states = {
  open: 'Not paid, or the payment has not been reported yet: ask again in a second.',
  key: 'Paid: `GET /v1/account/key/{token}` shows the first key, once.',
  claimed: 'The key was shown.',
  account: 'Paid, for an account that already existed: sign in to it.',
  expired: 'Over: it was not paid, or the hour to claim the key has passed.',
} as const;
type State = keyof typeof states;

export const readCheckoutState = endpoint({
  summary: 'The state of a purchase, for its return page.',
  requester: 'anyone',
  body: z.strictObject({ token: z.string().max(64).describe('From the URL of the return page.') }),
  answers: {
    200: z.object({
      state: z.enum(Object.keys(states) as [State, ...State[]]).describe(
        Object.entries(states)
          .map(([state, meaning]) => `\`${state}\`: ${meaning}`)
          .join(' '),
      ),
      plan: z.string(),
    }),
  },
  errors: ['not_found'],
  handler: async (deps, { body: { token }, call }) => {
    const checkout = await call.stage('sql', () => findCheckout(deps, token));
    return one({ state: stateOf(checkout, deps.clock.now()), plan: checkout.plan });
  },
});

export const claimKey = endpoint({
  summary:
    'The first key of the account that a purchase has created: shown once, within an hour of the payment.',
  description: 'HEAD requests and prefetches are refused, so that they do not consume the token.',
  requester: 'anyone',
  params: { token: z.string().describe('From the URL of the return page.') },
  requestHeaders: {
    Purpose: z.string().optional().describe('`prefetch`: refused.'),
    'Sec-Purpose': z.string().optional().describe('`prefetch`: refused.'),
  },
  answers: {
    200: keySchema.extend({
      key: z.string().describe('The value.'),
      account: z.object({ id: z.string(), email: z.string() }),
    }),
  },
  errors: [
    'payment_required',
    'forbidden',
    'not_found',
    'method_not_allowed',
    'gone',
    'key_limit_reached',
    'rate_limited',
  ],
  headers: ['Referrer-Policy'],
  handler: async (deps, { params, request, call }) => {
    refusePrefetch(request);
    const checkout = await call.stage('sql', () => findCheckout(deps, memberOf(params, 'token')));
    const state = stateOf(checkout, deps.clock.now());
    if (state !== 'key') failClaim(state);
    const data = await call.stage('sql', () => claim(deps, checkout));
    return one(data, { headers: { 'referrer-policy': 'no-referrer' } });
  },
});

async function claim(deps: ServiceDeps, { id, accountId }: Checkout): Promise<object> {
  const account = accountId === null ? null : await deps.db.accounts.findByPk(accountId);
  if (account === null) failClaim('claimed'); // the account has been closed since
  const by = { accountId: account.id, actor: { actorKind: 'visitor', actorId: null } } as const;
  return deps.db.inLedgerTransaction(async (transaction) => {
    if (!(await spendClaim(deps.db, transaction, id, deps.clock.now()))) failClaim('claimed');
    const { record, value } = await issueKey(deps, transaction, by, { name: 'First key', expiresAt: null });
    return { ...record, key: value, account: { id: account.id, email: account.email } };
  });
}

async function findCheckout(deps: ServiceDeps, token: string): Promise<Checkout> {
  const checkout = await selectCheckoutOfClaim(deps.db, sha256(token));
  return checkout ?? fail('not_found', 'There is no purchase with this token.');
}

function stateOf({ paidAt, hasKey, claimedAt, closedAt, expiresAt }: Checkout, now: Date): State {
  if (claimedAt !== null) return 'claimed';
  if (paidAt === null) return closedAt !== null || expiresAt <= now ? 'expired' : 'open';
  if (!hasKey) return 'account';
  return now.getTime() < paidAt.getTime() + claimMs ? 'key' : 'expired';
}

/** Reports why there is no key to claim. @throws Failure always. */
function failClaim(state: Exclude<State, 'key'>): never {
  if (state === 'open') {
    fail('payment_required', 'This purchase is not paid, or the payment has not arrived here yet.');
  }
  if (state === 'account') {
    fail(
      'forbidden',
      'An account with this e-mail address already existed, and now has the plan. Sign in to it.',
    );
  }
  const why = state === 'claimed' ? 'The key was shown already.' : 'The time to claim the key is over.';
  fail('gone', `${why} Set a password with POST /auth/forgot-password, then create a key.`);
}

/** A program that only looks at a link must not consume it. */
function refusePrefetch(request: Request): void {
  if (request.method === 'HEAD') {
    fail('method_not_allowed', 'This path supports GET.', { headers: { allow: 'GET' } });
  }
  const purpose = `${request.get('purpose') ?? ''} ${request.get('sec-purpose') ?? ''}`;
  if (/prefetch|prerender|preview/i.test(purpose)) {
    fail('forbidden', 'A key is not shown to a prefetch. Open the page itself.');
  }
}

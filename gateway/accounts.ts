// What the gateway asks of accounts-api: whose key or session it is, and whether the month has calls left. Hides the internal face.
// The truth is in accounts-api; nothing is remembered here, so what it says is in force on the next call.
import { Agent } from 'undici';
import { z } from 'zod';
import { Failure } from '../kernel/errors.ts';
import { anonymous, createSealer, identityHeader } from '../kernel/identity.ts';
import { utcMonth } from '../kernel/clock.ts';
import type { SessionName } from '../kernel/session-token.ts';
import { batched } from './batched.ts';
import { BatchRefused } from './journal.ts';
import type { Upstreams } from './upstreams.ts';

export interface Credential {
  accountId: string;
  /** Set for a key. */
  keyId: string | null;
  /** Set for a session. */
  sessionId: string | null;
  plan: string;
  active: boolean;
}

export interface Take {
  granted: boolean;
  /** Null: unlimited. */
  limit: number | null;
  /** Calls used this month, this one included where it was granted. */
  used: number;
  /** ISO instant. */
  resetsAt: string;
  /** `YYYY-MM-01`, the UTC month that was charged. */
  month: string;
}

export interface Accounts {
  /** Whose key it is; null where it is unknown, revoked, expired or its account disabled. @throws Failure unavailable. */
  credential(keyHash: string): Promise<Credential | null>;
  /** Whose session it is; null where it is unknown, ended or its account disabled. @throws Failure unavailable. */
  session(name: SessionName): Promise<Credential | null>;
  /** Takes calls from the account's month, all or none. @throws Failure unavailable. */
  take(accountId: string, calls: number): Promise<Take>;
  /** Leave to believe copies of credentials for a second from when it was asked for. @returns their generation. */
  leaseCopies(): Promise<number>;
  /** Sends one batch of the journal; the same batch may be sent again. @throws Failure unavailable, or BatchRefused. */
  settle(batch: object): Promise<void>;
  close(): void;
}

const owner = { account_id: z.string(), plan: z.string(), active: z.boolean() };
const credentialsAnswer = z.object({
  credentials: z.array(
    z
      .object({ ...owner, key_id: z.string() })
      .transform((c): Credential => ({
        accountId: c.account_id,
        keyId: c.key_id,
        sessionId: null,
        plan: c.plan,
        active: c.active,
      }))
      .nullable(),
  ),
});
const sessionsAnswer = z.object({
  sessions: z.array(
    z
      .object({ ...owner, session_id: z.string() })
      .transform((c): Credential => ({
        accountId: c.account_id,
        keyId: null,
        sessionId: c.session_id,
        plan: c.plan,
        active: c.active,
      }))
      .nullable(),
  ),
});

const grantSchema = z.object({
  granted: z.int(),
  limit: z.int().nullable(),
  used: z.int(),
  resets_at: z.string(),
});
const grantsAnswer = z.object({ grants: z.array(grantSchema) });
const leaseAnswer = z.object({ generation: z.int() });
const settleAnswer = z.object({ success: z.literal(true) });

const batchMax = 500;
// Everyone waits behind a call that hangs, so it is given up early.
const deadlineMs = 2_000;

export interface AccountsOptions {
  upstreams: Upstreams;
  identitySecret: string;
  /** Calls that were granted to a batch but fit none of its takes. */
  onLeftOver: (accountId: string, month: string, calls: number) => void;
}

export function createAccounts(options: AccountsOptions): Accounts {
  const { post, close } = createPost(options);
  const credential = batched(batchMax, async (hashes: readonly string[]) => {
    const keys = [...new Set(hashes)];
    const { credentials } = await post('/internal/credentials', { keys }, credentialsAnswer, 'repeatable');
    const byKey = new Map(keys.map((key, i) => [key, credentials[i] ?? null]));
    return hashes.map((hash) => byKey.get(hash) ?? null);
  });
  const session = batched(batchMax, async (names: readonly SessionName[]) => {
    const sessions = names.map(({ id, secretHash }) => `${id}.${secretHash}`);
    const answer = await post('/internal/credentials', { keys: [], sessions }, sessionsAnswer, 'repeatable');
    return names.map((_name, i) => answer.sessions[i] ?? null);
  });
  const take = batched(batchMax, async (items: readonly TakeItem[]) => {
    const takes = sumByAccount(items);
    // Not repeatable: a take whose answer was lost may have been charged.
    const { grants } = await post('/internal/quota/take', { takes }, grantsAnswer, 'once');
    return shareOut(items, takes, grants, options.onLeftOver);
  });
  return {
    credential,
    session,
    take: (accountId, calls) => take({ accountId, calls }),
    async leaseCopies() {
      return (await post('/internal/copies/lease', {}, leaseAnswer, 'repeatable')).generation;
    },
    async settle(batch) {
      await post('/internal/quota/settle', batch, settleAnswer, 'repeatable');
    },
    close,
  };
}

interface TakeItem {
  accountId: string;
  calls: number;
}

function sumByAccount(items: readonly TakeItem[]): { account_id: string; calls: number }[] {
  const calls = new Map<string, number>();
  for (const item of items) calls.set(item.accountId, (calls.get(item.accountId) ?? 0) + item.calls);
  return [...calls].map(([account_id, sum]) => ({ account_id, calls: sum }));
}

/** Gives what each account was granted to its calls, first come first served; a call gets all it needs or nothing. */
function shareOut(
  items: readonly TakeItem[],
  takes: readonly { account_id: string }[],
  grants: readonly z.output<typeof grantSchema>[],
  onLeftOver: AccountsOptions['onLeftOver'],
): Take[] {
  const shares = new Map<
    string,
    { left: number; used: number; limit: number | null; resetsAt: string; month: string }
  >();
  for (const [i, { account_id }] of takes.entries()) {
    const grant = grants[i];
    if (grant === undefined) throw new Error('accounts-api answered fewer grants than takes.');
    const month = utcMonth(new Date(Date.parse(grant.resets_at) - 1));
    const used = grant.used - grant.granted;
    shares.set(account_id, {
      left: grant.granted,
      used,
      limit: grant.limit,
      resetsAt: grant.resets_at,
      month,
    });
  }
  const results = items.map(({ accountId, calls }): Take => {
    const share = shares.get(accountId);
    if (share === undefined) throw new Error('A take has no grant.');
    const granted = share.left >= calls;
    if (granted) {
      share.left -= calls;
      share.used += calls;
    }
    return { granted, limit: share.limit, used: share.used, resetsAt: share.resetsAt, month: share.month };
  });
  for (const [accountId, { left, month }] of shares) if (left > 0) onLeftOver(accountId, month, left);
  return results;
}

function createPost({ upstreams, identitySecret }: AccountsOptions) {
  const seal = createSealer(identitySecret, 'accounts-api');
  const agent = new Agent({
    headersTimeout: deadlineMs,
    bodyTimeout: deadlineMs,
    connect: { timeout: deadlineMs },
  });
  async function post<Schema extends z.ZodType>(
    path: string,
    body: object,
    answer: Schema,
    repeat: 'repeatable' | 'once',
  ): Promise<z.output<Schema>> {
    for (let attempt = 1; ; attempt += 1) {
      const url = upstreams.pick();
      try {
        const response = await agent.request({
          origin: url,
          path,
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            [identityHeader]: seal({ ...anonymous, scope: 'internal' }),
          },
          body: JSON.stringify(body),
        });
        const text = await response.body.text();
        const { statusCode } = response;
        if (statusCode === 400 || statusCode === 413) throw new BatchRefused(text);
        if (statusCode !== 200) throw new Error(`accounts-api answered ${statusCode}: ${text}`);
        const parsed = answer.parse(JSON.parse(text));
        upstreams.answered(url);
        return parsed;
      } catch (error) {
        if (error instanceof BatchRefused) throw error;
        upstreams.failed(url);
        if (attempt === 1 && (repeat === 'repeatable' || wasNeverSent(error))) continue;
        throw new Failure('unavailable', 'Accounts cannot be reached just now; try again in a moment.', {
          detail: error,
          headers: { 'retry-after': '1' },
        });
      }
    }
  }
  return { post, close: () => void agent.destroy() };
}

function wasNeverSent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
}

// What the gateway asks of accounts-api: whose key or session it is, and whether the month has calls left. Hides the internal face.
// The truth is in accounts-api; nothing is remembered here, so what it says is in force on the next call.
import { randomUUID } from 'node:crypto';
import { Agent } from 'undici';
import { z } from 'zod';
import { createDeadline } from '../kernel/deadline.ts';
import { Failure } from '../kernel/errors.ts';
import { anonymous, createSealer, identityHeader, type Identity } from '../kernel/identity.ts';
import type { SessionName } from '../kernel/credentials/session-token.ts';
import { batched } from './batched.ts';
import { BatchRefused } from './quota/journal.ts';
import type { Upstreams } from './upstream/upstreams.ts';

export interface Credential {
  accountId: string;
  /** Set for a key. */
  keyId: string | null;
  /** Set for a session. */
  sessionId: string | null;
  plan: string;
  active: boolean;
}

export interface Grant {
  /** At most what was asked for. */
  granted: number;
  /** Null: unlimited. */
  limit: number | null;
  /** Calls used this month, these included; null while nobody can say. */
  used: number | null;
  /** ISO instant. */
  resetsAt: string;
}

/** A question for calls to be put into an allotment in Redis. */
export interface AllotmentTopUp {
  id: string;
  /** `YYYY-MM-01`, UTC. */
  month: string;
  allotment: string;
  /** All that was ever granted to the allotment, as far as its Redis knows. */
  seen: number;
  /** Calls that are wanted beyond what the allotment holds. */
  calls: number;
}

export interface AllotmentState {
  /** All that was ever granted to the allotment. */
  granted: number;
  /** What is charged to the month outside the allotment. */
  elsewhere: number;
  limit: number | null;
  /** The allotment must not be drawn from any more. */
  closed: boolean;
}

export interface Accounts {
  /** Whose key it is; null where it is unknown, revoked, expired or its account disabled. @throws Failure unavailable. */
  credential(keyHash: string): Promise<Credential | null>;
  /** Whose session it is; null where it is unknown, ended or its account disabled. @throws Failure unavailable. */
  session(name: SessionName): Promise<Credential | null>;
  /**
   * Takes up to so many calls from the account's month; one question an account at a time. @param onLate is given what was
   * granted after all, where the answer came when it was waited for no more. @throws Failure unavailable.
   */
  take(accountId: string, calls: number, onLate: (grant: Grant) => void): Promise<Grant>;
  /** Charges the month with calls for an allotment; one question an account at a time. @throws Failure unavailable. */
  topUp(topUp: AllotmentTopUp): Promise<AllotmentState>;
  /** A lease on the credential cache, for a second from when it was asked for. @returns its generation. */
  leaseCredentialCache(): Promise<number>;
  /** Sends one batch of the journal; the same batch may be sent again. @throws Failure unavailable, or BatchRefused. */
  settle(batch: object): Promise<void>;
  /** Resolves when no take is without its answer, late ones included, or after so many ms. */
  allAnswered(withinMs: number): Promise<void>;
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

const grantsAnswer = z.object({
  grants: z.array(
    z
      .object({ granted: z.int(), limit: z.int().nullable(), used: z.int(), resets_at: z.string() })
      .transform(({ resets_at, ...grant }): Grant => ({ ...grant, resetsAt: resets_at })),
  ),
});
const allotmentsAnswer = z.object({
  allotments: z.array(
    z.object({ granted: z.int(), elsewhere: z.int(), limit: z.int().nullable(), closed: z.boolean() }),
  ),
});
const leaseAnswer = z.object({ generation: z.int() });
const settleAnswer = z.object({ success: z.literal(true) });

const ourselves: Identity = { ...anonymous, scope: 'internal' };
const batchMax = 500;
// Everyone waits behind a call that hangs, so it is given up early.
const deadlineMs = 2_000;
// A take that was given up may be granted all the same: its answer is read so long, to be handed back.
const lateAnswerMs = 30_000;

export interface AccountsOptions {
  upstreams: Upstreams;
  identitySecret: string;
}

export function createAccounts(options: AccountsOptions): Accounts {
  const { post, allAnswered, close } = createPost(options);
  const credential = batched(batchMax, async (hashes: readonly string[]) => {
    const keys = [...new Set(hashes)];
    const { credentials } = await post('/internal/credentials', { keys }, credentialsAnswer);
    const byKey = new Map(keys.map((key, i) => [key, credentials[i] ?? null]));
    return hashes.map((hash) => byKey.get(hash) ?? null);
  });
  const session = batched(batchMax, async (names: readonly SessionName[]) => {
    const sessions = names.map(({ id, secretHash }) => `${id}.${secretHash}`);
    const answer = await post('/internal/credentials', { keys: [], sessions }, sessionsAnswer);
    return names.map((_name, i) => answer.sessions[i] ?? null);
  });
  const take = batched(batchMax, async (items: readonly TakeItem[]) => {
    const takes = items.map(({ accountId, calls }) => ({ account_id: accountId, calls }));
    const answer = await post('/internal/quota/take', { takes }, grantsAnswer, ({ grants }) => {
      for (const [i, grant] of grants.entries()) items[i]?.onLate(grant);
    });
    return answer.grants;
  });
  const topUp = batched(batchMax, async (items: readonly AllotmentTopUp[]) => {
    const topUps = items.map(({ id, allotment, ...rest }) => ({
      account_id: id,
      allotment_id: allotment,
      ...rest,
    }));
    // May be sent again: what was granted is told as a sum, and an allotment that was filled already is not filled again.
    return (await post('/internal/quota/top-up', { top_ups: topUps }, allotmentsAnswer)).allotments;
  });
  return {
    credential,
    session,
    take: (accountId, calls, onLate) => take({ accountId, calls, onLate }),
    topUp,
    async leaseCredentialCache() {
      return (await post('/internal/credential-cache/lease', {}, leaseAnswer)).generation;
    },
    async settle(batch) {
      await post('/internal/quota/settle', batch, settleAnswer);
    },
    allAnswered,
    close,
  };
}

interface TakeItem {
  accountId: string;
  calls: number;
  onLate(grant: Grant): void;
}

function createPost({ upstreams, identitySecret }: AccountsOptions) {
  const seal = createSealer(identitySecret, 'accounts-api');
  const agent = new Agent({ connect: { timeout: deadlineMs } });
  const deadline = createDeadline(deadlineMs);

  /** Asks one instance, once. */
  async function ask<Schema extends z.ZodType>(
    url: string,
    path: string,
    body: object,
    answer: Schema,
    withinMs: number,
  ): Promise<z.output<Schema>> {
    const requestId = randomUUID();
    const response = await agent.request({
      origin: url,
      path,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        [identityHeader]: seal(ourselves),
        'x-request-id': requestId,
      },
      body: JSON.stringify(body),
      headersTimeout: withinMs,
      bodyTimeout: withinMs,
    });
    const text = await response.body.text();
    const { statusCode } = response;
    if (response.headers['x-request-id'] !== requestId) throw new Error('The answer is to another request.');
    if (statusCode === 400 || statusCode === 413) throw new BatchRefused(text);
    if (statusCode !== 200) throw new Error(`accounts-api answered ${statusCode}: ${text}`);
    return answer.parse(JSON.parse(text));
  }

  /**
   * Asks an instance, and another where that fails. @param onLate given for what must not be done twice: it is asked again only
   * where nobody can have heard it, and an answer that comes after the deadline is handed to `onLate`.
   */
  async function post<Schema extends z.ZodType>(
    path: string,
    body: object,
    answer: Schema,
    onLate?: (late: z.output<Schema>) => void,
  ): Promise<z.output<Schema>> {
    for (let attempt = 1; ; attempt += 1) {
      const url = upstreams.pick();
      try {
        const answered = await (onLate === undefined
          ? ask(url, path, body, answer, deadlineMs)
          : deadline.wait(ask(url, path, body, answer, lateAnswerMs), onLate));
        upstreams.answered(url);
        return answered;
      } catch (error) {
        if (error instanceof BatchRefused) throw error;
        upstreams.failed(url);
        if (attempt === 1 && (onLate === undefined || wasNeverSent(error))) continue;
        throw new Failure(
          'unavailable',
          'The accounts service is temporarily unavailable. Try again in a moment.',
          {
            detail: error,
            headers: { 'retry-after': '1' },
          },
        );
      }
    }
  }
  const allAnswered = (withinMs: number) => deadline.allEnded(withinMs);
  return { post, allAnswered, close: () => void agent.destroy() };
}

function wasNeverSent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
}

// The gateway's client for accounts-api: looks up keys and sessions, and tops up allotments. Hides the internal endpoints.
// Every request may be repeated, and is repeated once after a failure. Nothing is cached here; see credentials/.
import { randomUUID } from 'node:crypto';
import { Agent, errors } from 'undici';
import { z } from 'zod';
import { entryAt } from '../kernel/entries.ts';
import { Failure } from '../kernel/errors.ts';
import { anonymous, createSealer, identityHeader, type Identity } from '../kernel/identity.ts';
import type { SessionName } from '../kernel/credentials/session-token.ts';
import { rememberedFor } from '../kernel/time/remembered.ts';
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
  /** Of a session: whether it is an operator's; `stale`: the last sign-in is too long ago for what operators do. */
  operator: 'no' | 'stale' | 'fresh';
}

/** A request to charge calls for an allotment. */
export interface AllotmentTopUp {
  accountId: string;
  /** `YYYY-MM-01`, UTC. */
  month: string;
  allotment: string;
  /** Where it is held. */
  holder: 'redis' | 'process';
  /** The total ever granted to the allotment, as far as its holder knows. */
  seen: number;
  /** Calls needed beyond what the allotment holds. */
  calls: number;
  /** How many may be granted at once, including `calls`. */
  ahead: number;
}

export interface AllotmentState {
  /** The total ever granted to the allotment. */
  granted: number;
  /** Calls charged to the month outside the allotment. */
  elsewhere: number;
  limit: number | null;
  /** The allotment must no longer be drawn from. */
  closed: boolean;
  /** Other gateways hold calls of the month in their processes, and may return them. */
  held: boolean;
}

/** The credential of a key, and its expiry. */
export interface KeyCredential {
  credential: Credential;
  /** In ms since 1970, by PostgreSQL's clock. */
  expiresAt: number;
  /** Counted from accounts-api's answer. */
  expiresInMs: number;
}

export interface Accounts {
  /** The owner of a key; null if it is unknown, revoked, expired or its account disabled. @throws Failure unavailable. */
  key(keyHash: string): Promise<KeyCredential | null>;
  /** The owner of a session; null if it is unknown, ended or its account disabled. @throws Failure unavailable. */
  session(name: SessionName): Promise<Credential | null>;
  /** Charges the month with calls for an allotment; one request at a time per account. @throws Failure unavailable. */
  topUp(topUp: AllotmentTopUp): Promise<AllotmentState>;
  /** Renews the leases on allotments in this process. @returns the ids of those that are open. @throws Failure unavailable. */
  renew(
    allotments: readonly { accountId: string; month: string; id: string }[],
  ): Promise<ReadonlySet<string>>;
  /**
   * Leases the credential cache; the lease counts from the request. @param using the generation that this gateway uses now, or null.
   * @returns the generation.
   */
  leaseCredentialCache(cacheIn: 'redis' | 'process', using: number | null): Promise<number>;
  /** Ends the lease: the cache is not used any more. */
  endCredentialLease(): Promise<void>;
  /** Whether plans can be bought here. @throws Failure unavailable. */
  hasBilling(): Promise<boolean>;
  /** Sends one batch of the journal; may be repeated with the same batch. @throws Failure unavailable, or BatchRefused. */
  settle(batch: object): Promise<void>;
  close(): void;
}

const owner = { account_id: z.string(), plan: z.string(), active: z.boolean() };
const credentialsAnswer = z.object({
  credentials: z.array(
    z
      .object({
        ...{ ...owner, key_id: z.string(), expires_at: z.int().nullable() },
        expires_in_ms: z.int().nullable().default(null), // an accounts-api of the version before sends none
      })
      .transform((c): KeyCredential => ({
        credential: {
          accountId: c.account_id,
          keyId: c.key_id,
          sessionId: null,
          plan: c.plan,
          active: c.active,
          operator: 'no',
        },
        expiresAt: c.expires_at ?? Infinity,
        expiresInMs: c.expires_in_ms ?? Infinity,
      }))
      .nullable(),
  ),
});
const sessionsAnswer = z.object({
  sessions: z.array(
    z
      // An accounts-api of the version before sends no `operator`.
      .object({ ...owner, session_id: z.string(), operator: z.enum(['no', 'stale', 'fresh']).default('no') })
      .transform((c): Credential => ({
        accountId: c.account_id,
        keyId: null,
        sessionId: c.session_id,
        plan: c.plan,
        active: c.active,
        operator: c.operator,
      }))
      .nullable(),
  ),
});

const allotmentsAnswer = z.object({
  allotments: z.array(
    z.object({
      granted: z.int(),
      elsewhere: z.int(),
      limit: z.int().nullable(),
      closed: z.boolean(),
      held: z.boolean(),
    }),
  ),
});
const renewAnswer = z.object({ open: z.array(z.string()) });
const leaseAnswer = z.object({ generation: z.int() });
const billingAnswer = z.object({ is_on: z.boolean() });
const done = z.object({ success: z.literal(true) });

const ourselves: Identity = { ...anonymous, scope: 'internal' };
const batchMax = 500;
// All calls wait for a hanging request, so it is given up early.
const deadlineMs = 2_000;
const billingKnownMs = 10_000;

export interface AccountsOptions {
  upstreams: Upstreams;
  identitySecret: string;
}

export function createAccounts(options: AccountsOptions): Accounts {
  const { post, close } = createPost(options);
  const ourId = randomUUID(); // of this process: what an earlier one used is not in use here
  const key = batched(batchMax, async (hashes: readonly string[]) => {
    const keys = [...new Set(hashes)];
    const { credentials } = await post('/internal/credentials', { keys }, credentialsAnswer);
    const byKey = new Map(keys.map((each, i) => [each, entryAt(credentials, i)]));
    return hashes.map((hash) => byKey.get(hash) ?? null);
  });
  const session = batched(batchMax, async (names: readonly SessionName[]) => {
    const sessions = names.map(({ id, secretHash }) => `${id}.${secretHash}`);
    const answer = await post('/internal/credentials', { keys: [], sessions }, sessionsAnswer);
    return names.map((_name, i) => entryAt(answer.sessions, i));
  });
  // A month is topped up for one allotment at a time. When it turns, or Redis comes back, an account may ask for two: the next batch has the other.
  const topUp = batched(untilRepeated, async (items: readonly AllotmentTopUp[]) => {
    const topUps = items.map(({ accountId, allotment, ...rest }) => ({
      account_id: accountId,
      allotment_id: allotment,
      ...rest,
    }));
    // May be repeated: grants are reported as totals, and an allotment already topped up is not topped up again.
    return (await post('/internal/quota/top-up', { top_ups: topUps }, allotmentsAnswer)).allotments;
  });
  return {
    key,
    session,
    topUp,
    async renew(allotments) {
      const open = new Set<string>();
      for (let i = 0; i < allotments.length; i += batchMax) {
        const asked = allotments
          .slice(i, i + batchMax)
          .map(({ accountId, month, id }) => ({ account_id: accountId, month, allotment_id: id }));
        const answer = await post('/internal/quota/renew', { allotments: asked }, renewAnswer);
        for (const id of answer.open) open.add(id);
      }
      return open;
    },
    async leaseCredentialCache(cacheIn, using) {
      const request = { gateway: ourId, in: cacheIn, using };
      return (await post('/internal/credential-cache/lease', request, leaseAnswer)).generation;
    },
    async endCredentialLease() {
      await post('/internal/credential-cache/lease/end', { gateway: ourId }, done);
    },
    hasBilling: rememberedFor(
      billingKnownMs,
      async () => (await post('/internal/billing', {}, billingAnswer)).is_on,
    ),
    async settle(batch) {
      await post('/internal/quota/settle', batch, done, true);
    },
    close,
  };
}

/** How many top-ups from the first one on are for accounts of their own. */
function untilRepeated(waiting: Iterable<AllotmentTopUp>): number {
  const accountIds = new Set<string>();
  for (const { accountId } of waiting) {
    if (accountIds.size === batchMax || accountIds.has(accountId)) break;
    accountIds.add(accountId);
  }
  return accountIds.size;
}

function createPost({ upstreams, identitySecret }: AccountsOptions) {
  const seal = createSealer(identitySecret, 'accounts-api');
  const openAgent = () => new Agent({ connect: { timeout: deadlineMs } });
  let agent = openAgent();

  /** Where a connection was silent, the others may be half-open as well: what is asked from now on is asked on new ones. */
  function connectAnew(silent: Agent): void {
    if (agent !== silent) return;
    agent = openAgent();
    void silent.close(); // once what is under way on it has ended, which its deadline bounds
  }

  /** Sends a request to one instance, once. @throws Error if no whole answer comes. */
  async function ask(url: string, path: string, body: object, requestId: string) {
    const used = agent;
    try {
      return await askBy(used, url, path, { body: JSON.stringify(body), requestId });
    } catch (error) {
      if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError) connectAnew(used);
      throw error;
    }
  }

  async function askBy(
    by: Agent,
    url: string,
    path: string,
    { body, requestId }: { body: string; requestId: string },
  ) {
    const response = await by.request({
      origin: url,
      path,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        [identityHeader]: seal(ourselves, 'POST', path),
        'x-request-id': requestId,
      },
      body,
      headersTimeout: deadlineMs,
      bodyTimeout: deadlineMs,
    });
    const { statusCode: status, headers } = response;
    return { status, answersTo: headers['x-request-id'], text: await response.body.text() };
  }

  /**
   * Sends a request to one instance, and to another if that fails: requests must be repeatable. A refusal as malformed is a fault between
   * gateway and accounts-api, never a client's; it counts as an outage.
   * @param mayDrop the sender drops a request that is refused. @throws Failure unavailable; BatchRefused if it may be dropped.
   */
  async function post<Schema extends z.ZodType>(
    path: string,
    body: object,
    answer: Schema,
    mayDrop = false,
  ): Promise<z.output<Schema>> {
    let failed: string | undefined;
    for (;;) {
      const url = upstreams.pick(failed);
      const requestId = randomUUID();
      try {
        const { status, answersTo, text } = await ask(url, path, body, requestId).catch((error: unknown) => {
          upstreams.failed(url);
          throw error;
        });
        upstreams.answered(url); // also with an error: the instance is up
        if (answersTo !== requestId) throw new Error('The answer is to another request.');
        if (mayDrop && (status === 400 || status === 413)) throw new BatchRefused(text);
        if (status !== 200) throw new Error(`accounts-api answered ${status}: ${text}`);
        return answer.parse(JSON.parse(text));
      } catch (error) {
        if (error instanceof BatchRefused) throw error;
        if (failed === undefined) {
          failed = url;
          continue;
        }
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
  return { post, close: () => void agent.destroy() };
}

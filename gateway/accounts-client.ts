// The gateway's client for accounts-api: it sends heartbeats and looks up sessions.
// Every request is idempotent and is retried once after a failure. Nothing is cached here; see heartbeat/.
import { randomUUID } from 'node:crypto';
import { Agent, errors } from 'undici';
import { z } from 'zod';
import { entryAt } from '../kernel/entries.ts';
import { fail } from '../kernel/errors.ts';
import { anonymous, createSealer, identityHeader, type Identity } from '../kernel/identity.ts';
import type { SessionName } from '../kernel/credentials/session-token.ts';
import { rememberedFor } from '../kernel/time/remembered.ts';
import { accountsWithinMs } from './timeouts.ts';
import { batched } from './event-loop/batched.ts';
import { BatchRefused } from './heartbeat/journal.ts';
import { heartbeatAnswer, type HeartbeatAnswer, type HeartbeatMessage } from '../kernel/heartbeat/message.ts';
import type { Upstreams } from './upstream/upstreams.ts';

export interface Credential {
  accountId: string;
  /** Set for a key. */
  keyId: string | null;
  /** The SHA-256 of the key; null for a session. */
  keyHash: string | null;
  /** Set for a session. */
  sessionId: string | null;
  plan: string;
  active: boolean;
  /**
   * Whether the session is an operator's. `stale`: the last sign-in is too old for operator endpoints, or was made without the second factor that the
   * account has. `unenrolled`: the account has no second factor, which operators need here.
   */
  operator: 'no' | 'unenrolled' | 'stale' | 'fresh';
  /** The access of a key; null for a session, which may do everything. */
  access: KeyAccess | null;
  /** The day that the key is pinned to, `YYYY-MM-DD`; null: none. */
  asOf: string | null;
}

export interface KeyAccess {
  /** From `keyScopes`. */
  readonly scopes: readonly string[];
  /** Whether the key works from an address; null: from every address. */
  readonly isAllowedFrom: ((address: string) => boolean) | null;
}

export type Accounts = ReturnType<typeof createAccounts>;

const owner = { account_id: z.string(), plan: z.string(), active: z.boolean() };
const sessionsAnswer = z.object({
  sessions: z.array(
    z
      .object({ ...owner, session_id: z.string(), operator: z.enum(['no', 'unenrolled', 'stale', 'fresh']) })
      .transform((c): Credential => ({
        accountId: c.account_id,
        keyId: null,
        keyHash: null,
        sessionId: c.session_id,
        plan: c.plan,
        active: c.active,
        operator: c.operator,
        access: null,
        asOf: null,
      }))
      .nullable(),
  ),
});

const billingAnswer = z.object({ is_on: z.boolean() });

const ourselves: Identity = { ...anonymous, scope: 'internal' };
const batchMax = 500;
const billingKnownMs = 10_000;

export function createAccounts(upstreams: Upstreams, identitySecret: string) {
  const { post, close } = createPost(upstreams, identitySecret);
  const session = batched(batchMax, async (names: readonly SessionName[]) => {
    const sessions = names.map(({ id, secretHash }) => `${id}.${secretHash}`);
    const answer = await post('/internal/sessions', { sessions }, sessionsAnswer);
    return names.map((_name, i) => entryAt(answer.sessions, i));
  });
  return {
    /** The owner of a session; null if the session is unknown or has ended, or its account is disabled. @throws Failure unavailable. */
    session,
    /** Sends a heartbeat; safe to repeat. @throws Failure unavailable, or BatchRefused. */
    heartbeat: (message: HeartbeatMessage): Promise<HeartbeatAnswer> =>
      post('/internal/heartbeat', message, heartbeatAnswer, message.batch !== null),
    /** Whether plans can be bought here. @throws Failure unavailable. */
    hasBilling: rememberedFor(
      billingKnownMs,
      async () => (await post('/internal/billing', {}, billingAnswer)).is_on,
    ),
    close,
  };
}

function createPost(upstreams: Upstreams, identitySecret: string) {
  const seal = createSealer(identitySecret, 'accounts-api');
  const openAgent = () => new Agent({ connect: { timeout: accountsWithinMs } });
  let agent = openAgent();

  /** After one connection was silent, the others may be half-open too: later requests use new connections. */
  function connectAnew(silent: Agent): void {
    if (agent !== silent) return;
    agent = openAgent();
    void silent.close(); // after the requests that still run on it, which their deadline bounds
  }

  /**
   * Sends a request to one instance, once. @param mayDrop as in `post`. @returns the body of its 200.
   * @throws BatchRefused, or Error if the response is incomplete or not 200.
   */
  async function ask(url: string, path: string, body: object, mayDrop: boolean): Promise<string> {
    const used = agent;
    const requestId = randomUUID();
    const asked = used.request({
      origin: url,
      path,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        [identityHeader]: seal(ourselves, 'POST', path),
        'x-request-id': requestId,
      },
      body: JSON.stringify(body),
      headersTimeout: accountsWithinMs,
      bodyTimeout: accountsWithinMs,
    });
    const answered = asked.then(async (answer) => ({ ...answer, text: await answer.body.text() }));
    const { statusCode, headers, text } = await answered.catch((error: unknown) => {
      if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError)
        connectAnew(used);
      upstreams.failed(url);
      throw error;
    });
    upstreams.answered(url); // an error too shows that the instance is up
    if (headers['x-request-id'] !== requestId) throw new Error('The answer is to another request.');
    if (mayDrop && (statusCode === 400 || statusCode === 413)) throw new BatchRefused(text);
    if (statusCode !== 200) throw new Error(`accounts-api answered ${statusCode}: ${text}`);
    return text;
  }

  /**
   * Sends a request to one instance, and to another if that fails: requests must be repeatable. A refusal as malformed means that gateway and
   * accounts-api disagree about the format. It is never the client's fault, so it is reported as `unavailable`.
   * @param mayDrop whether the sender drops a refused request. @throws Failure unavailable; BatchRefused if the request may be dropped.
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
      try {
        return answer.parse(JSON.parse(await ask(url, path, body, mayDrop)));
      } catch (error) {
        if (error instanceof BatchRefused) throw error;
        if (failed !== undefined)
          fail('unavailable', 'The accounts service is temporarily unavailable. Try again in a moment.', {
            ...{ detail: error, headers: { 'retry-after': '1' } },
          });
        failed = url;
      }
    }
  }
  return { post, close: () => void agent.destroy() };
}

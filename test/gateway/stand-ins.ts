// Small servers that stand in for the rooms behind the gateway, so that its tests see exactly what reaches them.
// They go once the integration tests run the gateway against the real rooms.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';
import { hashApiKey, mintApiKey } from '../../kernel/api-key.ts';
import { utcMonth, nextUtcMonth, type Clock } from '../../kernel/clock.ts';
import { closeServer, listen } from '../../kernel/http.ts';
import { createOpener, identityHeader, type Identity, type Room } from '../../kernel/identity.ts';
import { loadPlans } from '../../kernel/plans.ts';
import { projectRoot } from '../../kernel/settings.ts';
import { start, type GatewayOptions } from '../../gateway/main.ts';
import { fakeClock, silentLog, testIdentitySecret } from '../harness.ts';

export interface Received {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  headerNames: string[];
  body: string;
  identity: Identity | null;
  /** Resolves when the gateway cut the call before it was answered. */
  cut: Promise<void>;
}

export type Answer = (request: Received, response: ServerResponse) => void;

export interface Upstream {
  url: string;
  received: Received[];
  /** How client calls are answered; 200 with a small body at first. */
  answer: Answer;
  close(): Promise<void>;
}

const defaultAnswer: Answer = (_request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end('{"success":true}');
};

/** A room that records every client call that reaches it. @param internal answers the room's internal face. */
export async function startUpstream(
  room: Room,
  internal?: (path: string, body: never) => object,
): Promise<Upstream> {
  const open = createOpener(testIdentitySecret, room);
  const upstream: Upstream = {
    url: '',
    received: [],
    answer: defaultAnswer,
    close: () => closeServer(server),
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const identity = open(String(request.headers[identityHeader]));
    response.setHeader('x-request-id', String(request.headers['x-request-id']));
    if (request.url === '/readyz') response.end('{"success":true}');
    else if (identity?.scope === 'internal' && internal !== undefined) {
      response.end(JSON.stringify(internal(request.url ?? '', JSON.parse(body) as never)));
    } else {
      const received = record(request, response, body, identity);
      upstream.received.push(received);
      upstream.answer(received, response);
    }
  });
  upstream.url = await listen(server, '127.0.0.1', 0);
  return upstream;
}

function record(
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
  identity: Identity | null,
): Received {
  const { method = '', url = '', headers } = request;
  const headerNames = request.rawHeaders.filter((_name, i) => i % 2 === 0);
  const cut = new Promise<void>((resolve) => {
    response.once('close', () => {
      if (!response.writableFinished) resolve();
    });
  });
  return { method, url, headers, headerNames, body, identity, cut };
}

/** One account, as the internal face knows it. */
export interface TestAccount {
  id: string;
  plan: string;
  active: boolean;
  /** Calls of the month; null is unlimited. */
  limit: number | null;
  used: number;
  keyHashes: string[];
}

export interface Settled {
  usage: { account_id: string; endpoint: string; status_class: number; calls: number; billed: number }[];
  lastUsed: string[];
}

/** accounts-api's internal face over accounts in memory. */
export async function startAccounts(clock: Clock): Promise<{
  upstream: Upstream;
  settled: Settled;
  addAccount(account?: Partial<TestAccount>): { account: TestAccount; key: string };
}> {
  const accounts = new Map<string, TestAccount>();
  const batches = new Set<string>();
  const purses = new Map<string, number>();
  const settled: Settled = { usage: [], lastUsed: [] };
  const face: Record<string, (body: never) => object> = {
    '/internal/credentials': ({ keys }: { keys: string[] }) => ({
      credentials: keys.map((hash) => {
        const account = [...accounts.values()].find(({ keyHashes }) => keyHashes.includes(hash));
        if (account === undefined) return null;
        return {
          account_id: account.id,
          key_id: `key_${hash.slice(0, 8)}`,
          plan: account.plan,
          active: account.active,
        };
      }),
    }),
    '/internal/quota/take': ({ takes }: { takes: { account_id: string; calls: number }[] }) => ({
      grants: takes.map(({ account_id, calls }) => {
        const account = accountOf(account_id);
        const granted = account.limit === null ? calls : Math.min(calls, account.limit - account.used);
        account.used += granted;
        const resets_at = nextUtcMonth(clock.now()).toISOString();
        return { granted, limit: account.limit, used: account.used, resets_at };
      }),
    }),
    '/internal/copies/lease': () => ({ generation: 1 }),
    '/internal/quota/refill': ({
      refills,
    }: {
      refills: { account_id: string; purse_id: string; calls: number }[];
    }) => ({
      purses: refills.map(({ account_id, purse_id, calls }) => {
        const account = accountOf(account_id);
        const added =
          account.limit === null ? calls : Math.max(0, Math.min(calls, account.limit - account.used));
        account.used += added;
        const granted = (purses.get(purse_id) ?? 0) + added;
        purses.set(purse_id, granted);
        return { granted, elsewhere: account.used - granted, limit: account.limit, closed: false };
      }),
    }),
    '/internal/quota/settle': (batch: {
      batch_id: string;
      usage: Settled['usage'];
      refunds: { account_id: string; month: string; calls: number }[];
      last_used: { key_id: string }[];
    }) => {
      if (batches.has(batch.batch_id)) return { success: true };
      batches.add(batch.batch_id);
      settled.usage.push(...batch.usage);
      settled.lastUsed.push(...batch.last_used.map(({ key_id }) => key_id));
      for (const refund of batch.refunds) {
        if (refund.month === utcMonth(clock.now())) accountOf(refund.account_id).used -= refund.calls;
      }
      return { success: true };
    },
  };
  function accountOf(id: string): TestAccount {
    const account = accounts.get(id);
    if (account === undefined) throw new Error(`There is no account ${id}.`);
    return account;
  }
  return {
    upstream: await startUpstream('accounts-api', (url, body) => face[url]?.(body) ?? {}),
    settled,
    addAccount(given = {}) {
      const key = mintApiKey();
      const id = `acc_${crypto.randomUUID()}`;
      const account = {
        id,
        plan: 'enterprise',
        active: true,
        limit: null,
        used: 0,
        keyHashes: [hashApiKey(key)],
        ...given,
      };
      accounts.set(account.id, account);
      return { account, key };
    },
  };
}

/** Of a gateway that is tested for something else: on a free port, alone, without Redis. */
export const plainOptions = {
  identitySecret: testIdentitySecret,
  redisUrl: undefined,
  trustedProxyHops: 0,
  publicCallsPerSecond: 10_000,
  drainDelayMs: 0,
  host: '127.0.0.1',
  port: 0,
  log: silentLog,
} satisfies Partial<GatewayOptions>;

/** The real gateway between two stand-ins. */
export async function startTestGateway(overrides: Partial<GatewayOptions> = {}) {
  const clock = fakeClock('2026-11-20T12:00:00Z');
  const dataApi = await startUpstream('data-api');
  const accounts = await startAccounts(clock);
  const started = start({
    ...plainOptions,
    dataApiUrls: [dataApi.url],
    accountsApiUrls: [accounts.upstream.url],
    plans: loadPlans(path.join(projectRoot, 'config/plans.yml')),
    clock,
    settleEveryMs: 5,
    ...overrides,
  });
  const closeStandIns = () => Promise.all([dataApi.close(), accounts.upstream.close()]);
  const gateway = await started.catch(async (error: unknown) => {
    await closeStandIns();
    throw error;
  });
  return {
    url: gateway.url,
    gateway,
    clock,
    dataApi,
    accounts,
    closeStandIns,
    async close() {
      await gateway.close();
      await closeStandIns();
    },
  };
}

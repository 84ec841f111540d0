// accounts-api for tests: the real service over HTTP with its own database, called like the gateway calls it.
import type { ExecutionContext } from 'ava';
import { QueryTypes } from 'sequelize';
import { connect, type Deps } from '../../accounts-api/database.ts';
import { createAccount, createKey } from '../../accounts-api/operator/operator.ts';
import { anonymous, createSealer, identityHeader, type Identity } from '../../kernel/identity.ts';
import type { Log } from '../../kernel/log/log.ts';
import type { Tracing } from '../../kernel/tracing/tracing.ts';
import { loadPlans, type Plans } from '../../kernel/plans.ts';
import { utcMonth, type Clock } from '../../kernel/clock.ts';
import type { StripeSettings } from '../../kernel/settings/settings.ts';
import type { SignInSettings } from '../../accounts-api/deps.ts';
import type { HashCost } from '../../accounts-api/auth/passwords.ts';
import type { WebhookSettings } from '../../accounts-api/webhooks/webhook-tools.ts';
import { selectUsed } from '../../accounts-api/usage/usage.sql.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { heartbeatsTo } from './heartbeats.ts';
import { createTestDatabase, fakeClock, silentLog, testIdentitySecret } from './harness.ts';
import { canBeProcesses, settingsOf, startAccountsApis } from './production.ts';
import { testPasswordCost, testSignIn } from './sign-in.ts';
import { testWebhooks } from '../webhooks/settings.ts';

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed if it is JSON, otherwise the text. */
  body: unknown;
}

export interface Ask {
  method?: string;
  /** Sent as JSON; a string is sent unchanged. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** The caller: an account with one of its keys. */
export interface Client {
  accountId: string;
  keyId: string;
}

/** The caller: an account with one of its sessions. */
export interface SignedIn {
  accountId: string;
  sessionId: string;
}

export interface AccountsApiOptions {
  clock: Clock;
  log: Log;
  plans: Plans;
  signIn?: Partial<SignInSettings> | undefined;
  webhooks?: Partial<WebhookSettings> | undefined;
  redisUrl?: string | undefined;
  passwordCost?: HashCost | undefined;
  stripe?: StripeSettings | undefined;
  tracing?: Tracing | undefined;
}

/** Another connection to the accounts of a database, like that of a command next to a running instance. */
export function accountsOf(databaseUrl: string, plans: Plans, clock: Clock) {
  const deps: Deps = { db: connect(databaseUrl), plans, clock };
  let accounts = 0;
  return {
    deps,
    /** A new account with one key. */
    async newClient(plan = 'free'): Promise<Client & { key: string }> {
      accounts += 1;
      const { id: accountId } = await createAccount(deps, { email: `user${accounts}@example.org`, plan });
      const { id: keyId, key } = await createKey(deps, accountId, 'first');
      return { accountId, keyId, key };
    },
  };
}

/** accounts-api in this process. Its modules are loaded only here, as they are not needed if it runs as a separate process. */
export async function startAccountsApi(
  databaseUrl: string,
  {
    signIn,
    webhooks,
    passwordCost = testPasswordCost,
    redisUrl,
    stripe,
    tracing,
    ...own
  }: AccountsApiOptions,
) {
  const { start } = await import('../../accounts-api/main.ts');
  return start({
    ...{ ...own, redisUrl, stripe, tracing },
    databaseUrl: serviceUrl(databaseUrl, 'almanac_accounts_api'),
    identitySecret: testIdentitySecret,
    signIn: { ...testSignIn, ...signIn },
    webhooks: { ...testWebhooks, ...webhooks },
    passwordCost,
    host: '127.0.0.1',
    port: 0,
  });
}

/** The ledger of an account: calls by endpoint group and status class. */
export interface LedgerRow {
  endpoint: string;
  status_class: number;
  calls: number;
  billed: number;
}

/** accounts-api, called like the gateway calls it, with a clock that the test moves. */
export async function startAccountsService(
  now = '2026-11-20T10:00:00.000Z',
  log: Log = silentLog,
  options: Pick<AccountsApiOptions, 'signIn' | 'webhooks' | 'redisUrl' | 'passwordCost' | 'stripe'> = {},
) {
  const clock = fakeClock(now);
  const plans = loadPlans('config/plans.yml');
  const database = await createTestDatabase();
  const { webhooks, ...others } = options;
  const named = webhooks?.resolve === undefined || webhooks.resolve === testWebhooks.resolve;
  const asProcesses = log === silentLog && named && canBeProcesses(others);
  const service = asProcesses
    ? await startAccountsApis(database.url, settingsOf(options), clock)
    : await startAccountsApi(database.url, { ...options, clock, log, plans });
  const accounts = accountsOf(database.url, plans, clock);
  const { deps } = accounts;
  // Separate processes use the clock of the test; a service in this process checks identities by the machine's clock.
  const seal = createSealer(testIdentitySecret, 'accounts-api', asProcesses ? clock : undefined);

  async function call(identity: Partial<Identity>, path: string, ask: Ask = {}): Promise<Answer> {
    const text = typeof ask.body === 'string' ? ask.body : JSON.stringify(ask.body);
    const method = ask.method ?? (ask.body === undefined ? 'GET' : 'POST');
    const response = await fetch(service.url + path, {
      method,
      headers: {
        [identityHeader]: seal({ ...anonymous, ...identity }, method, path),
        ...(ask.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...ask.headers,
      },
      ...(ask.body === undefined ? {} : { body: text }),
      redirect: 'manual',
    });
    const answer = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? (JSON.parse(answer) as unknown) : answer,
    };
  }

  const internally = (path: string, body: unknown) => call({ scope: 'internal' }, path, { body });
  const heartbeats = heartbeatsTo(internally, clock);
  return {
    ...accounts,
    url: service.url,
    databaseUrl: database.url,
    clock,
    /** Without any credential, as on public endpoints. */
    anonymously: (path: string, ask?: Ask) => call({}, path, ask),
    /** As an account, by its key. */
    as: (client: Client, path: string, ask?: Ask) => call(client, path, ask),
    /** As the holder of a session. */
    signedIn: (caller: SignedIn, path: string, ask?: Ask) =>
      call({ accountId: caller.accountId, sessionId: caller.sessionId }, path, ask),
    /** As an operator with a recent sign-in. */
    asOperator: (caller: SignedIn, path: string, ask?: Ask) =>
      call({ accountId: caller.accountId, sessionId: caller.sessionId, operator: true }, path, ask),
    /** A call of the gateway itself. */
    internally,
    heartbeats,
    /** Charges calls to the account's present month, like a gateway that serves them at once. */
    charge: ({ accountId }: Client, calls: number) =>
      heartbeats.charge({ account_id: accountId, month: utcMonth(clock.now()) }, calls),
    /** The used calls of the present month. */
    used: ({ accountId }: Client) => selectUsed(deps.db, accountId, utcMonth(clock.now())),
    /** Everything that was ever settled for an account. */
    ledger: ({ accountId }: Client) =>
      deps.db.sequelize.query<LedgerRow>(
        `select endpoint, status_class, sum(calls)::int as calls, sum(billed)::int as billed
         from accounts.usage_daily where account_id = $1
         group by endpoint, status_class order by endpoint, status_class`,
        { bind: [accountId], type: QueryTypes.SELECT },
      ),
    async close(): Promise<void> {
      await deps.db.close();
      await service.close();
      await database.drop();
    },
  };
}

/** Calls and billed calls of a ledger, summed. */
export function sumOf(rows: readonly LedgerRow[]): { calls: number; billed: number } {
  return {
    calls: rows.reduce((sum, row) => sum + row.calls, 0),
    billed: rows.reduce((sum, row) => sum + row.billed, 0),
  };
}

export type AccountsService = Awaited<ReturnType<typeof startAccountsService>>;

/** Asserts an error envelope with the status and code. @returns its error. */
export function assertError(t: ExecutionContext, answer: Answer, status: number, code: string) {
  const body = answer.body as { success: boolean; error: { code: string; message: string; param?: string } };
  t.is(answer.status, status);
  t.false(body.success);
  t.is(body.error.code, code);
  return body.error;
}

/** The `data` of a successful answer with the status. */
export function dataOf(t: ExecutionContext, answer: Answer, status = 200): unknown {
  t.is(answer.status, status, JSON.stringify(answer.body));
  return (answer.body as { data: unknown }).data;
}

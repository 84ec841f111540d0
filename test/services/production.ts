// The services as separate processes, for the run with a production set-up (TEST_SET_UP=production): three data-apis that read from the replica, two
// accounts-apis, two gateways with a Redis Cluster, and a balancer in front of each service. If a test sets a clock, they use it.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock, type Clock } from '../../kernel/clock.ts';
import type { Plans } from '../../kernel/plans.ts';
import { serviceUrl, type ServiceRole } from '../../migrations/roles.ts';
import { startBalancer } from '../production/balancer.ts';
import type { Started, StartRequest } from '../production/pool.ts';
import type { AccountsApiOptions } from './accounts-service.ts';
import { testIdentitySecret, testRedisClusterUrl, testReplica, type FakeClock } from './harness.ts';
import type { ServicesOptions } from './services.ts';
import { testMail, testSignIn } from './sign-in.ts';

/** The options of the services that settings can express. */
type InProcessOptions = Omit<ServicesOptions, 'webhooks'> & Pick<AccountsApiOptions, 'webhooks'>;

export interface Processes {
  /** The URL of the balancer in front of them. */
  url: string;
  /** The URL of each instance. */
  urls: string[];
  close(): Promise<void>;
}

export interface ProductionServices {
  /** The URL of the balancer in front of the gateways. */
  url: string;
  /** The URL of one instance of each service. */
  dataApiUrl: string;
  accountsApiUrl: string;
  /** Undefined: no publisher runs. */
  publisherUrl: string | undefined;
  metricsUrl: undefined;
  close(): Promise<void>;
}

const anyPort = { PORT: '0', DATA_API_PORT: '0', ACCOUNTS_API_PORT: '0', PUBLISHER_PORT: '0' };

/** @param env more settings. @param clock theirs; without one, that of the machine. */
export async function startDataApis(
  databaseUrl: string,
  env: Record<string, string>,
  clock?: Clock,
): Promise<Processes> {
  const url = serviceUrl(databaseUrl, 'almanac_data_api');
  const own = { DATABASE_URL: url, DATABASE_READ_URL: testReplica(url)?.url ?? '', ...env };
  return startProcesses('data-api', 3, own, clock);
}

/** @param env more settings. @param clock theirs; without one, that of the machine. */
export async function startAccountsApis(
  databaseUrl: string,
  env: Record<string, string>,
  clock?: Clock,
): Promise<Processes> {
  const own = { DATABASE_URL: serviceUrl(databaseUrl, 'almanac_accounts_api'), ...env };
  return startProcesses('accounts-api', 2, own, clock);
}

/** The options that can be passed to processes, as settings. */
const reported: ReadonlySet<string> = new Set<keyof (ServicesOptions & AccountsApiOptions)>([
  ...(['publicCallsPerSecond', 'managementCallsPerSecond', 'trustedProxyHops', 'redisUrl'] as const),
  ...(['signIn', 'mail', 'plans', 'stripe', 'publisher', 'inboxDirectory', 'openRevisionsSeries'] as const),
]);

/** Whether services with these options run as processes: in the production run, unless a test passes an object, such as a log. */
export function canBeProcesses(options: { signIn?: unknown; clock?: Clock }): boolean {
  return (
    testRedisClusterUrl() !== undefined &&
    Object.entries(options).every(([name, value]) => value === undefined || reported.has(name)) &&
    (options.clock === undefined || options.clock === systemClock || isFake(options.clock))
  );
}

const isFake = (clock: Clock): clock is FakeClock => 'follow' in clock;

/** The settings that correspond to the options. */
export function settingsOf({
  signIn,
  stripe,
  webhooks,
  ...options
}: InProcessOptions): Record<string, string> {
  const { google } = { ...signIn };
  return {
    ...{
      PUBLIC_URL: { ...testSignIn, ...signIn }.publicUrl,
      REDIS_URL: options.redisUrl ?? testRedisClusterUrl() ?? '',
    },
    ...(google && { GOOGLE_CLIENT_ID: google.clientId, GOOGLE_CLIENT_SECRET: google.clientSecret }),
    ...(google && { GOOGLE_ISSUER: google.issuer }),
    ...(stripe && { STRIPE_SECRET_KEY: stripe.secretKey, STRIPE_API_URL: stripe.apiUrl }),
    ...(stripe && { STRIPE_WEBHOOK_SECRET: stripe.webhookSecrets.join() }),
    ...(stripe && { BILLING_GRACE_DAYS: String(stripe.graceDays) }),
    PASSWORD_LENGTH_MIN: String({ ...testSignIn, ...signIn }.passwordLengthMin),
    OPERATOR_SECOND_FACTOR: { ...testSignIn, ...signIn }.operatorSecondFactor,
    // For accounts-api this only means that e-mails are sent.
    SMTP_URL: signIn?.mailGoesOut === true ? 'smtp://127.0.0.1:1' : '',
    ...(options.plans && { PLANS_FILE: fileOf(options.plans) }),
    WEBHOOK_ALLOW_HTTP: String(webhooks?.allowHttp ?? false),
    WEBHOOK_ALLOW_CIDRS: webhooks?.allowCidrs?.join() ?? '',
    PUBLIC_CALLS_SECOND: String(options.publicCallsPerSecond ?? 10_000),
    MANAGEMENT_CALLS_SECOND: String(options.managementCallsPerSecond ?? 10_000),
    TRUSTED_PROXY_HOPS: String(options.trustedProxyHops ?? 1),
    OPEN_REVISIONS_SERIES: options.openRevisionsSeries ?? 'none',
    INBOX_DIR: options.inboxDirectory ?? '',
  };
}

/** A file with the plans. */
function fileOf({ all }: Plans): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-plans-')), 'plans.yml');
  const plans = all.map(({ price_usd_month, prices, ...plan }) => ({
    ...plan,
    ...(prices.length === 0 ? { price_usd_month } : { prices }),
  }));
  writeFileSync(file, JSON.stringify({ plans }));
  return file;
}

/** @param options that can be passed to processes. */
export async function startProductionServices(
  databaseUrl: string,
  options: ServicesOptions,
): Promise<ProductionServices> {
  const { clock, mail, publisher, redisUrl = testRedisClusterUrl() } = options;
  const env = settingsOf({ ...options, redisUrl });
  const ofRole = (role: ServiceRole) => ({ ...env, DATABASE_URL: serviceUrl(databaseUrl, role) });
  const ofWorker = { ...ofRole('almanac_accounts_api'), SMTP_URL: mail?.smtpUrl ?? '' };
  const from = { MAIL_FROM: mail?.from ?? testMail.from };
  const [dataApis, accountsApis, workers, publishers] = await Promise.all([
    startDataApis(databaseUrl, env, clock),
    startAccountsApis(databaseUrl, env, clock),
    startProcesses('worker', mail === undefined ? 0 : 1, { ...ofWorker, ...from }, clock),
    startProcesses('publisher', publisher === true ? 1 : 0, ofRole('almanac_publisher'), clock),
  ]);
  const gateways = await startProcesses(
    ...(['gateway', 2] as const),
    {
      ...{ ...env, DATA_API_URL: dataApis.urls.join(), ACCOUNTS_API_URL: accountsApis.urls.join() },
      PUBLISHER_URL: publishers.urls.join(),
    },
    clock,
  );
  return {
    url: gateways.url,
    dataApiUrl: dataApis.urls[0] ?? '',
    accountsApiUrl: accountsApis.urls[0] ?? '',
    publisherUrl: publishers.urls[0],
    metricsUrl: undefined,
    async close() {
      await gateways.close();
      await Promise.all([publishers, workers, dataApis, accountsApis].map((each) => each.close()));
    },
  };
}

async function startProcesses(
  service: string,
  count: number,
  env: Record<string, string>,
  clock?: Clock,
): Promise<Processes> {
  const own = clock !== undefined && isFake(clock) ? clock : undefined;
  const all = {
    DATA_DIR: mkdtempSync(path.join(tmpdir(), 'almanac-production-')), // the run removes it
    IDENTITY_SECRET: testIdentitySecret,
    LOG_LEVEL: 'silent',
    DASHBOARD: 'off',
    ...anyPort,
    ...env,
  };
  const startRequest: StartRequest = { service, env: all, clockAtMs: own?.now().getTime() ?? null };
  const started = await Promise.all(
    Array.from({ length: count }, () => askPool<Started>('start', startRequest)),
  );
  const urls = started.map(({ url = '' }) => url);
  if (own !== undefined) {
    own.follow((nowMs) => {
      for (const each of started) writeFileSync(each.clock, new Float64Array([0, nowMs]), { flag: 'r+' });
    });
  }
  const balancer = await startBalancer(5_000); // probed rarely, as nothing stops here before the end
  for (const url of urls) balancer.add(url);
  return {
    ...{ url: balancer.url, urls },
    async close() {
      await balancer.close();
      await Promise.all(started.map(({ id }) => askPool('stop', id)));
    },
  };
}

/** @throws Error with the output of the service if it does not start or stop normally. */
async function askPool<Answer>(what: 'start' | 'stop', about: StartRequest | Started['id']): Promise<Answer> {
  const url = `${process.env['TEST_POOL_URL']}/${what}`;
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(about) });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return JSON.parse(text) as Answer;
}

// almanac start: runs all three services in this process, or only the named one.
// Hides the order of starting and of draining: services first, then the database.
import path from 'node:path';
import pg from 'pg';
import { start as startAccountsApi } from '../../accounts-api/main.ts';
import { startWorker } from '../../accounts-api/worker.ts';
import { start as startDataApi } from '../../data-api/main.ts';
import { start as startGateway, type RunningGateway } from '../../gateway/main.ts';
import { requireSpace } from '../../embedded/disk.ts';
import { systemClock } from '../../kernel/clock.ts';
import type { RunningService } from '../../kernel/http/server.ts';
import { createLog } from '../../kernel/log.ts';
import { diskMetrics } from '../../kernel/metrics/disk.ts';
import type { Plans } from '../../kernel/plans.ts';
import { knownMigrations } from '../../migrations/run.ts';
import { UsageError, parseCommandArgs, type Command, type Output, type Terminal } from '../command.ts';
import { builtDashboard } from '../dashboard.ts';
import {
  openInstallation,
  readConfiguration,
  webhookSettings,
  type Environment,
  type Installation,
} from '../installation.ts';
import { watchedDirectories, withMetrics } from '../metrics.ts';
import { startTraced } from '../traced.ts';
import { seedDemo } from './seed.ts';
import { reloadOnHangUp, stopSignal } from '../signals.ts';

const serviceNames = ['gateway', 'data-api', 'accounts-api', 'worker'] as const;
type ServiceName = (typeof serviceNames)[number];

// Any constants of our own; the lock says that a process serves all services from this database.
const serveLock = [4_115_202, 1];

export const start: Command = {
  summary: 'serve: all services in one process, or one service by its name',
  usage: `Usage: almanac start [${serviceNames.join('|')}]

Without a name: everything in this process, on PORT (8080), with the embedded PostgreSQL unless DATABASE_URL is set.
With a name: that service alone, to scale services separately. It needs IDENTITY_SECRET, the same for all services; data-api,
accounts-api and worker need DATABASE_URL, the gateway DATA_API_URL and ACCOUNTS_API_URL. The worker sends mail and webhooks.`,
  flags: {},
  async run(args, terminal) {
    const { positionals } = parseCommandArgs(args, {});
    const [name, ...rest] = positionals;
    if (rest.length > 0) throw new UsageError(`start takes one service, not "${positionals.join(' ')}".`);
    if (name === undefined) return serveEverything(terminal);
    const service = serviceNames.find((each) => each === name);
    if (service === undefined)
      throw new UsageError(`there is no service "${name}"; there are ${serviceNames.join(', ')}.`);
    return serveService(service, terminal);
  },
};

async function serveEverything({ env, stdout }: Terminal): Promise<void> {
  const stopped = stopSignal(); // from here on, Ctrl-C during the start also stops in order
  const { settings, plans } = readConfiguration(env);
  const installation = await openInstallation(settings, { create: true });
  const { databaseDirectory } = installation;
  const lock = await takeServeLock(installation);
  const services: Pick<RunningService, 'close'>[] = [];
  const stopping = new AbortController();
  try {
    const shared = sharedOptions(installation, plans);
    const dataApi = await startTraced('data-api', settings, startDataApi, {
      ...shared,
      databaseUrl: installation.dataApiDatabaseUrl,
      ...loopback,
      seriesTimeZone: installation.settings.seriesTimeZone,
      previewPoints: installation.settings.previewPoints,
      openRevisionsSeries: installation.settings.openRevisionsSeries,
    });
    services.unshift(dataApi);
    const accountsApi = await startTraced('accounts-api', settings, startAccountsApi, {
      ...{ ...accountsOptions(installation, plans), ...loopback },
    });
    services.unshift(accountsApi);
    const worker = await startWorker(workerOptions(installation, plans));
    services.unshift(worker);
    const gateway = await startTraced('gateway', settings, startGateway, {
      ...gatewayOptions(installation.settings, plans, stopping.signal),
      identitySecret: installation.identitySecret,
      moreMetrics: [
        ...dataApi.metrics,
        ...accountsApi.metrics,
        ...worker.metrics,
        ...diskMetrics(watchedDirectories(installation.settings, databaseDirectory), shared.log),
      ],
      ...(databaseDirectory === undefined ? {} : { requireReady: () => requireSpace(databaseDirectory) }),
      dataApiUrls: [dataApi.url],
      accountsApiUrls: [accountsApi.url],
    });
    reloadOnHangUp([plans.prepareReload, gateway.prepareReload], shared.log);
    services.unshift(gateway); // closed first: it drains while the services behind it still answer
    const demoKey = databaseDirectory !== undefined ? await seedDemo(installation) : undefined;
    greet(stdout, gateway.url, { demoKey, dashboard: installation.settings.dashboard });
    await stopped;
    stdout.write('\nStopping …\n');
  } finally {
    stopping.abort();
    for (const service of services) await service.close();
    await lock.end();
    await installation.stop();
  }
}

async function serveService(name: ServiceName, { env, stdout }: Terminal): Promise<void> {
  const stopped = stopSignal();
  const stopping = new AbortController();
  const service =
    name === 'gateway' ? await serveGateway(env, stopping.signal) : await serveDatabaseService(name, env);
  stdout.write(`${name} is running${service.url === undefined ? '' : `: ${service.url}`}\n`);
  await stopped;
  stopping.abort();
  await service.close();
}

async function serveGateway(env: Environment, stopping: AbortSignal): Promise<RunningGateway> {
  const { settings, plans } = readConfiguration(env, {
    service: 'gateway',
    settings: ['DATA_API_URL', 'ACCOUNTS_API_URL', 'IDENTITY_SECRET'],
  });
  const { dataApiUrls = [], accountsApiUrls = [], identitySecret = '' } = settings; // all of them are set
  const options = gatewayOptions(settings, plans, stopping);
  const moreMetrics = diskMetrics(watchedDirectories(settings, undefined), options.log);
  const gateway = await startTraced('gateway', settings, startGateway, {
    ...{ ...options, dataApiUrls, accountsApiUrls, identitySecret, moreMetrics },
  });
  reloadOnHangUp([plans.prepareReload, gateway.prepareReload], options.log);
  return gateway;
}

async function serveDatabaseService(
  name: 'data-api' | 'accounts-api' | 'worker',
  env: Environment,
): Promise<Pick<RunningService, 'close'> & { url?: string }> {
  const needs = { service: name, settings: ['DATABASE_URL', 'IDENTITY_SECRET'] } as const;
  const { settings, plans } = readConfiguration(env, needs);
  const installation = await openInstallation(settings);
  const shared = sharedOptions(installation, plans);
  reloadOnHangUp([plans.prepareReload], shared.log);
  if (name === 'worker') return withMetrics(await startWorker(workerOptions(installation, plans)), settings);
  if (name === 'accounts-api') {
    const { host, accountsApiPort: port, drainDelayMs } = settings;
    const options = { ...accountsOptions(installation, plans), host, port, drainDelayMs };
    return withMetrics(await startTraced(name, settings, startAccountsApi, options), settings);
  }
  const dataApi = await startTraced(name, settings, startDataApi, {
    ...shared,
    databaseUrl: installation.dataApiDatabaseUrl,
    seriesTimeZone: settings.seriesTimeZone,
    previewPoints: settings.previewPoints,
    openRevisionsSeries: settings.openRevisionsSeries,
    host: settings.host,
    port: settings.dataApiPort,
    drainDelayMs: settings.drainDelayMs,
  });
  return withMetrics(dataApi, settings);
}

const loopback = { host: '127.0.0.1', port: 0 };

function sharedOptions({ settings, identitySecret }: Installation, plans: Plans) {
  return {
    identitySecret,
    previousIdentitySecret: settings.previousIdentitySecret,
    plans,
    clock: systemClock,
    log: createLog('services', settings.logLevel),
    schema: knownMigrations(),
    slowStatementMs: settings.slowStatementMs,
  };
}

function accountsOptions(installation: Installation, plans: Plans) {
  const { publicUrl, smtpUrl, passwordLengthMin, google, redisUrl, stripe } = installation.settings;
  const signIn = { publicUrl, mailGoesOut: smtpUrl !== undefined, passwordLengthMin, google };
  const databaseUrl = installation.accountsDatabaseUrl;
  const webhooks = webhookSettings(installation);
  return { ...sharedOptions(installation, plans), databaseUrl, signIn, redisUrl, stripe, webhooks };
}

function workerOptions(installation: Installation, plans: Plans) {
  const { publicUrl, smtpUrl, mailFrom, dataDir, stripe } = installation.settings;
  const mail = { smtpUrl, from: mailFrom, outboxDirectory: path.join(dataDir, 'outbox') };
  const databaseUrl = installation.accountsDatabaseUrl;
  const webhooks = webhookSettings(installation);
  return { ...sharedOptions(installation, plans), databaseUrl, publicUrl, mail, stripe, webhooks };
}

/** @param stopping ends a build of the dashboard. */
function gatewayOptions(settings: Installation['settings'], plans: Plans, stopping: AbortSignal) {
  const { host, port, redisUrl, trustedProxyHops, publicCallsPerSecond, quotaOutage, drainDelayMs } =
    settings;
  return {
    ...{ host, port, redisUrl, trustedProxyHops, publicCallsPerSecond, quotaOutage, drainDelayMs },
    managementCallsPerSecond: settings.managementCallsPerSecond,
    answerWithinMs: settings.answerWithinMs,
    responseCacheMb: settings.responseCacheMb,
    metrics: settings.metrics,
    journalDirectory: settings.journalDir,
    plans,
    publicUrl: settings.publicUrl,
    dashboardOrigins: settings.dashboardOrigins,
    ...(settings.dashboard ? { dashboard: builtDashboard({ signal: stopping }) } : {}),
    clock: systemClock,
    log: createLog('gateway', settings.logLevel),
  };
}

/** Holds a lock while this process serves, so that a second start on the same data fails with a message. */
async function takeServeLock(installation: Installation): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: installation.databaseUrl,
    application_name: 'almanac start',
  });
  client.on('error', () => undefined); // the database stopped first: the services' own pools report it
  await client.connect();
  const { rows } = await client.query<{ taken: boolean }>(
    'select pg_try_advisory_lock($1, $2) as taken',
    serveLock,
  );
  if (rows[0]?.taken === true || installation.databaseDirectory === undefined) return client;
  await client.end();
  await installation.release();
  throw new Error(
    `Almanac runs already on ${installation.settings.dataDir}. Stop it first, or set another DATA_DIR.`,
  );
}

function greet(
  stdout: Output,
  url: string,
  { demoKey, dashboard }: { demoKey: string | undefined; dashboard: boolean },
): void {
  const lines = ['', 'Almanac is running.', ...(dashboard ? [`Dashboard: ${url}`] : []), `API: ${url}`];
  if (demoKey !== undefined) {
    lines.push(
      `API key: ${demoKey}`,
      '(shown this once; the demo account is demo@almanac.example, plan pro, and all demo data is synthetic)',
      '',
      'Try it:',
      `curl -H 'X-API-Key: ${demoKey}' '${url}/v1/series/DEMO.CPI?limit=3&sort=desc'`,
    );
  }
  stdout.write(`${lines.join('\n')}\n\n`);
}

// almanac check: tries everything that the settings name and reports what works. Secrets are never printed.
import path from 'node:path';
import { connect } from '../../accounts-api/database.ts';
import { checkSmtp } from '../../accounts-api/mail/send-mail.ts';
import { createBilling } from '../../accounts-api/billing/connection.ts';
import { describeBilling } from '../../accounts-api/billing/figures.ts';
import { inboxPath } from '../../accounts-api/billing/inbox.ts';
import { comparePrices } from '../../accounts-api/billing/prices.ts';
import { discover } from '../../accounts-api/auth/google-openid.ts';
import { describeWebhooks } from '../../accounts-api/webhooks/webhook-worker.ts';
import { requireSpace } from '../../embedded/disk.ts';
import { openBulkStore } from '../../domain/bulk/open-store.ts';
import { describeInbox } from '../../ingest/publisher/inbox/inbox-health.ts';
import { describeReleases } from '../../ingest/publisher/releases/release-health.ts';
import { describeSources } from '../../ingest/publisher/sources/source-health.ts';
import { systemClock } from '../../kernel/clock.ts';
import { loadPlans } from '../../kernel/plans.ts';
import type { BulkPlace } from '../../kernel/settings/bulk-place.ts';
import { readSettings } from '../../kernel/settings/settings.ts';
import { examples, jsonFlag, printJson, type DeclareCommand, type Terminal } from '../command.ts';
import {
  describeClock,
  describeMetrics,
  describeRedis,
  describeReplica,
  describeTraces,
} from './check-observability.ts';
import { connectedRole, foreignJobs, seesReleases, serverVersion } from './check.sql.ts';
import {
  webhookSettings,
  withDatabase,
  withInstallation,
  type Environment,
  type Installation,
} from '../installation.ts';
import { withAccounts } from '../with-accounts.ts';
import { counted } from '../../kernel/text/counted.ts';

interface Finding {
  what: string;
  /** `warning`: it works, but should be changed. */
  state: 'ok' | 'warning' | 'failed' | 'not configured';
  detail: string;
}

export const check: DeclareCommand = (command, terminal) => {
  command
    .description(
      'Tries settings, plans, database, webhooks, releases, sources, inbox, bulk files, Redis, mail, Google, Stripe, clock, replica, metrics and traces. Exit code 1 if something configured does not work.',
    )
    .option(...jsonFlag)
    .addHelpText('after', examples('almanac check'))
    .action(({ json }) => report(terminal, json === true));
};

async function report(terminal: Terminal, asJson: boolean): Promise<void> {
  const findings = await findAll(terminal.env);
  if (asJson) printJson(terminal, { findings });
  else
    for (const { what, state, detail } of findings)
      terminal.stdout.write(`${what.padEnd(10)}${state}: ${detail}\n`);
  const failed = findings.filter((finding) => finding.state === 'failed').map((finding) => finding.what);
  if (failed.length > 0) throw new Error(`not working: ${failed.join(', ')}`);
}

async function findAll(env: Environment): Promise<Finding[]> {
  const settings = readSettings(env);
  const { redisUrl, smtpUrl, google, publicUrl, dataDir } = settings;
  const plans = await finding('plans', () => Promise.resolve(planNames(settings.plansFile)));
  const database = await finding('database', () => withInstallation(env, describeDatabase));
  const isOpen = plans.state === 'ok' && database.state === 'ok';
  return [
    { what: 'settings', state: 'ok', detail: `data in ${dataDir}, vintages in ${settings.seriesTimeZone}` },
    plans,
    database,
    await rolesFinding(env, database),
    await optional(
      'webhooks',
      isOpen ? env : undefined,
      () => withInstallation(env, describeDeliveries),
      'they need the plans and the database',
    ),
    await healthFinding(env, database, 'releases', describeReleases),
    await healthFinding(env, database, 'sources', describeSources),
    await inboxFinding(settings.inboxDir),
    await optional(
      'bulk',
      settings.bulkPlace,
      describeBulk,
      'only "almanac start" keeps bulk files, in DATA_DIR',
    ),
    await optional('redis', redisUrl, describeRedis, 'each gateway allows its part of a limit per second'),
    await optional('mail', smtpUrl, greetSmtp, `kept in ${path.join(dataDir, 'outbox')}`),
    await optional(
      'google',
      google,
      async (client) => {
        await discover(client);
        return `${client.issuer} answers; register ${publicUrl}/auth/google/callback there`;
      },
      'people sign in with passwords only',
    ),
    await optional(
      'stripe',
      settings.stripe,
      async (stripe) => {
        const count = await comparePrices(createBilling(stripe).stripe, loadPlans(settings.plansFile));
        return `${count} prices agree with the plans; register ${publicUrl}${inboxPath} there`;
      },
      'no plan can be bought',
    ),
    await optional(
      'billing',
      settings.stripe,
      () => withAccounts(env, describeBilling),
      'no plan can be bought',
    ),
    await optional(
      'clock',
      database.state === 'ok' ? env : undefined,
      () => withInstallation(env, ({ databaseUrl }) => describeClock(databaseUrl)),
      'it needs the database',
    ),
    await optional('replica', settings.databaseReadUrl, describeReplica, 'data-api reads the primary'),
    await optional('metrics', settings.metrics, describeMetrics, 'METRICS_PORT is not set: none are served'),
    await optional('traces', settings.tracing, describeTraces, 'calls are not traced'),
  ];
}

/** @param setting undefined if it is not configured. @param otherwise the effect of that. */
async function optional<Setting>(
  what: string,
  setting: Setting | undefined,
  look: (setting: Setting) => Promise<string>,
  otherwise: string,
): Promise<Finding> {
  if (setting === undefined) return { what, state: 'not configured', detail: otherwise };
  return finding(what, () => look(setting));
}

async function finding(what: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return { what, state: 'ok', detail: await look() };
  } catch (error) {
    return { what, state: 'failed', detail: (error as Error).message };
  }
}

function planNames(file: string): string {
  return loadPlans(file)
    .all.map((plan) => plan.id)
    .join(', ');
}

async function describeDatabase({ databaseUrl, databaseDirectory }: Installation): Promise<string> {
  if (databaseDirectory !== undefined) await requireSpace(databaseDirectory);
  const url = new URL(databaseUrl);
  url.password = '';
  return withDatabase(
    databaseUrl,
    { command: 'check' },
    async (database) =>
      `${databaseDirectory === undefined ? '' : 'embedded '}PostgreSQL ${await serverVersion(database)} at ${url.href}`,
  );
}

/** Whether a service that is started with these settings has a role of its own. */
async function rolesFinding(env: Environment, database: Finding): Promise<Finding> {
  const what = 'roles';
  if (database.state !== 'ok') return { what, state: 'not configured', detail: 'they need the database' };
  const found = await withInstallation(env, async ({ databaseUrl, databaseDirectory }) => {
    if (databaseDirectory !== undefined) return 'each service has its own';
    return withDatabase(databaseUrl, { command: 'check' }, async (on) => {
      const [{ name, owns }, foreign] = [await connectedRole(on), await foreignJobs(on)];
      if (!owns) return `${name} does not own the database`;
      const jobs =
        foreign === 0
          ? ''
          : ` almanac_accounts_api cannot use ${counted(foreign, 'table')} of schema jobs: run "almanac migrate".`;
      return {
        warning: `${name} owns the database: right for migrate, ingest and backup, but a service should connect by a role of its own, see docs/operations.md.${jobs}`,
      };
    });
  });
  return typeof found === 'string'
    ? { what, state: 'ok', detail: found }
    : { what, state: 'warning', detail: found.warning };
}

/** As this user sees a folder, or with this key of a bucket: data-api and the publisher may run as other users. */
async function describeBulk(place: BulkPlace): Promise<string> {
  const store = await openBulkStore(place);
  const manifest = await store.readManifest();
  if (manifest === undefined) return `${store.place} has no files yet`;
  const { files, load, created_at: at } = manifest;
  return `${store.place} has ${files.length} files as of load ${load}, of ${at}`;
}

/** An embedded database is served only while "almanac start" runs, so a missing publisher is not a fault there. */
async function healthFinding(
  env: Environment,
  database: Finding,
  what: string,
  describe: typeof describeReleases,
): Promise<Finding> {
  if (database.state !== 'ok') return { what, state: 'not configured', detail: 'they need the database' };
  return withInstallation(env, ({ databaseUrl, databaseDirectory }) =>
    withDatabase(databaseUrl, { command: 'check' }, async (on) => {
      if (!(await seesReleases(on)))
        return { what, state: 'not configured', detail: 'this role may not see what is under embargo' };
      const { needsAttention, lacksPublisher, detail } = await describe(on);
      const isUnserved = lacksPublisher && databaseDirectory === undefined;
      return { what, state: needsAttention || isUnserved ? 'warning' : 'ok', detail };
    }),
  );
}

/** As this user sees the folder: the publisher may be another one, elsewhere. */
async function inboxFinding(directory: string | undefined): Promise<Finding> {
  const what = 'inbox';
  if (directory === undefined)
    return { what, state: 'not configured', detail: 'INBOX_DIR is not set: no folder is watched' };
  try {
    const { detail, needsAttention } = await describeInbox(directory);
    return { what, state: needsAttention ? 'warning' : 'ok', detail };
  } catch (error) {
    return { what, state: 'failed', detail: (error as Error).message };
  }
}

/** An embedded database is served only while "almanac start" runs, so pending work in it is not a fault. */
async function describeDeliveries(installation: Installation): Promise<string> {
  const [settings, isServed] = [webhookSettings(installation), installation.databaseDirectory === undefined];
  const db = connect(installation.accountsDatabaseUrl);
  try {
    const deps = { db, plans: loadPlans(installation.settings.plansFile), clock: systemClock };
    return await describeWebhooks(deps, { settings, isServed });
  } finally {
    await db.close();
  }
}

async function greetSmtp(smtpUrl: string): Promise<string> {
  await checkSmtp(smtpUrl);
  return `${new URL(smtpUrl).host} takes mail`;
}

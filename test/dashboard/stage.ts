// The stage of the walks: all services with the demo data behind a gateway, and also the fake of Stripe, an OpenID server in
// place of Google, and a mailbox. They share one clock, which runs and can be moved.
import path from 'node:path';
import { createKey, createAccount } from '../../accounts-api/operator/operator.ts';
import { builtDashboard } from '../../cli/dashboard.ts';
import { revisedSeries } from '../../ingest/demo/demo-revisions.ts';
import { loadDemo } from '../../ingest/demo/load-demo.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { MovableClock } from '../services/harness.ts';
import { startRealIssuer } from '../auth/issuers.ts';
import type { Run } from '../run/run-processes.ts';
import { startPostgres } from '../run/servers.ts';
import { recordSecret } from '../run/traces.ts';
import { freePort } from '../services/instance.ts';
import { projectPlans, startServices, type Services } from '../services/services.ts';
import { startMailbox, type Mailbox } from '../services/sign-in.ts';
import { startStripe, type FakeStripe } from '../stripe/stripe.ts';
import { localWebhooks } from '../webhooks/settings.ts';

export interface Stage {
  /** The gateway's URL, which is that of the dashboard. */
  url: string;
  services: Services;
  stripe: FakeStripe;
  mailbox: Mailbox;
  clock: Clock;
  /** Moves the clock of everything; events due at Stripe happen on the way. */
  advance(milliseconds: number): Promise<void>;
  /** A key of an account with the plan Pro that no walk uses otherwise. */
  apiKey: string;
  close(): Promise<void>;
}

const webhookSecret = 'whsec_of_the_walks';

export async function startStage(run: Run): Promise<Stage> {
  const postgres = await startPostgres(run.directory);
  process.env['TEST_POSTGRES_URL'] = postgres.url;
  const clock = movableClock();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const stripe = await startStripe({ clock });
  const plans = projectPlans();
  for (const { name: product, prices } of plans.all)
    for (const { stripe: lookupKey, ...price } of prices) stripe.addPrice({ ...price, lookupKey, product });
  const [mailbox, issuer] = await Promise.all([
    startMailbox(),
    startRealIssuer(`${url}/auth/google/callback`),
  ]);
  const services = await startServices({
    clock,
    port,
    plans,
    dashboard: builtDashboard(),
    publisher: true,
    openRevisionsSeries: revisedSeries,
    signIn: { publicUrl: url, mailGoesOut: true, google: issuer.settings },
    mail: { smtpUrl: mailbox.smtpUrl, outboxDirectory: path.join(run.directory, 'outbox') },
    webhooks: localWebhooks,
    stripe: {
      secretKey: stripe.apiKey,
      webhookSecrets: [recordSecret(webhookSecret)],
      apiUrl: stripe.url,
      graceDays: 14,
    },
  });
  stripe.setWebhook({ url: `${url}/billing/stripe/events`, secret: webhookSecret, mode: 'automatic' });
  await loadDemo(services.database, { clock, seriesTimeZone: 'UTC', fiscalYearFirstMonth: 7 });
  const account = await createAccount(services.accounts, { email: 'demo@almanac.example', plan: 'pro' });
  const { key: apiKey } = await createKey(services.accounts, account.id, 'demo');
  return {
    ...{ url, services, stripe, mailbox, clock, apiKey },
    advance: stripe.advance,
    async close() {
      await services.close();
      await Promise.all([stripe.close(), mailbox.close(), issuer.close()]);
      await postgres.stop();
    },
  };
}

/** The time of this machine, plus the moves. */
function movableClock(): MovableClock {
  let aheadMs = 0;
  return {
    now: () => new Date(Date.now() + aheadMs),
    set: (instant) => void (aheadMs = Math.max(aheadMs, Date.parse(instant) - Date.now())),
    advance: (milliseconds) => void (aheadMs += milliseconds),
  };
}

// Shared by the tests of billing: all services with a fake of Stripe, on one clock. No worker runs: tests decide when events are
// delivered and when customers are fetched.
import { QueryTypes } from 'sequelize';
import { createBilling } from '../../accounts-api/billing/connection.ts';
import { endGraces } from '../../accounts-api/billing/apply-subscription.ts';
import { checkSessions, type SyncDeps } from '../../accounts-api/billing/sync.ts';
import { syncDue } from './sync-due.ts';
import { openJobs } from '../../accounts-api/jobs/jobs.ts';
import { inboxPath } from '../../accounts-api/billing/inbox.ts';
import type { StripeSettings } from '../../kernel/settings/settings.ts';
import { recordSecret } from '../run/traces.ts';
import { fakeClock, silentLog } from '../services/harness.ts';
import { projectPlans, startServices, unhurried, type ServicesOptions } from '../services/services.ts';
import { startStripe, type FakeStripe, type StripeOptions } from '../stripe/stripe.ts';

export const webhookSecret = recordSecret('whsec_of_the_tests_of_billing');
export const dayMs = 24 * 60 * 60_000;

export type Paying = Awaited<ReturnType<typeof startPaying>>;

export interface PayingOptions {
  stripe?: Partial<StripeSettings>;
  fake?: Partial<StripeOptions>;
  services?: Partial<ServicesOptions>;
}

/** The settings of services that use a fake. */
export function settingsOf(fake: FakeStripe): StripeSettings {
  return { secretKey: fake.apiKey, webhookSecrets: [webhookSecret], apiUrl: fake.url, graceDays: 14 };
}

export async function startPaying(options: PayingOptions = {}) {
  const clock = fakeClock('2026-11-20T10:00:00.000Z');
  const fake = await startStripe({ clock, ...options.fake });
  const plans = options.services?.plans ?? unhurried(projectPlans());
  const priceIds = new Map<string, string>();
  for (const { id: product, prices } of plans.all) {
    for (const { stripe: lookupKey, interval, amount, currency } of prices) {
      const { id } = fake.addPrice({ lookupKey, interval, amount, currency, product });
      priceIds.set(`${product} ${interval}`, id);
    }
  }
  const settings = { ...settingsOf(fake), ...options.stripe };
  const services = await startServices({ clock, plans, stripe: settings, ...options.services });
  fake.setWebhook({ url: services.url + inboxPath, secret: webhookSecret, ...options.fake?.webhook });
  const { db } = services.accounts;
  const jobs = openJobs(db.sequelize, services.databaseUrl, silentLog);
  const deps: SyncDeps = { ...services.accounts, jobs, log: silentLog, billing: createBilling(settings) };
  const { stripe } = deps.billing;

  /** Fetches customers until none is due. */
  async function sync(): Promise<void> {
    while ((await syncDue(deps)) > 0);
    await endGraces(deps);
  }
  return {
    clock,
    fake,
    services,
    deps,
    stripe,
    settings,
    plans,
    sync,
    checkSessions: () => checkSessions(deps),
    /** Delivers the pending events of Stripe, and applies them. */
    async deliverAndSync(): Promise<void> {
      for (const { status, body } of await fake.deliverPending()) {
        if (status !== 200) throw new Error(`An event was answered ${status}: ${body}`);
      }
      await sync();
    },
    /** A customer at Stripe created for the account. */
    async customerOf(accountId: string): Promise<string> {
      const { id } = await stripe.customers.create({
        email: `${accountId}@example.org`,
        metadata: { account_id: accountId },
      });
      return id;
    },
    /** The price of a plan. */
    price(plan: string, interval: 'month' | 'year' = 'month'): string {
      const id = priceIds.get(`${plan} ${interval}`);
      if (id === undefined) throw new Error(`There is no ${interval}ly price of ${plan}.`);
      return id;
    },
    /** Plan and state of an account, as its next call finds them. */
    async entitlement(accountId: string): Promise<string> {
      const account = await db.accounts.findByPk(accountId);
      return `${account?.plan} ${account?.subscriptionState}`;
    },
    /** The status of a data call with a key: 404 is served, as there is no data. */
    async calls(key: string): Promise<number> {
      return (await services.call('/v1/series/NONE', { key })).status;
    },
    /** The events of billing that were written for an account, oldest first. */
    events: (accountId: string) =>
      db.sequelize.query<{ type: string; data: Record<string, unknown> }>(
        `select type, data from events.outbox
         where account_id = $1 and type in ('subscription.updated', 'payment.failed') order by position`,
        { bind: [accountId], type: QueryTypes.SELECT },
      ),
    rows: <Row extends object>(text: string, ...bind: unknown[]) =>
      db.sequelize.query<Row>(text, { bind, type: QueryTypes.SELECT }),
    async close(): Promise<void> {
      await jobs.close();
      await services.close();
      await fake.close();
    },
  };
}

// The worker: runs the jobs that accounts-api has written, and sends webhooks. Any number can run concurrently. A job runs at least once: a link is
// created each time its e-mail is sent, and each of them is valid.
import { Op } from 'sequelize';
import { nextUtcMonth, type Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log/log.ts';
import { certificateMetrics } from '../kernel/metrics/certificate.ts';
import { serverMetrics } from '../kernel/metrics/database.ts';
import type { Metric } from '../kernel/metrics/text.ts';
import { planOf, type Plans } from '../kernel/plans.ts';
import type { StripeSettings } from '../kernel/settings/settings.ts';
import { openServiceClock } from '../kernel/time/database-clock.ts';
import { repeat } from '../kernel/time/repeat.ts';
import { createBilling } from './billing/connection.ts';
import { startBillingWork } from './billing/work.ts';
import { connect, type Deps } from './database.ts';
import { mailOfChanges } from './follows/change-mail-text.ts';
import { mailChanges } from './follows/mail-changes.ts';
import { createUnsubscribeTokens, type UnsubscribeTokens } from './follows/unsubscribe-tokens.ts';
import { notifyOfExpiringKeys } from './keys/expiring-keys.ts';
import { openJobs, startWork, type MailJob } from './jobs/jobs.ts';
import { createMailer, MailRefused, type Mail, type Mailer, type MailSettings } from './mail/send-mail.ts';
import { mintMailToken } from './mail/mail-tokens.ts';
import {
  accountExistsMail,
  changeEmailMail,
  keyExpiresMail,
  linkTo,
  noticeMail,
  purchaseMail,
  purchaseOfferedMail,
  resetPasswordMail,
  signUpMail,
  sourceFailedMail,
  usageMail,
  verifyEmailMail,
  webhookDisabledMail,
} from './mail/mail-texts.ts';
import type { Account } from './models/account.ts';
import { findAccountsBoughtFor, markMailRefused, selectKnownEmails } from './operator/operator.sql.ts';
import { findAccountByEmail } from './models/accounts.sql.ts';
import { workMetrics } from './observability/work-metrics.ts';
import { notifyOfThresholds } from './usage/thresholds.ts';
import type { DeliveryTiming } from './webhooks/delivery.ts';
import type { WebhookSettings } from './webhooks/webhook-tools.ts';
import { originOf } from './webhooks/sending/send.ts';
import { startWebhooks } from './webhooks/webhook-worker.ts';

export interface WorkerOptions {
  databaseUrl: string;
  plans: Plans;
  /** The base of links in e-mails, without a final slash. */
  publicUrl: string;
  mail: MailSettings;
  /** Undefined: the worker sends no webhooks. */
  webhooks?: (WebhookSettings & DeliveryTiming) | undefined;
  /** The secrets that sign unsubscribe links; the first one signs. Undefined: no e-mails about followed data are sent. */
  unsubscribeSecrets?: readonly string[] | undefined;
  /** Undefined: no plan can be bought. */
  stripe?: StripeSettings | undefined;
  /** Logs each statement that takes longer; 0, the default, logs none. */
  slowStatementMs?: number | undefined;
  log: Log;
  /** Default: PostgreSQL's, which all instances share. */
  clock?: Clock;
}

export interface RunningWorker {
  metrics: readonly Metric[];
  /** Stops fetching jobs, finishes the running ones, then resolves. */
  close(): Promise<void>;
}

interface WorkerDeps extends Deps {
  publicUrl: string;
  log: Log;
  unsubscribeTokens: UnsubscribeTokens | undefined;
}

const lookForExpiringKeysEveryMs = 60 * 60_000;
const lookForThresholdsEveryMs = 10_000;
const lookForChangesEveryMs = 10_000;

/** @throws Error if the database does not answer. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { plans, log, publicUrl } = options;
  const { slowStatementMs } = options;
  const db = connect(options.databaseUrl, { pool: 'worker', log, slowStatementMs });
  const ownClock = await openServiceClock(options.clock, db.read, log);
  const { clock } = ownClock;
  const mailer = createMailer(options.mail, log);
  const jobs = openJobs(db.sequelize, options.databaseUrl, log);
  const secrets = options.unsubscribeSecrets;
  const unsubscribeTokens = secrets && createUnsubscribeTokens(secrets);
  const deps = { db, plans, clock, publicUrl, jobs, log, unsubscribeTokens };
  const closeAll = async () => {
    await jobs.close();
    mailer.close();
    await ownClock.close();
    await db.close();
  };
  try {
    const work = await startWork(options.databaseUrl, log, {
      send: (job, id) => perform(deps, mailer, job, id),
      withRecipient: (requests) => withRecipient(deps, requests),
    });
    const warn = (fault: string) => (error: unknown) => log.warn({ err: error }, fault);
    const repeated = [
      repeat(() => notifyOfExpiringKeys(deps), {
        ...{ everyMs: lookForExpiringKeysEveryMs, atOnce: true },
        onError: warn('could not report keys that expire soon; will retry'),
      }),
      repeat(() => notifyOfThresholds(deps), {
        ...{ everyMs: lookForThresholdsEveryMs, atOnce: true },
        onError: warn('could not report monthly usage thresholds; will retry'),
      }),
      ...(unsubscribeTokens === undefined
        ? []
        : [
            repeat(() => mailChanges(deps), {
              ...{ everyMs: lookForChangesEveryMs, atOnce: true },
              onError: warn('could not write e-mails of changes; will retry'),
            }),
          ]),
    ];
    const webhooks = options.webhooks && startWebhooks(deps, options.webhooks, options.webhooks);
    const { stripe } = options;
    const billing =
      stripe && startBillingWork({ db, plans, clock, log, jobs, billing: createBilling(stripe) });
    return {
      metrics: [
        ...db.metrics,
        ...serverMetrics({ service: 'worker', server: 'primary' }, db.read, log),
        ...workMetrics(db, work.figures, log),
        ...certificateMetrics(publicUrl, log),
        ...(webhooks?.gauges ?? []),
        ...(billing?.gauges ?? []),
      ],
      async close() {
        await billing?.close();
        await Promise.all(repeated.map((each) => each.close()));
        await webhooks?.close();
        await work.close();
        await closeAll();
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** @throws Error if the e-mail should be sent again. An e-mail refused for good is not retried, and its account is marked. */
async function perform(deps: WorkerDeps, mailer: Mailer, job: MailJob, id: string): Promise<void> {
  const mail = await mailOf(deps, job);
  if (mail === null) return;
  const refusal = await mailer.send(mail).then(
    () => null,
    (error: unknown) => {
      if (error instanceof MailRefused) return error;
      throw error;
    },
  );
  const refusedAt = refusal === null ? null : deps.clock.now();
  const accountId = await markMailRefused(deps.db, mail.to, refusedAt).catch((error: unknown) => {
    deps.log.warn({ err: error, job: id }, 'could not record at its account whether an e-mail was refused');
    return null; // an error here would send the e-mail again
  });
  if (refusal === null) return;
  deps.log.warn(
    { event: 'mail_refused', job: id, mail: job.mail, account_id: accountId, reply: refusal.reply },
    'the mail server refused an e-mail permanently; it is not sent again',
  );
}

async function withRecipient(deps: WorkerDeps, requests: readonly MailJob[]): Promise<MailJob[]> {
  const emails = requests.flatMap((request) => (request.mail === 'reset_password' ? [request.email] : []));
  const known = await selectKnownEmails(deps.db, emails);
  return emails.filter((email) => known.has(email)).map((email) => ({ mail: 'reset_password', email }));
}

/** The e-mail of a job, with a new link; null if its subject no longer exists. */
async function mailOf(deps: WorkerDeps, job: MailJob): Promise<Mail | null> {
  switch (job.mail) {
    case 'sign_up':
      return mailOfSignUp(deps, job.signupId);
    case 'verify_email':
      return mailOfAccount(deps, job.accountId, null, 'verify_email');
    case 'change_email':
      return mailOfAccount(deps, job.accountId, job.email, 'change_email');
    case 'purchase':
      return mailOfPurchase(deps, job);
    case 'key_expires':
      return mailOfKey(deps, job.keyId);
    case 'usage':
      return mailOfUsage(deps, job);
    case 'webhook_disabled':
      return mailOfWebhook(deps, job.webhookId);
    case 'source_failed':
      return mailOfSource(deps, job);
    case 'changes':
      return deps.unsubscribeTokens === undefined
        ? null
        : mailOfChanges({ ...deps, unsubscribeTokens: deps.unsubscribeTokens }, job);
    case 'reset_password':
      return mailOfReset(deps, job.email);
    default:
      return noticeMail(job.email, job.notice, job.at);
  }
}

async function mailOfSignUp(deps: WorkerDeps, signupId: string): Promise<Mail | null> {
  const waiting = { id: signupId, expiresAt: { [Op.gt]: deps.clock.now() } };
  const signup = await deps.db.signups.findOne({ where: waiting });
  if (signup === null) return null;
  const owner = await findAccountByEmail(deps.db, signup.email);
  if (owner !== null) return mailOfTakenEmail(deps, owner);
  const token = await mintMailToken(deps, {
    purpose: 'sign_up',
    signup_id: signupId,
    account_id: null,
    email: signup.email,
    credentialVersion: null,
  });
  return signUpMail(signup.email, linkTo(deps.publicUrl, 'verifyEmail', token));
}

/** @param newEmail the e-mail address to confirm; null: the account's own. */
async function mailOfAccount(
  deps: WorkerDeps,
  accountId: string,
  newEmail: string | null,
  purpose: 'verify_email' | 'change_email',
): Promise<Mail | null> {
  const account = await deps.db.accounts.findByPk(accountId);
  if (account === null || (purpose === 'verify_email' && account.emailVerifiedAt !== null)) return null;
  const email = newEmail ?? account.email;
  const owner = newEmail === null ? null : await findAccountByEmail(deps.db, newEmail);
  if (owner !== null && owner.id !== accountId) return mailOfTakenEmail(deps, owner);
  const { credentialVersion } = account;
  const about = { purpose, signup_id: null, account_id: accountId, email, credentialVersion };
  const link = linkTo(deps.publicUrl, 'verifyEmail', await mintMailToken(deps, about));
  return purpose === 'change_email' ? changeEmailMail(email, link) : verifyEmailMail(email, link);
}

/** The e-mail to the mailbox of a purchase. Its text depends on whether the mailbox has an account, which the payer must not learn. */
async function mailOfPurchase(
  deps: WorkerDeps,
  { accountId, plan }: MailJob & { mail: 'purchase' },
): Promise<Mail | null> {
  const bought = await deps.db.accounts.findByPk(accountId);
  if (bought?.status !== 'active' || bought.emailSignsIn) return null;
  const { name } = planOf(deps.plans, plan);
  const owner = await findAccountByEmail(deps.db, bought.email);
  if (owner === null) return purchaseMail(bought.email, name, await resetLink(deps, bought));
  return owner.status === 'active' ? purchaseOfferedMail(owner.email, name, deps.publicUrl) : null;
}

async function mailOfKey(deps: WorkerDeps, keyId: string): Promise<Mail | null> {
  const key = await deps.db.keys.findByPk(keyId);
  const account = key && (await deps.db.accounts.findByPk(key.accountId));
  if (key?.expiresAt == null || key.revokedAt !== null || key.expiresAt <= deps.clock.now()) return null;
  if (!isReached(account) || !account.mailsKeyExpiry) return null;
  const { name, mask, expiresAt } = key;
  return keyExpiresMail(account.email, { name, mask, expiresAt: expiresAt.toISOString() }, deps.publicUrl);
}

async function mailOfUsage(deps: WorkerDeps, job: MailJob & { mail: 'usage' }): Promise<Mail | null> {
  const account = await deps.db.accounts.findByPk(job.accountId);
  const isOver = nextUtcMonth(new Date(job.month)) <= deps.clock.now();
  if (isOver || !isReached(account) || !account.mailsUsage) return null;
  return usageMail(account.email, job, deps.publicUrl);
}

async function mailOfWebhook(deps: WorkerDeps, webhookId: string): Promise<Mail | null> {
  const webhook = await deps.db.webhooks.findByPk(webhookId);
  const account = webhook && (await deps.db.accounts.findByPk(webhook.accountId));
  if (webhook?.disabledBecause == null || !isReached(account)) return null;
  const { url, description, disabledBecause } = webhook;
  const about = { host: originOf(url), description, because: disabledBecause };
  return webhookDisabledMail(account.email, about, deps.publicUrl);
}

async function mailOfSource(
  deps: WorkerDeps,
  job: MailJob & { mail: 'source_failed' },
): Promise<Mail | null> {
  const account = await deps.db.accounts.findByPk(job.accountId);
  if (account?.status !== 'active' || account.role !== 'operator') return null;
  return sourceFailedMail(account.email, job);
}

/** Whether e-mails about an account go to its e-mail address: not if only a payer has named it, and nobody has proved it. */
function isReached(account: Account | null): account is Account {
  return account?.status === 'active' && account.emailSignsIn;
}

async function mailOfReset(deps: WorkerDeps, asked: string): Promise<Mail | null> {
  const account =
    (await findAccountByEmail(deps.db, asked)) ?? (await findAccountsBoughtFor(deps.db, asked))[0];
  if (account === undefined || account.status === 'disabled') return null;
  // Sent to the account's stored e-mail address, not to the one entered.
  return resetPasswordMail(account.email, await resetLink(deps, account));
}

/** Somebody requested mail to the e-mail address of an account: it may be its owner, who has forgotten the password. */
async function mailOfTakenEmail(deps: WorkerDeps, owner: Account): Promise<Mail | null> {
  if (owner.status === 'disabled') return null;
  return accountExistsMail(owner.email, await resetLink(deps, owner));
}

async function resetLink(deps: WorkerDeps, { id, email, credentialVersion }: Account): Promise<string> {
  const about = { purpose: 'reset_password', signup_id: null, account_id: id, email } as const;
  return linkTo(deps.publicUrl, 'setPassword', await mintMailToken(deps, { ...about, credentialVersion }));
}

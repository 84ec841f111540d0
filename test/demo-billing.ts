// Shows the whole life of a paying customer: all services behind a gateway, the fake of Stripe, and one clock that moves.
// Prints the state after each step, and ends with an error if a state is not the expected one. Run by `npm run demo:billing`.
import path from 'node:path';
import type { Stripe } from 'stripe';
import { projectPlans, startServices, type Services } from './services/services.ts';
import { fakeClock } from './services/harness.ts';
import { runGuarded } from './run/guard.ts';
import type { Run } from './run/run-processes.ts';
import { startPostgres } from './run/servers.ts';
import { recordSecret } from './run/traces.ts';
import { until, untilThere } from './run/until.ts';
import { startStripe, type FakeStripe } from './stripe/stripe.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const seriesFile = 'date,series_id,value\n2026-08-31,GDP,101.2\n2026-09-30,GDP,101.9\n';

/** The expected result of a step: the account's own view of itself, and the answers to two calls. */
interface Expected {
  plan: string;
  state: 'none' | 'active' | 'inactive';
  /** Stripe's word for it; `-` before the first purchase. */
  status: string;
  /** The day on which the grace ends, the subscription ends, or the next payment is due. */
  until: string;
  /** Of a data call, and of one that needs the feature `vintages`. */
  call: number;
  vintages: number;
}

interface Account {
  plan: string;
  subscription_state: Expected['state'];
  /** Null before the first purchase. */
  subscription: {
    status: string | null;
    current_period_end: string | null;
    cancels_at: string | null;
    grace_ends_at: string | null;
    latest_invoice: { hosted_invoice_url: string | null } | null;
  } | null;
}

/** The parts of the demo, and how a step is shown. */
interface Stage {
  services: Services;
  stripe: FakeStripe;
  clock: { now(): Date };
  key: string;
  show(step: string, expected: Expected): Promise<void>;
}

const free = { plan: 'free', state: 'none', status: '-', until: '-', call: 200, vintages: 403 } as const;
const starter = { plan: 'starter', state: 'active', status: 'active', call: 200, vintages: 403 } as const;
const pro = { plan: 'pro', state: 'active', status: 'active', call: 200, vintages: 200 } as const;

async function walk(services: Services, stripe: FakeStripe, clock: { now(): Date }): Promise<void> {
  const key = await signUp(services);
  const shown = { services, stripe, clock, key };
  const stage: Stage = { ...shown, show: (step, expected) => show(shown, step, expected) };
  print(line('day', 'step', 'plan', 'at Stripe', 'until', 'service', 'a call, one for a vintage'));
  await stage.show('signs up', free);
  await subscribe(stage);
  await failToPay(stage);
  await changePlan(stage);
  await payFirst(stage);
}

async function subscribe({ services, stripe, key, show }: Stage): Promise<void> {
  const checkout = await address(services, '/v1/checkout', key, { plan: 'starter', interval: 'month' });
  await press(checkout, { outcome: 'declined' });
  await show('the first card is declined', free);
  await press(checkout, { outcome: 'paid' });
  await show('pays for Starter', { ...starter, until: '2026-12-02' });
  await stripe.advance(31 * dayMs);
  await show('a month later it renews by itself', { ...starter, until: '2027-01-02' });
}

async function failToPay({ services, stripe, key, show }: Stage): Promise<void> {
  stripe.setCard(stripe.customers()[0]!.id, 'declines');
  await stripe.advance(30 * dayMs + hourMs);
  const overdue = { ...starter, status: 'past_due', until: '2027-01-16' };
  await show('the card fails: grace begins', overdue);
  await stripe.advance(13 * dayMs);
  await show('thirteen days of grace, Stripe tries again', overdue);
  await stripe.advance(dayMs);
  const refused = { state: 'inactive', call: 402, vintages: 402 } as const;
  await show('the grace is over', { ...overdue, ...refused });
  await stripe.advance(2 * dayMs);
  await show('Stripe gives up', { ...starter, ...refused, status: 'unpaid', until: '2027-02-02' });
  const { subscription } = await accountOf(services, key);
  await press(subscription?.latest_invoice?.hosted_invoice_url ?? '', {});
  await show('pays the invoice', { ...starter, until: '2027-02-02' });
}

async function changePlan({ services, stripe, clock, key, show }: Stage): Promise<void> {
  const subscription = (): Stripe.Subscription => stripe.subscriptionsOf(stripe.customers()[0]!.id)[0]!;
  const change = async (fields: Record<string, string>): Promise<void> => {
    const portal = await address(services, '/v1/billing/portal', key);
    await press(portal, { subscription: subscription().id, ...fields });
  };
  await change({ price: stripe.priceOf('almanac_pro_month') });
  await show('upgrades to Pro in the portal', { ...pro, until: '2027-02-02' });
  await change({ action: 'cancel' });
  await show('cancels in the portal: paid until its end', { ...pro, until: 'ends 2027-02-02' });
  await stripe.advance(subscription().cancel_at! * 1000 - clock.now().getTime());
  await show('the period is over', { ...free, status: 'canceled', until: 'ended 2027-02-02' });
}

/** Without an account: the payment makes one, and its payer is shown the first key. */
async function payFirst(stage: Stage): Promise<void> {
  const { services } = stage;
  const wish = { plan: 'pro', interval: 'month', email: 'payer@example.org' };
  const { url } = dataOf(await post(services, '/v1/checkout', wish)) as { url: string };
  const [, token = ''] = (await press(url, { outcome: 'paid' })).split('#claim=');
  const claim = (): ReturnType<Services['call']> => services.call(`/v1/account/key/${token}`);
  const claimed = await untilThere('the payment has arrived', async () => {
    const answer = await claim();
    return answer.status === 402 ? undefined : answer;
  });
  const { key } = dataOf(claimed) as { key: string };
  await show({ ...stage, key }, 'another one pays first, and is shown a key', {
    ...pro,
    until: '2027-03-02',
  });
  const { status } = await claim();
  if (status !== 410) throw new Error(`The key was shown twice: ${status}.`);
}

/** Waits until the account and its calls are as expected, and prints them. @throws Error with the actual ones after 30 seconds. */
async function show(
  { services, stripe, clock, key }: Omit<Stage, 'show'>,
  step: string,
  expected: Expected,
): Promise<void> {
  await stripe.idle();
  const status = async (query: string): Promise<number> =>
    (await services.call(`/v1/series/GDP${query}`, { key })).status;
  let found: Expected | undefined;
  const isThere = async (): Promise<boolean> => {
    const { plan, subscription, subscription_state: state } = await accountOf(services, key);
    found = {
      plan,
      state,
      status: subscription?.status ?? '-',
      until: untilOf(subscription),
      call: await status(''),
      vintages: await status('?vintage=2026-10-31'),
    };
    return JSON.stringify(found) === JSON.stringify({ ...found, ...expected });
  };
  await until(step, isThere, 30_000).catch((cause: unknown) => {
    throw new Error(`${step}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`, { cause });
  });
  const now = clock.now().toISOString().slice(0, 16).replace('T', ' ');
  const answers = `${expected.call}, ${expected.vintages}`;
  print(line(now, step, expected.plan, expected.status, expected.until, expected.state, answers));
}

function untilOf(subscription: Account['subscription']): string {
  if (subscription === null) return '-';
  const { status, grace_ends_at: grace, cancels_at: end, current_period_end: next } = subscription;
  if (status === 'canceled') return `ended ${dayOf(end)}`;
  return end === null ? dayOf(grace ?? next) : `ends ${dayOf(end)}`;
}

const dayOf = (instant: string | null): string => instant?.slice(0, 10) ?? '-';

const widths = [16, 43, 8, 9, 16, 9, 0];
const line = (...cells: string[]): string =>
  cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');

const accountOf = async (services: Services, key: string): Promise<Account> =>
  dataOf(await services.call('/v1/account', { key })) as Account;

/** @returns the first key of a new account. */
async function signUp(services: Services): Promise<string> {
  const person = { email: 'reader@example.org', password: recordSecret('a password of the demo') };
  await post(services, '/auth/signup', person);
  const { session_token: session } = dataOf(await post(services, '/auth/login', person)) as {
    session_token: string;
  };
  const headers = { 'x-session-token': session };
  return (dataOf(await post(services, '/v1/keys', { name: 'demo' }, headers)) as { key: string }).key;
}

const post = (
  services: Services,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): ReturnType<Services['call']> =>
  services.call(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });

/** The address of a page of Stripe, as the API gives it. */
async function address(services: Services, path: string, key: string, body?: object): Promise<string> {
  const answer = body
    ? await post(services, path, body, { 'x-api-key': key })
    : await services.call(path, { key });
  return (dataOf(answer) as { url: string }).url;
}

/** Presses a button on a page of Stripe. @returns where the browser is sent. */
async function press(url: string, fields: Record<string, string>): Promise<string> {
  const body = new URLSearchParams(fields);
  const { status, headers } = await fetch(url, { method: 'POST', body, redirect: 'manual' });
  if (status !== 303) throw new Error(`${url} answered ${status}.`);
  return headers.get('location') ?? '';
}

function dataOf({ status, text, json }: Awaited<ReturnType<Services['call']>>): unknown {
  if (status >= 300) throw new Error(`${status}: ${text}`);
  return (json as { data: unknown }).data;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function demonstrate(run: Run): Promise<number> {
  const postgres = await startPostgres(run.directory);
  process.env['TEST_POSTGRES_URL'] = postgres.url;
  const clock = fakeClock('2026-11-02T09:00:00Z');
  const stripe = await startStripe({ clock });
  for (const { name: product, prices } of projectPlans().all)
    for (const { stripe: lookupKey, ...price } of prices) stripe.addPrice({ ...price, lookupKey, product });
  const secret = recordSecret('whsec_of_the_demo');
  const services = await startServices({
    clock,
    mail: { outboxDirectory: path.join(run.directory, 'outbox') },
    stripe: { secretKey: stripe.apiKey, webhookSecrets: [secret], apiUrl: stripe.url, graceDays: 14 },
  });
  stripe.setWebhook({ url: `${services.url}/billing/stripe/events`, secret, mode: 'automatic' });
  try {
    await services.ingest(seriesFile, { set: { name: 'GDP' } });
    await walk(services, stripe, clock);
  } finally {
    await services.close();
    await stripe.close();
    await postgres.stop();
  }
  return 0;
}

await runGuarded(demonstrate);

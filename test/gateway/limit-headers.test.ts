// The rate limit and quota headers, in the syntax of draft-ietf-httpapi-ratelimit-headers-11 (structured fields), and the client whose limit a public
// call counts against.
import test, { type ExecutionContext } from 'ava';
import { startAccountsService } from '../services/accounts-service.ts';
import { limitedBySecond, projectPlans, unhurried } from '../services/services.ts';
import { noon, startTestGateway } from './recording-upstream.ts';

const accounts = await startAccountsService(noon);
test.after.always(() => accounts.close());

/** A list of strings with whole-number parameters: all that RFC 9651 allows in these two fields. */
function parseList(t: ExecutionContext, field: string | null): Map<string, Record<string, number>> {
  const items = (field ?? '').split(', ').map((item): [string, Record<string, number>] => {
    const match = /^"([a-z]+)"((?:;[a-z]+=\d{1,15})+)$/.exec(item);
    t.not(match, null, `${item} is no item of a list`);
    const [, name = '', parameters = ''] = match ?? [];
    const pairs = parameters
      .slice(1)
      .split(';')
      .map((pair) => pair.split('='));
    return [
      name,
      Object.fromEntries(pairs.map(([key, value]) => [key, Number(value)])) as Record<string, number>,
    ];
  });
  t.is(new Map(items).size, items.length, 'each policy occurs once');
  return new Map(items);
}

test.serial(
  "a keyed answer has the rate and the month's limit: quota and window, what remains and for how long",
  async (t) => {
    const gateway = await startTestGateway({ accounts, plans: unhurried(projectPlans()) });
    t.teardown(() => gateway.close());
    const client = await accounts.newClient('free');
    await accounts.charge(client, 400);
    const { status, headers } = await fetch(`${gateway.url}/v1/series/A`, {
      headers: { 'x-api-key': client.key },
    });
    t.is(status, 200);
    const policies = parseList(t, headers.get('ratelimit-policy'));
    const limits = parseList(t, headers.get('ratelimit'));
    t.deepEqual([...policies.keys()], ['second', 'month']);
    t.deepEqual([...limits.keys()], ['second', 'month']);
    t.deepEqual(policies.get('second'), { q: 100_000, w: 1 });
    t.deepEqual(limits.get('second'), { r: 99_999, t: 1 });
    t.deepEqual(policies.get('month'), { q: 1000, w: 30 * 86_400 }, 'November');
    t.deepEqual(limits.get('month'), { r: 599, t: 10.5 * 86_400 }, 'from noon of the 20th to its end');
    t.is(headers.get('x-quota-limit'), '1000');
    t.is(headers.get('x-quota-remaining'), '599');
    t.is(headers.get('x-quota-reset'), '2026-12-01T00:00:00Z');
    t.is(headers.get('retry-after'), null);
  },
);

test.serial('an account without a monthly limit gets only the headers of the rate limit', async (t) => {
  const gateway = await startTestGateway({ accounts });
  t.teardown(() => gateway.close());
  const { key } = await accounts.newClient('enterprise');
  const { headers } = await fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': key } });
  t.deepEqual([...parseList(t, headers.get('ratelimit-policy')).keys()], ['second']);
  t.is(headers.get('x-quota-limit'), 'unlimited');
  t.is(headers.get('x-quota-remaining'), null);
});

test.serial(
  "Retry-After is the next month for 402, at most one second for 429, and never earlier than the limit's t",
  async (t) => {
    const plans = limitedBySecond(projectPlans());
    // One call per second: even on the slowest machine, two of the calls below fall within one second.
    const all = plans.all.map((plan) => ({ ...plan, calls_second: 1 }));
    const planOf = (id: string) => all.find((plan) => plan.id === id);
    const gateway = await startTestGateway({ accounts, plans: { ...plans, all, get: planOf } });
    t.teardown(() => gateway.close());
    const client = await accounts.newClient('free');
    await accounts.charge(client, 1000);
    const get = () => fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': client.key } });
    const answers = await Promise.all(Array.from({ length: 40 }, get));
    const used = answers.find(({ status }) => status === 402);
    t.is(used?.headers.get('retry-after'), String(10.5 * 86_400));
    t.like(parseList(t, used?.headers.get('ratelimit') ?? null).get('month'), { r: 0, t: 10.5 * 86_400 });
    const fast = answers.find(({ status }) => status === 429);
    const second = parseList(t, fast?.headers.get('ratelimit') ?? null).get('second');
    t.is(second?.['r'], 0);
    t.true(Number(fast?.headers.get('retry-after')) >= (second?.['t'] ?? Number.NaN));
  },
);

const perSecond = 10_000;

/** The remaining calls of the client with these headers, after this call. */
async function remaining(t: ExecutionContext, url: string, headers: Record<string, string>): Promise<number> {
  const response = await fetch(`${url}/v1/catalog`, { headers });
  t.is(response.status, 200);
  t.deepEqual(parseList(t, response.headers.get('ratelimit-policy')).get('second'), { q: perSecond, w: 1 });
  return parseList(t, response.headers.get('ratelimit')).get('second')?.['r'] ?? Number.NaN;
}

/** Whether two clients share one limit. Repeated, as a window may end between two calls. */
async function sharesLimit(
  t: ExecutionContext,
  url: string,
  one: Record<string, string>,
  other: Record<string, string>,
): Promise<boolean> {
  for (let i = 0; i < 10; i += 1) {
    const first = await remaining(t, url, one);
    if ((await remaining(t, url, other)) === first - 1) return true;
  }
  return false;
}

/** Whether a new client has its whole limit after another client has called. */
async function countsAlone(
  t: ExecutionContext,
  url: string,
  other: Record<string, string>,
  fresh: Record<string, string>,
): Promise<boolean> {
  for (let i = 0; i < 3; i += 1) await remaining(t, url, other);
  return (await remaining(t, url, fresh)) === perSecond - 1;
}

const via = (forwardedFor: string) => ({ 'x-forwarded-for': forwardedFor });

test.serial('without trusted proxies, the IP address that a client claims is ignored', async (t) => {
  const gateway = await startTestGateway({ publicCallsPerSecond: perSecond, trustedProxyHops: 0 });
  t.teardown(() => gateway.close());
  t.true(await sharesLimit(t, gateway.url, via('192.0.2.1'), via('192.0.2.2')));
});

test.serial(
  'behind two trusted proxies the second IP address from the right counts, and none written by the client',
  async (t) => {
    const gateway = await startTestGateway({ publicCallsPerSecond: perSecond, trustedProxyHops: 2 });
    t.teardown(() => gateway.close());
    const { url } = gateway;
    t.true(
      await sharesLimit(t, url, via('1.1.1.1, 192.0.2.1, 10.0.0.1'), via('2.2.2.2, 192.0.2.1, 10.0.0.1')),
    );
    t.true(
      await countsAlone(t, url, via('1.1.1.1, 192.0.2.3, 10.0.0.1'), via('1.1.1.1, 192.0.2.4, 10.0.0.1')),
    );
    t.is(gateway.dataApi.received.at(-1)?.headers['x-forwarded-for'], '192.0.2.4');
  },
);

test.serial('an IPv6 client counts by its /64, and an IPv4 address written as IPv6 by itself', async (t) => {
  const gateway = await startTestGateway({ publicCallsPerSecond: perSecond, trustedProxyHops: 1 });
  t.teardown(() => gateway.close());
  const { url } = gateway;
  t.true(await sharesLimit(t, url, via('2001:db8:1:2::1'), via('2001:DB8:1:2:ffff:ffff:ffff:ffff')));
  t.true(await countsAlone(t, url, via('2001:db8:1:3::1'), via('2001:db8:1:4::1')));
  t.true(await sharesLimit(t, url, via('192.0.2.9'), via('::ffff:192.0.2.9')));
  t.true(await countsAlone(t, url, via('::ffff:192.0.2.7'), via('::ffff:192.0.2.8')));
});

// Keys that are pinned to a day: calls with such a key get only answers for that day, also from the response cache, and each answer names the day.
import test from 'ava';
import { createKey, revokeKey, setPlan } from '../../accounts-api/operator/operator.ts';
import { mintApiKey } from '../../kernel/credentials/api-key.ts';
import { newestLoadPath, validityHeader, validityText } from '../../kernel/http/validity.ts';
import { identityHeader } from '../../kernel/identity.ts';
import { until } from '../run/until.ts';
import { startProxy } from '../services/proxy.ts';
import { startAccountsService } from '../services/accounts-service.ts';
import { projectPlans, unhurried } from '../services/services.ts';
import { noon, startTestGateway, type Answer } from './recording-upstream.ts';

const accounts = await startAccountsService(noon);
const way = await startProxy(Number(new URL(accounts.url).port));
const gateway = await startTestGateway({
  accounts,
  accountsApiUrls: [`http://127.0.0.1:${way.port}`],
  plans: unhurried(projectPlans()),
  responseCacheMb: 64,
  trustedProxyHops: 1,
});
const { dataApi } = gateway;
const state = { edition: 'e', load: 1 };
/** Replaces data-api: its answers are for the day of the call, can be cached, and name a day themselves, like those of data-api. */
const answerAsOf: Answer = ({ identity }, response) => {
  const day = identity?.asOf ?? 'now';
  response.setHeader('content-type', 'application/json');
  response.setHeader('etag', `"${day}"`);
  response.setHeader(validityHeader, validityText({ state, forMs: 3_600_000 }));
  if (day !== 'now') response.setHeader('x-as-of', day);
  response.end(JSON.stringify({ asOf: day }));
};
dataApi.answer = answerAsOf;
dataApi.answerOurselves = ({ url }, response) => {
  response.end(JSON.stringify(url === newestLoadPath ? state : {}));
};

const [early, late] = ['2019-12-31', '2020-06-30'];
const { accountId, key: plain } = await accounts.newClient('pro');
const pinned = async (as_of: string, account = accountId) =>
  (await createKey(accounts.deps, account, `as of ${as_of}`, { as_of })).key;
const keys: Record<string, string> = { [early]: await pinned(early), [late]: await pinned(late), now: plain };
test.after.always(async () => {
  await gateway.close();
  await way.close();
  await accounts.close();
});

/** A name of `keys`, or `nobody`. */
type Who = string;

const call = async (path: string, who: Who, headers: Record<string, string> = {}, init: RequestInit = {}) => {
  const own = who === 'nobody' ? {} : { 'x-api-key': String(keys[who]) };
  const response = await fetch(gateway.url + path, { ...init, headers: { ...own, ...headers } });
  return {
    status: response.status,
    text: await response.text(),
    asOf: response.headers.get('x-as-of'),
    isHit: response.headers.get('server-timing')?.includes('cache;desc=hit') === true,
  };
};
const bodyFor = (who: Who) => JSON.stringify({ asOf: who === 'nobody' ? 'now' : who });
const headerFor = (who: Who) => (who === 'nobody' || who === 'now' ? null : who);

const callers: Record<string, Who[]> = {
  '/v1/series/GDP': [early, 'now', late],
  '/v1/catalog/GDP': [early, 'now', late, 'nobody'],
  '/fred/series/observations?series_id=GDP': [early, 'now', late],
  '/fred/series?series_id=GDP': [early, 'now', late, 'nobody'],
};
for (const [path, whos] of Object.entries(callers))
  for (const [order, first] of whos.entries())
    test.serial(`${path}: an answer for ${first} is cached only for ${first}`, async (t) => {
      const own = `${path}${path.includes('?') ? '&' : '?'}limit=${order + 1}`;
      const isRight = async (who: Who) => {
        const answer = await call(own, who);
        t.deepEqual([answer.status, answer.text, answer.asOf], [200, bodyFor(who), headerFor(who)], who);
        return answer.isHit;
      };
      await until('it is kept', () => isRight(first));
      for (const who of whos.filter((each) => headerFor(each) !== headerFor(first))) {
        const asked = dataApi.received.length;
        await isRight(who);
        const isAlike = whos.some((each) => each !== who && headerFor(each) === headerFor(who));
        if (!isAlike) t.is(dataApi.received.length, asked + 1, `${who} gets no answer that was kept`);
        await until('its own is kept', () => isRight(who));
      }
      for (const who of whos) await isRight(who);
    });

test.serial('concurrent calls for the same answer share it only within their day', async (t) => {
  for (const path of ['/v1/series/AT.ONCE', '/v1/catalog/AT.ONCE']) {
    const whos: Who[] = [early, 'now', late];
    const pending: (() => void)[] = [];
    dataApi.answer = (received, response) => void pending.push(() => answerAsOf(received, response));
    t.teardown(() => (dataApi.answer = answerAsOf));
    await until('there is a lease', async () => (await call('/v1/catalog/GDP?limit=1', 'nobody')).isHit);
    const asked = Array.from({ length: 4 }, () => whos)
      .flat()
      .map(async (who) => ({ who, answer: await call(path, who) }));
    await until('each day is asked for', () => pending.length >= whos.length);
    dataApi.answer = answerAsOf;
    for (const answerNow of pending) answerNow();
    for (const { who, answer } of await Promise.all(asked))
      t.deepEqual([answer.text, answer.asOf], [bodyFor(who), headerFor(who)]);
  }
});

test.serial('an ETag that was confirmed for another day results in no 304', async (t) => {
  for (const path of ['/v1/series/TAG', '/v1/catalog/TAG']) {
    for (const who of [early, 'now'] as const)
      await until('it is kept', async () => (await call(path, who)).isHit);
    const same = await call(path, early, { 'if-none-match': `"${early}"` });
    t.deepEqual([same.status, same.asOf], [304, early]);
    t.is((await call(path, early, { 'if-none-match': '"now"' })).text, bodyFor(early));
    t.is((await call(path, 'now', { 'if-none-match': `"${early}"` })).text, bodyFor('now'));
  }
});

test.serial(
  'data-api gets the day in the sealed identity, however the key is sent, also on routes that need no key',
  async (t) => {
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    const key = String(keys[early]);
    const ways: [string, Record<string, string>][] = [
      ['', { 'x-api-key': key }],
      ['', { authorization: `Bearer ${key}` }],
      ['', { authorization: basic(`${key}:`) }],
      ['', { authorization: basic(`user:${key}`) }],
      [`&api_key=${key}`, {}],
      [`&api_key=${key}`, { 'x-api-key': key }],
    ];
    const paths = [
      ...['/v1/series?ids=A', '/v1/search?q=a', '/v1/updates?limit=1', '/fred/series?series_id=A'],
      ...['/fred/series/observations?series_id=A', '/graph/fredgraph.csv?id=A', '/v1/bulk?kind=current'],
    ];
    for (const path of paths)
      for (const [i, [query, headers]] of ways.entries()) {
        const target = `${path}&way=${i}`;
        const answer = await call(target + query, 'nobody', headers);
        t.deepEqual([answer.status, answer.text, answer.asOf], [200, bodyFor(early), early], target);
        const received = dataApi.received.at(-1);
        t.is(received?.url, target);
        t.like(received?.identity, { asOf: early, accountId, plan: 'pro' });
        t.truthy(received?.headers[identityHeader]);
      }
    for (const path of ['/v1/bulk/observations.parquet', '/v1/series/query']) {
      const body = path.endsWith('query') ? { method: 'POST', body: '{"ids":["A"]}' } : {};
      const answer = await call(path, early, { 'content-type': 'application/json' }, body);
      t.deepEqual([answer.text, answer.asOf], [bodyFor(early), early], path);
    }
  },
);

test.serial('on routes that need no key, any other key changes nothing', async (t) => {
  for (const [i, key] of [plain, 'pk_live_nonsense', 'x', mintApiKey()].entries()) {
    const answer = await call(`/v1/search?q=other${i}`, 'nobody', { 'x-api-key': key });
    t.deepEqual([answer.status, answer.text, answer.asOf], [200, bodyFor('now'), null]);
    t.like(dataApi.received.at(-1)?.identity, { asOf: null, accountId: null, features: [] });
  }
  const both = await call(`/v1/search?q=both&api_key=${String(keys[early])}`, 'now');
  t.deepEqual([both.status, both.asOf], [400, null]);
  t.regex(both.text, /different API keys/);
});

test.serial('each refusal also names the day, once the key is identified', async (t) => {
  const codeOf = (text: string) => (JSON.parse(text) as { error: { code: string } }).error.code;
  const refused = async (
    path: string,
    key: string,
    headers: Record<string, string> = {},
    init: RequestInit = {},
  ) => {
    const { status, text, asOf } = await call(path, 'nobody', { 'x-api-key': key, ...headers }, init);
    return [status, codeOf(text), asOf];
  };
  const other = await accounts.newClient('pro');
  const key = await pinned(early, other.accountId);
  const { key: bound } = await createKey(accounts.deps, other.accountId, 'bound', {
    ...{ as_of: late, addresses: ['203.0.113.7'] },
  });
  for (const path of ['/v1/series/A', '/v1/search?q=bound'])
    t.deepEqual(await refused(path, bound), [403, 'forbidden', late], path);
  const management: [string, string][] = [
    ...(['/v1/account', '/v1/keys', '/v1/usage', '/v1/webhooks', '/v1/account/audit'] as const).map(
      (path): [string, string] => ['GET', path],
    ),
    ...([
      ['POST', '/v1/keys'],
      ['PATCH', '/v1/keys/x'],
      ['DELETE', '/v1/keys/x'],
      ['POST', '/v1/keys/x/rotate'],
    ] as [string, string][]),
  ];
  for (const [method, path] of management) {
    t.deepEqual(await refused(path, key, {}, { method }), [403, 'forbidden', early], path);
  }
  t.deepEqual(await refused('/v1/operator/accounts', key), [404, 'not_found', early]);
  dataApi.answer = (_received, response) => {
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end('{"success":false,"error":{"code":"not_found"}}');
  };
  t.teardown(() => (dataApi.answer = answerAsOf));
  for (const path of ['/v1/series/NONE', '/v1/catalog/NONE'])
    t.deepEqual(await refused(path, key), [404, 'not_found', early]);
  dataApi.answer = (_received, response) => response.destroy();
  t.deepEqual(await refused('/v1/series/CUT', key), [502, 'upstream_error', early]);
  dataApi.answer = answerAsOf;

  const state = (subscriptionState: 'inactive' | 'none') =>
    accounts.deps.db.inTransaction((transaction) =>
      accounts.deps.db.accounts.update(
        { subscriptionState },
        { where: { id: other.accountId }, transaction },
      ),
    );
  await state('inactive');
  t.deepEqual(await refused('/v1/series/A', key), [402, 'subscription_inactive', early]);
  await state('none');
  await setPlan(accounts.deps, other.accountId, 'starter');
  for (const path of ['/v1/series/A', '/v1/search?q=plan', '/v1/bulk/x', '/mcp']) {
    const init = path === '/mcp' ? { method: 'POST' } : {};
    t.deepEqual(await refused(path, key, {}, init), [403, 'plan_required', early], path);
  }
  t.is(
    (await call('/v1/series/A', 'nobody', { 'x-api-key': other.key })).status,
    200,
    'the other key goes on',
  );
  await setPlan(accounts.deps, other.accountId, 'pro');
  t.is((await call('/v1/series/A', 'nobody', { 'x-api-key': key })).status, 200);
});

test.serial('a rate limit refusal also names the day', async (t) => {
  const all = projectPlans().all.map((plan) => ({ ...plan, calls_second: 1 }));
  const plans = { ...projectPlans(), all, get: (id: string) => all.find((plan) => plan.id === id) };
  const slow = await startTestGateway({ accounts, plans, publicCallsPerSecond: 1 });
  t.teardown(() => slow.close());
  for (const path of ['/v1/search?q=a', '/v1/series/A']) {
    const call = () => fetch(slow.url + path, { headers: { 'x-api-key': String(keys[early]) } });
    await until(`a second call within a second is refused at ${path}`, async () => {
      const answers = await Promise.all([call(), call(), call()]);
      for (const answer of answers) t.is(answer.headers.get('x-as-of'), early);
      return answers.some(({ status }) => status === 429);
    });
  }
});

test.serial('pages may read the header with the day', async (t) => {
  const answer = await fetch(`${gateway.url}/v1/series/A`, {
    headers: { origin: 'https://example.org', 'x-api-key': String(keys[early]) },
  });
  t.regex(answer.headers.get('access-control-expose-headers') ?? '', /\bX-As-Of\b/);
});

test.serial(
  'while a key cannot be looked up, routes that need no key refuse calls with it, and serve calls without a key',
  async (t) => {
    const key = await pinned(late, (await accounts.newClient('pro')).accountId);
    way.cut();
    const refused = await call('/v1/search?q=away', 'nobody', { 'x-api-key': key });
    t.is(refused.status, 503);
    t.is((await call('/v1/search?q=away', 'nobody')).status, 200);
    way.restore();
    await until('it is answered', async () => {
      const answer = await call('/v1/search?q=away', 'nobody', { 'x-api-key': key });
      return answer.text === bodyFor(late) && answer.asOf === late;
    });
  },
);

test.serial('a revoked key no longer pins an answer, and data calls with it are refused', async (t) => {
  const other = await accounts.newClient('pro');
  const { id, key } = await createKey(accounts.deps, other.accountId, 'ends', { as_of: early });
  const at = (path: string) => call(path, 'nobody', { 'x-api-key': key });
  t.deepEqual([(await at('/v1/series/A')).asOf, (await at('/v1/search?q=end')).asOf], [early, early]);
  await revokeKey(accounts.deps, id);
  const [data, found] = [await at('/v1/series/A'), await at('/v1/search?q=end')];
  t.deepEqual([data.status, data.asOf], [401, null]);
  t.deepEqual([found.status, found.text, found.asOf], [200, bodyFor('now'), null]);
});

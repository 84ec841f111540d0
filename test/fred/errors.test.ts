// Errors of every status in the form of FRED, through the gateway; and the key in `api_key`, which no log has.
import test from 'ava';
import { createLog } from '../../kernel/log/log.ts';
import { startAccountsService } from '../services/accounts-service.ts';
import { startDataService } from '../services/data-service.ts';
import { silentLog } from '../services/harness.ts';
import { projectPlans, startServices } from '../services/services.ts';
import { exempt } from '../openapi/check-answers.ts';
import { noon, startTestGateway, type Upstream } from '../gateway/recording-upstream.ts';

const own = projectPlans();
const base = { price_usd_month: 0, prices: [], concurrency: 1000, series_per_call: 1, features: [] };
const all = [
  ...own.all,
  { ...base, id: 'one', name: 'One', calls_month: 1, calls_second: 1000 },
  { ...base, id: 'slow', name: 'Slow', calls_month: 1000, calls_second: 1 },
];
const plans = { ...own, all, get: (id: string) => all.find((plan) => plan.id === id) };

test.serial(
  '401, 402, 403, 404 and 429 have the status and the message of Almanac, as XML and as JSON',
  async (t) => {
    const services = await startServices({ plans });
    t.teardown(() => services.close());
    await services.ingest('series_id,date,value\nGDP,2024-01-31,1.50\n', { set: { name: 'GDP' } });
    const path = '/fred/series/observations?series_id=GDP';
    const keyOf = async (plan: string) => (await services.accountWithKey(plan)).key;
    const [one, free, slow] = [await keyOf('one'), await keyOf('free'), await keyOf('slow')];
    t.is((await services.call(`${path}&api_key=${one}`)).status, 200);
    const burst = await Promise.all(
      Array.from({ length: 6 }, () => services.call(`${path}&api_key=${slow}`)),
    );
    const limited = burst.find(({ status }) => status === 429);
    t.regex(
      limited?.text ?? '',
      /^<\?xml version="1\.0" encoding="utf-8" \?>\n<error code="429" message="[^"]+"\/>\n$/,
    );
    t.is(limited?.headers.get('retry-after'), '1');

    const refusals = [
      [401, path, /API key/],
      [401, `${path}&api_key=pk_live_nonsense`, /API key/],
      [402, `${path}&api_key=${one}`, /The monthly quota of 1 call is used up/],
      [403, `${path}&realtime_start=2024-01-01&api_key=${free}`, /This requires the Pro plan/],
      [403, `${path}&output_type=2&api_key=${free}`, /Vintages require a higher plan/],
      [404, '/fred/nothing?', /No endpoint exists at this path/],
      [404, '/fred/series?series_id=NOPE', /There is no series &quot;NOPE&quot;/],
      [400, `${path}&API_KEY=${free}`, /Did you mean &quot;api_key&quot;/],
      [400, '/fred//series?series_id=GDP', /The URL path must be in normal form/],
    ] as const;
    for (const [status, target, message] of refusals) {
      const asXml = await services.call(target);
      t.is(asXml.status, status, target);
      t.is(asXml.headers.get('content-type'), 'text/xml; charset=utf-8', target);
      t.true(asXml.text.includes(`<error code="${status}" message="`), target);
      t.regex(asXml.text, message, target);
      const asJson = await services.call(`${target}&file_type=json`);
      const { error_code, error_message } = asJson.json as { error_code: number; error_message: string };
      t.is(asJson.status, status, target);
      t.is(error_code, status, target);
      t.regex(error_message.replaceAll('"', '&quot;'), message, target);
    }
    const table = '/graph/fredgraph.csv?id=GDP';
    const limitedTables = await Promise.all(
      Array.from({ length: 6 }, () => services.call(`${table}&api_key=${slow}`)),
    );
    const ofTables = [
      [401, await services.call(table), /API key/],
      [402, await services.call(`${table}&api_key=${one}`), /The monthly quota of 1 call is used up/],
      [
        404,
        await services.call(`/graph/fredgraph.csv?id=NOPE&api_key=${free}`),
        /There is no series &quot;NOPE&quot;/,
      ],
      [429, limitedTables.find(({ status }) => status === 429), /the plan allows 1 a second/],
    ] as const;
    for (const [status, answer, message] of ofTables) {
      t.is(answer?.status, status);
      t.regex(answer?.text ?? '', message);
    }
    const bearer = async (key: string) => {
      const headers = { authorization: `Bearer ${key}` };
      return (await services.call('/fred/v2/release/observations?release_id=1', { headers })).json;
    };
    t.like(await bearer(await keyOf('pro')), {
      error_code: 404,
      error_message: 'There is no release 1. GET /fred/releases lists them.',
    });
    const { error_code, error_message } = (await bearer(free)) as {
      error_code: number;
      error_message: string;
    };
    t.is(error_code, 403);
    t.regex(error_message, /This requires the Pro plan, which includes bulk/);
    t.regex((await services.call('/v1/nothing')).text, /^\{"success":false/, 'elsewhere it is the envelope');
  },
);

test.serial('a failure of a service is 500, 502 or 503 in the form of FRED', async (t) => {
  const form = (status: number, message: string) =>
    `<?xml version="1.0" encoding="utf-8" ?>\n<error code="${status}" message="${message}"/>\n`;
  const path = '/fred/series/observations?series_id=A';
  const data = await startDataService();
  t.teardown(() => data.close());
  await data.pool.query('alter table data.series rename to other_series');
  const broken = await data.call(path);
  t.is(broken.status, 500);
  t.is(broken.text, form(500, 'Internal error. Quote the request id when you report it.'));

  const accounts = await startAccountsService(noon);
  t.teardown(() => accounts.close());
  const { key } = await accounts.newClient('pro');
  const gateway = await startTestGateway({ accounts, log: silentLog });
  t.teardown(() => gateway.close());
  exempt(gateway.url);
  const cut: Upstream['answer'] = (_request, response) => void response.destroy();
  gateway.dataApi.answer = cut;
  const answer = await fetch(`${gateway.url}${path}&api_key=${key}`);
  t.is(answer.status, 502);
  t.is(await answer.text(), form(502, 'The service failed to respond. Try again.'));

  const alone = await startTestGateway({ log: silentLog });
  t.teardown(() => alone.close());
  exempt(alone.url);
  const unknown = await fetch(`${alone.url}${path}&api_key=${key}`);
  t.is(unknown.status, 503);
  t.regex(
    await unknown.text(),
    /^<\?xml version="1\.0" encoding="utf-8" \?>\n<error code="503" message="[^"]+"\/>\n$/,
  );
});

test.serial('no log has the key of `api_key`', async (t) => {
  const accounts = await startAccountsService(noon);
  t.teardown(() => accounts.close());
  const written: string[] = [];
  const log = createLog('gateway', 'trace', { write: (line) => void written.push(line) });
  const gateway = await startTestGateway({ accounts, log });
  t.teardown(() => gateway.close());
  exempt(gateway.url);
  const { key } = await accounts.newClient('pro');
  for (const path of ['series/observations', 'series', 'nothing'])
    await fetch(`${gateway.url}/fred/${path}?series_id=A&api_key=${key}&file_type=json`);
  t.is(gateway.dataApi.received.length, 2);
  t.false(gateway.dataApi.received.some(({ url }) => url.includes(key)));
  await gateway.close();
  t.true(written.some((line) => line.includes('/fred/series/observations')));
  t.false(written.join('').includes(key.slice(8)));
});

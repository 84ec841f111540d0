// The tools of /mcp by the client of the SDK, in each era of the protocol: each answers what its route answers, cited, and hides what
// was published after as_of.
import test from 'ava';
import { createKey } from '../../accounts-api/operator/operator.ts';
import { exempt } from '../openapi/check-answers.ts';
import { startServices } from '../services/services.ts';
import { connect, contentOf, errorOf, modes, post } from './mcp-client.ts';

exempt(); // the document describes /v1, not the messages of MCP
const services = await startServices();
await services.ingest('series_id,date,value\nGDP,2024-01-31,1.5\nGDP,2024-02-29,2.5\n', {
  vintage: '2024-03-10',
});
await services.ingest('series_id,date,value\nGDP,2024-01-31,1.7\nGDP,2024-02-29,2.5\nGDP,2024-03-31,3.5\n', {
  vintage: '2024-04-10',
});
await services.ingest('series_id,date,value\nCPI,2024-01-31,100\n', { vintage: '2024-03-10' });
const longDays = Array.from({ length: 1_100 }, (_, i) =>
  new Date(Date.UTC(2020, 0, 1 + i)).toISOString().slice(0, 10),
);
await services.ingest(
  `series_id,date,value\n${longDays.map((date, i) => `LONG,${date},${i}.125`).join('\n')}\n`,
  {
    vintage: '2024-03-10',
    set: { frequency: 'daily' },
  },
);
const { key } = await services.accountWithKey('pro');
test.after.always(() => services.close());

const first = '2024-03-15';
const second = '2024-04-15';
const calls: { name: string; given: Record<string, unknown>; reads: Record<string, string> }[] = [
  { name: 'search', given: { q: 'GDP' }, reads: { answer: '/v1/search?q=GDP&limit=10' } },
  { name: 'describe', given: { id: 'GDP' }, reads: { answer: '/v1/catalog/GDP' } },
  {
    name: 'get_series',
    given: { ids: ['GDP', 'CPI'], from: '2024', transform: 'change', as_of: first },
    reads: { answer: `/v1/series?ids=GDP,CPI&from=2024&transform=change&vintage=${first}&sort=desc` },
  },
  { name: 'latest', given: { ids: ['GDP'] }, reads: { answer: '/v1/series?ids=GDP&last=1' } },
  {
    name: 'compare',
    given: { ids: ['GDP'], as_of_a: first, as_of_b: second },
    reads: {
      a: `/v1/series?ids=GDP&vintage=${first}&sort=desc`,
      b: `/v1/series?ids=GDP&vintage=${second}&sort=desc`,
    },
  },
  {
    name: 'revisions',
    given: { id: 'GDP', date: '2024-01' },
    reads: { answer: '/v1/series/GDP/triangle?from=2024-01&to=2024-01&last=24' },
  },
  { name: 'calendar', given: { from: '2024' }, reads: { answer: '/v1/calendar?from=2024&limit=25' } },
  { name: 'changes', given: { series: ['GDP'] }, reads: { answer: '/v1/updates?series=GDP&limit=25' } },
];

const pinnedKeys = new Map<string, string>();

async function pinnedKey(day: string): Promise<string> {
  const { accountId } = await services.accountWithKey('pro');
  const value =
    pinnedKeys.get(day) ?? (await createKey(services.accounts, accountId, 'backtest', { as_of: day })).key;
  pinnedKeys.set(day, value);
  return value;
}

test('a day that has not begun is refused by each tool, by the name that the tool has for it', async (t) => {
  const client = await connect(services.url, key);
  const fault = async (name: string, given: Record<string, unknown>) =>
    errorOf(await client.callTool({ name, arguments: given })).message;
  for (const { name, given } of calls.filter((each) => each.name !== 'compare'))
    t.regex(await fault(name, { ...given, as_of: '2999-01-01' }), /^"as_of" must not be in the future/, name);
  const [a, b] = [first, '2999-01-01'];
  const compare = { ids: ['GDP'], as_of_a: a, as_of_b: b };
  t.regex(await fault('compare', compare), /^"as_of_b" must not be in the future; today is /);
  t.regex(await fault('compare', { ...compare, as_of_a: b }), /^"as_of_a" must not be in the future/);
});

for (const [era, mode] of Object.entries(modes)) {
  test(`${era}: eight read-only tools, each with as_of, answer as their routes do`, async (t) => {
    const client = await connect(services.url, key, mode);
    t.is(client.getProtocolEra(), era === 'legacy' ? 'legacy' : 'modern');
    const { tools } = await client.listTools();
    t.deepEqual(
      tools.map(({ name }) => name),
      calls.map(({ name }) => name),
    );
    for (const { annotations, inputSchema, outputSchema } of tools) {
      t.true(annotations?.readOnlyHint);
      t.true('as_of' in (inputSchema.properties ?? {}));
      t.truthy(outputSchema);
    }
    for (const { name, given, reads } of calls) {
      const content = contentOf(await client.callTool({ name, arguments: given })); // the client checks it by the tool's schema
      for (const [part, target] of Object.entries(reads)) {
        const { status, json } = await services.call(target, {
          key: 'as_of' in given ? await pinnedKey(String(given.as_of)) : key,
        });
        t.is(status, 200, target);
        t.deepEqual(content[part], json, target);
      }
      t.deepEqual(
        content.urls,
        Object.values(reads).map((target) => `https://almanac.example${target}`),
      );
      t.is(content.as_of, (given['as_of'] as string | undefined) ?? null);
    }
    await client.close();
  });
}

test('a comma of a text in a list does not divide it', async (t) => {
  const client = await connect(services.url, key);
  const given = { q: 'GDP', source: ['Food, drink', 'Office'], limit: 1 };
  const { urls } = contentOf(await client.callTool({ name: 'search', arguments: given }));
  t.deepEqual(urls, ['https://almanac.example/v1/search?q=GDP&source=%22Food,%20drink%22,Office&limit=1']);
  await client.close();
});

test('an id with characters that no id has, even half of a surrogate pair, is refused, and the gateway serves on', async (t) => {
  const client = await connect(services.url, key);
  for (const [name, given, code] of [
    ['search', { q: '\ud800' }, 'invalid_parameter'],
    ['latest', { ids: ['\ud800'] }, 'invalid_parameter'],
    ['describe', { id: '\ud800' }, 'not_found'],
    ['revisions', { id: '\ud800' }, 'not_found'],
    ['describe', { id: 'é b' }, 'not_found'],
  ] as const)
    t.is(errorOf(await client.callTool({ name, arguments: given })).code, code, name);
  await client.close();
});

test('a tool keeps the published digits of numbers', async (t) => {
  await services.ingest(
    'series_id,date,value\nDIGITS,2024-01-31,1.50\nDIGITS,2024-02-29,12345678901234567.10\n',
  );
  const params = { name: 'get_series', arguments: { ids: ['DIGITS'] } };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const text = await (await post(services.url, call, { 'x-api-key': key })).text();
  for (const value of ['1.50', '12345678901234567.10'])
    for (const form of [`"value":${value},`, `\\"value\\":${value},`])
      t.true(text.includes(form), `${form}: ${text}`);
});

test('an answer of a series cites the URL that the route of citations gives', async (t) => {
  const client = await connect(services.url, key);
  for (const [given, query] of [
    [{ ids: ['GDP'] }, ''],
    [
      { ids: ['GDP'], from: '2024-02', transform: 'change', as_of: first },
      `?from=2024-02&transform=change&vintage=${first}`,
    ],
    [{ ids: ['GDP'], last: 2, frequency: 'quarterly' }, '?frequency=quarterly&last=2'],
  ] as const) {
    const { sources } = contentOf(await client.callTool({ name: 'get_series', arguments: given }));
    const { json } = await services.call(`/v1/series/GDP/cite${query}`, {
      key: 'as_of' in given ? await pinnedKey(given.as_of) : key,
    });
    const { url, version } = (json as { data: { url: string; version: number } }).data;
    t.is(sources[0]?.citation, url);
    t.like(sources[0], { series: 'GDP', version });
    t.is((await services.call(url.replace('https://almanac.example', ''), { key })).status, 200);
  }
  await client.close();
});

test('every number of a tool has bounds, which are in its schema and are enforced', async (t) => {
  const client = await connect(services.url, key);
  const { tools } = await client.listTools();
  const bounds: Record<string, unknown> = {};
  for (const { name, inputSchema } of tools) {
    const needed = (inputSchema.required ?? []).map((param) => [param, param === 'ids' ? ['GDP'] : 'GDP']);
    for (const [param, schema] of Object.entries<unknown>(inputSchema.properties ?? {})) {
      const { type, minimum, maximum = 0 } = schema as { type?: string; minimum?: number; maximum?: number };
      if (type !== 'integer') continue;
      bounds[`${name} ${param}`] = [minimum, maximum];
      const given = { ...Object.fromEntries(needed), [param]: maximum + 1 };
      const { message } = errorOf(await client.callTool({ name, arguments: given }));
      t.regex(message, new RegExp(`"${param}".*${maximum}`), name);
    }
  }
  t.deepEqual(bounds, {
    'search limit': [1, 50],
    'get_series last': [1, 1000],
    'get_series limit': [1, 1000],
    'revisions last': [1, 200],
    'calendar limit': [1, 100],
    'changes limit': [1, 100],
  });
  await client.close();
});

test('as_of hides what was published later, in every tool', async (t) => {
  const client = await connect(services.url, key);
  const call = (name: string, given: object) => client.callTool({ name, arguments: { ...given } });
  const { answer } = contentOf(await call('latest', { ids: ['GDP'], as_of: first }));
  t.like(answer, {
    data: [{ data: [{ date: '2024-02-29' }], meta: { last_updated: '2024-03-10' } }],
  });
  const revisions = contentOf(await call('revisions', { id: 'GDP', as_of: first }));
  t.like(revisions.answer, {
    meta: { vintages: ['2024-03-10'], last_updated: '2024-03-10', last_date: '2024-02-29' },
  });
  t.like(contentOf(await call('describe', { id: 'GDP', as_of: first })).answer, {
    data: { last_date: '2024-02-29' },
  });
  for (const [name, given] of Object.entries({
    search: { q: 'GDP' },
    describe: { id: 'GDP' },
    calendar: {},
    changes: {},
    revisions: { id: 'GDP' },
  })) {
    const content = contentOf(await call(name, { ...given, as_of: first }));
    t.is(content.as_of, first, name);
    t.false(JSON.stringify(content.answer).includes('2024-04'), name);
  }
  const before = '2024-03-09'; // a day before the first publication
  for (const [name, given] of Object.entries({
    describe: { id: 'GDP', as_of: before },
    latest: { ids: ['GDP'], as_of: before },
    revisions: { id: 'GDP', as_of: before },
    compare: { ids: ['GDP'], as_of_a: before, as_of_b: before, as_of: before },
  }))
    t.is(errorOf(await call(name, given)).code, 'not_found', name);
  const late = errorOf(
    await call('compare', { ids: ['GDP'], as_of_a: first, as_of_b: second, as_of: first }),
  );
  t.regex(late.message, /as_of_b is 2024-04-15, which is later than as_of/);
  await client.close();
});

test('a tool that is called with a pinned key answers as of its day, which the content and the header name', async (t) => {
  const { accountId } = await services.accountWithKey('pro');
  const pinned = await createKey(services.accounts, accountId, 'backtest', { as_of: first });
  const client = await connect(services.url, pinned.key);
  const call = (name: string, given: Record<string, unknown>) => client.callTool({ name, arguments: given });
  const content = contentOf(await call('latest', { ids: ['GDP'] }));
  t.is(content.as_of, first);
  t.like(content['answer'], {
    data: [{ data: [{ date: '2024-02-29', value: 2.5 }], meta: { last_updated: '2024-03-10' } }],
  });
  t.like(contentOf(await call('describe', { id: 'GDP' })).answer, { data: { last_date: '2024-02-29' } });
  const { json } = await services.call('/v1/series?ids=GDP&last=1', { key: pinned.key });
  t.deepEqual(content['answer'], json);
  t.regex(
    errorOf(await call('latest', { ids: ['GDP'], as_of: second })).message,
    /must not be after 2024-03-15/,
  );
  await client.close();
  const answer = await post(
    services.url,
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'latest', arguments: { ids: ['GDP'] } } },
    { 'x-api-key': pinned.key },
  );
  t.deepEqual([answer.status, answer.headers.get('x-as-of')], [200, first]);
  t.true((await answer.text()).includes('2024-02-29'));
});

test('an answer above 25 kB keeps the newest rows and links the whole', async (t) => {
  const client = await connect(services.url, key);
  const result = await client.callTool({ name: 'get_series', arguments: { ids: ['LONG'] } });
  const content = contentOf(result);
  t.true(Buffer.byteLength(JSON.stringify(content)) <= 25_000);
  t.true(content.shortened);
  const newestOf = (part: unknown) =>
    (part as { data: { data: { date: string }[] }[] }).data[0]?.data[0]?.date;
  t.is(newestOf(content['answer']), longDays.at(-1));
  t.like(result.content[1], {
    type: 'resource_link',
    uri: content.sources[0]?.citation,
    mimeType: 'text/csv',
  });
  const days = { as_of_a: first, as_of_b: second };
  const compared = contentOf(
    await client.callTool({ name: 'compare', arguments: { ids: ['LONG'], ...days } }),
  );
  t.deepEqual([newestOf(compared['a']), newestOf(compared['b'])], [longDays.at(-1), longDays.at(-1)]);
  await client.close();
});

test('a tool fails with the code and the message of its route', async (t) => {
  const client = await connect(services.url, key);
  const unknown = errorOf(await client.callTool({ name: 'latest', arguments: { ids: ['NONE'] } }));
  const { json } = await services.call('/v1/series?ids=NONE&last=1', { key });
  const { error } = json as { error: { code: string; message: string } };
  t.deepEqual([unknown.code, unknown.message], [error.code, error.message]);
  await client.close();
});

test('a feature that the plan lacks is refused as at the route', async (t) => {
  const { key: free } = await services.accountWithKey('free');
  const client = await connect(services.url, free);
  const { code } = errorOf(
    await client.callTool({ name: 'latest', arguments: { ids: ['GDP'], as_of: first } }),
  );
  t.is(code, 'plan_required');
  await client.close();
});

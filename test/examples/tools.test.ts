// The dashboard for Grafana and the widgets for OpenBB Workspace, against an installation with the demo data.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { z } from 'zod';
import { projectRoot } from '../../kernel/project.ts';
import { endChildren, startServing } from '../run/processes.ts';
import { createInstallation } from '../services/instance.ts';

const installation = await createInstallation();
test.after.always(() => installation.remove());
let apiKey = '';
let backend = '';
test.after.always(endChildren);
test.before(async () => {
  apiKey = (await installation.start()).apiKey ?? '';
  const script = path.join(projectRoot, 'examples/openbb/serve.js');
  const env = { ...process.env, ALMANAC_URL: installation.url, PORT: '0' };
  const serving = await startServing(/(http:\S+)/, process.execPath, [script], { name: 'serve.js', env });
  backend = serving.ready[1] ?? '';
});

const read = (name: string): unknown =>
  JSON.parse(readFileSync(path.join(projectRoot, 'examples', name), 'utf8'));

const datasource = z.strictObject({
  type: z.literal('yesoreyeram-infinity-datasource'),
  uid: z.literal('${DS_ALMANAC}'),
});
const pair = z.strictObject({ key: z.string(), value: z.string() });
const target = z.strictObject({
  refId: z.string(),
  datasource,
  type: z.enum(['json', 'csv']),
  // The only parser that works in alerts and shared dashboards.
  parser: z.literal('backend'),
  source: z.literal('url'),
  format: z.enum(['table', 'timeseries']),
  url: z.string(),
  url_options: z.strictObject({ method: z.literal('GET'), data: z.literal(''), params: z.array(pair) }),
  root_selector: z.string(),
  columns: z
    .array(
      z.strictObject({
        selector: z.string(),
        text: z.string(),
        type: z.enum(['string', 'number', 'timestamp']),
      }),
    )
    .min(1),
  filters: z.array(z.never()),
});
const dashboard = z.object({
  __inputs: z.tuple([
    z.object({
      name: z.literal('DS_ALMANAC'),
      type: z.literal('datasource'),
      pluginId: datasource.shape.type,
    }),
  ]),
  title: z.string(),
  uid: z.string(),
  schemaVersion: z.int(),
  templating: z.object({
    list: z.array(z.object({ name: z.string(), type: z.literal('textbox'), query: z.string() })),
  }),
  panels: z.array(
    z.object({
      id: z.int(),
      type: z.enum(['timeseries', 'table']),
      gridPos: z.strictObject({ h: z.int(), w: z.int(), x: z.int(), y: z.int() }),
      datasource,
      targets: z.array(target).min(1),
    }),
  ),
});

const param = z.strictObject({
  paramName: z.string(),
  label: z.string(),
  value: z.union([z.string(), z.number()]).optional(),
  type: z.enum(['date', 'text', 'number']),
  description: z.string(),
  optional: z.boolean().optional(),
  show: z.boolean().optional(),
  options: z.array(z.strictObject({ label: z.string(), value: z.string() })).optional(),
});
const column = z.strictObject({
  field: z.string(),
  headerName: z.string(),
  cellDataType: z.enum(['text', 'number', 'dateString']),
  chartDataType: z.enum(['category', 'series']).optional(),
});
const widgets = z.record(
  z.string(),
  z.strictObject({
    name: z.string(),
    description: z.string(),
    category: z.string(),
    type: z.literal('table'),
    source: z.array(z.string()),
    endpoint: z.string().regex(/^v1\//),
    gridData: z.strictObject({ w: z.int().min(10).max(40), h: z.int().min(4).max(100) }),
    data: z.strictObject({
      dataKey: z.literal('data'),
      table: z.strictObject({
        enableCharts: z.boolean().optional(),
        showAll: z.boolean(),
        chartView: z.strictObject({ enabled: z.boolean(), chartType: z.literal('line') }).optional(),
        columnsDefs: z.array(column).min(1),
      }),
    }),
    params: z.array(param).optional(),
  }),
);
const layout = z.array(z.object({ i: z.string(), x: z.int(), y: z.int(), w: z.int(), h: z.int() }));
const apps = z.tuple([
  z.object({
    name: z.string(),
    description: z.string(),
    allowCustomization: z.boolean(),
    tabs: z.record(z.string(), z.object({ id: z.string(), name: z.string(), layout })),
    groups: z.array(z.never()),
  }),
]);

interface OpenApi {
  paths: Record<string, { get?: { parameters: { name: string; in: string }[] } }>;
}

/** The parameters of the operation at a path. */
async function parametersAt(pathname: string): Promise<string[]> {
  const answer = await fetch(`${installation.url}/v1/openapi.json`);
  const { paths } = (await answer.json()) as OpenApi;
  const known = Object.keys(paths).find((each) =>
    new RegExp(`^${each.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  );
  const parameters = known === undefined ? undefined : paths[known]?.get?.parameters;
  if (parameters === undefined) throw new Error(`No GET ${pathname} is in the document.`);
  return parameters.filter((each) => each.in === 'query').map(({ name }) => name);
}

const known = { '__from:date:YYYY-MM-DD': '2020-01-01', '__to:date:YYYY-MM-DD': '2026-01-01' };

test("Grafana's dashboard has what the Infinity data source needs, and each panel reads columns that the answer has", async (t) => {
  const { panels, templating } = dashboard.parse(read('grafana/dashboard.json'));
  const variables = new Map([
    ...Object.entries(known),
    ...templating.list.map(({ name, query }) => [name, query] as const),
  ]);
  const filled = (text: string) =>
    text.replaceAll(
      /\$\{(.*?)\}/g,
      (_, name: string) => variables.get(name) ?? t.fail(`no variable ${name}`) ?? '',
    );
  t.is(new Set(panels.map(({ id }) => id)).size, 3);
  for (const { url, url_options: options, columns, type } of panels.flatMap(({ targets }) => targets)) {
    const pathname = filled(url);
    const params = options.params.map(({ key, value }) => [key, filled(value)] as [string, string]);
    const allowed = await parametersAt(pathname);
    for (const [name] of params) t.true(allowed.includes(name), `${pathname} ${name}`);
    const answer = await fetch(`${installation.url}${pathname}?${String(new URLSearchParams(params))}`, {
      headers: { 'X-API-Key': apiKey },
    });
    t.is(answer.status, 200, pathname);
    const text = await answer.text();
    if (type === 'csv') {
      const [head = '', ...rows] = text.trim().split('\r\n');
      for (const { selector } of columns) t.true(head.split(',').includes(selector), selector);
      t.is(rows.length, 3, 'a row for each series');
    } else {
      const { data } = JSON.parse(text) as { data: Record<string, unknown>[] };
      t.true(data.length > 0, pathname);
      for (const { selector } of columns) t.true(Object.hasOwn(data[0] ?? {}, selector), selector);
    }
  }
});

test("OpenBB's widgets have what Workspace needs, and each shows columns that its answer has, with every option", async (t) => {
  const headers = { 'X-API-Key': apiKey };
  const all = widgets.parse(await (await fetch(`${backend}/widgets.json`, { headers })).json());
  for (const [id, { endpoint, params = [], data }] of Object.entries(all)) {
    const allowed = await parametersAt(`/${endpoint}`);
    for (const { paramName } of params) t.true(allowed.includes(paramName), `${id} ${paramName}`);
    const byDefault = params.flatMap(({ paramName, value }): [string, string][] =>
      value === undefined ? [] : [[paramName, String(value)]],
    );
    const chosen = params.flatMap(({ paramName, options = [] }) =>
      options.map(({ value }) => ({ ...Object.fromEntries(byDefault), [paramName]: value })),
    );
    for (const query of [Object.fromEntries(byDefault), ...chosen]) {
      const answer = await fetch(`${backend}/${endpoint}?${String(new URLSearchParams(query))}`, { headers });
      t.is(answer.status, 200, `${id} ${JSON.stringify(query)}`);
      t.is(answer.headers.get('access-control-allow-origin'), '*');
      const body = (await answer.json()) as { data: Record<string, unknown>[] };
      if (query === chosen[0] || chosen.length === 0) t.true(body.data.length > 0, id);
      for (const row of body.data)
        for (const { field } of data.table.columnsDefs) t.true(Object.hasOwn(row, field), `${id} ${field}`);
    }
  }
});

test("OpenBB's app lays out widgets that there are, without overlaps in a row of forty", async (t) => {
  const [{ tabs }] = apps.parse(await (await fetch(`${backend}/apps.json`)).json());
  const all = widgets.parse(read('openbb/widgets.json'));
  for (const { layout: places } of Object.values(tabs)) {
    t.deepEqual(places.map(({ i }) => i).toSorted(), Object.keys(all).toSorted());
    for (const a of places) {
      t.true(a.x + a.w <= 40, a.i);
      for (const b of places)
        if (a !== b)
          t.true(
            a.x >= b.x + b.w || b.x >= a.x + a.w || a.y >= b.y + b.h || b.y >= a.y + a.h,
            `${a.i} ${b.i}`,
          );
    }
  }
});

test('a page of Workspace may send the key as a header, to Almanac and to the backend', async (t) => {
  const headers = {
    ...{ origin: 'https://pro.openbb.co', 'access-control-request-method': 'GET' },
    'access-control-request-headers': 'x-api-key',
  };
  for (const address of [`${installation.url}/v1/series/DEMO.CPI`, `${backend}/widgets.json`]) {
    const answer = await fetch(address, { method: 'OPTIONS', headers });
    t.is(answer.status, 204, address);
    t.is(answer.headers.get('access-control-allow-origin'), '*');
    t.regex(answer.headers.get('access-control-allow-headers') ?? '', /X-API-Key/);
  }
});

test('the backend forwards no call to another host, no write, and the message of an error', async (t) => {
  t.is((await fetch(`${backend}/v1/series/DEMO.CPI`, { method: 'POST' })).status, 405);
  const refused = await fetch(`${backend}/v1/series/DEMO.CPI`);
  t.is(refused.status, 401);
  t.regex(await refused.text(), /An API key is required/);
  t.not((await fetch(`${backend}/.//127.0.0.1:9/x`)).status, 502, 'the path stays one of Almanac');
});

test('no example has a key in it', (t) => {
  for (const name of ['grafana/dashboard.json', 'openbb/widgets.json', 'openbb/apps.json'])
    t.notRegex(JSON.stringify(read(name)), /pk_|api_key|X-API-Key/i, name);
});

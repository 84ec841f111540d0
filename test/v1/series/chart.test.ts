// GET /v1/series/{id}/chart.svg and chart.png, and the public chart of a preview.
import { Resvg } from '@resvg/resvg-js';
import test from 'ava';
import { findFont, toPng } from '../../../data-api/charts/png.ts';
import { freeAccount } from '../../services/data-service.ts';
import { makeSeries, publish } from '../series-fixture.ts';
import { startSeriesService, type Envelope } from '../series-service.ts';

const { service, refusal } = await startSeriesService(test);
const { call, pool } = service;

test.before(async () => {
  await makeSeries(pool, { id: 'RATE', name: 'A rate & more', unit: '%', source: 'Bureau <of> "Examples"' });
  await publish(pool, 'RATE', '2024-05-10', [
    { date: '2024-01-31', value: '4.0' },
    { date: '2024-02-29', value: '4.5' },
    { date: '2024-03-31', value: null },
    { date: '2024-04-30', value: '5.0' },
  ]);
  await publish(pool, 'RATE', '2024-06-10', [
    { date: '2024-04-30', value: '5.5' },
    { date: '2024-05-31', value: '6.0' },
  ]);
});

/** The sentence for screen readers in a chart. */
async function findingAt(path: string): Promise<string> {
  const { status, text } = await call(path);
  return /<desc>(.*)<\/desc>/.exec(text)?.[1] ?? `${status}: ${text}`;
}

test('a chart is an SVG of the points that the series endpoint answers to the same parameters', async (t) => {
  for (const query of [
    '',
    '?from=2024-02',
    '?to=2024-02',
    '?vintage=2024-05-20',
    '?release=first',
    '?transform=3ma',
    '?last=2',
  ]) {
    const { json } = await call(`/v1/series/RATE${query}`);
    const values = (json as Envelope).data.map(({ value }) => value);
    const newest = values.at(-1);
    const finding = await findingAt(`/v1/series/RATE/chart.svg${query}`);
    const latest = /Latest: ([\d.]+) in (\w+ \d+)/.exec(finding);
    t.is(Number(latest?.[1]), newest ?? Number.NaN, `${query}: ${finding}`);
  }
  const { text, headers } = await call('/v1/series/RATE/chart.svg');
  t.is(headers.get('content-type'), 'image/svg+xml; charset=utf-8');
  t.is(headers.get('content-disposition'), 'inline; filename="RATE.svg"');
  t.regex(text, /^<svg [^>]*width="800" height="420"/);
  t.regex(text, />A rate &#38; more</);
  t.regex(text, /Source: Bureau &#60;of&#62; &#34;Examples&#34;\. Released 10 Jun 2024\./);
  t.notThrows(() => new Resvg(text));
});

test('a month published as missing is a gap in the line', async (t) => {
  const { text } = await call('/v1/series/RATE/chart.svg');
  t.is(/class="chart-line[^>]* d="([^"]*)"/.exec(text)?.[1]?.match(/M/g)?.length, 2);
});

test('a day published as missing is a gap; a day without a value is not', async (t) => {
  await makeSeries(pool, { id: 'IRREGULAR', frequency: 'irregular' });
  const values = ['1', '2', null, '4', '5'];
  const points = values.map((value, i) => ({ date: `2024-0${i + 1}-1${i}`, value }));
  await publish(pool, 'IRREGULAR', '2024-05-30', points);
  for (const path of ['/v1/series/IRREGULAR/chart.svg', '/v1/catalog/IRREGULAR/chart.svg']) {
    const { text } = await call(path);
    t.is(/class="chart-line[^>]* d="([^"]*)"/.exec(text)?.[1]?.match(/M/g)?.length, 2, path);
  }
});

test('each combination of dimension values is a line, named by the values in which they differ', async (t) => {
  const { text } = await call('/v1/series/TRADES/chart.svg?dims=city:Lahore');
  t.regex(text, /<title>Series TRADES, Lahore<\/title>/);
  t.deepEqual([...text.matchAll(/class="chart-label[^>]*>([^<]*)</g)].map(([, name]) => name).sort(), ['buy', 'sell']); // prettier-ignore
  const one = await call('/v1/series/TRADES/chart.svg?dims=city:Lahore,side:buy');
  t.regex(one.text, /<title>Series TRADES, buy, Lahore<\/title>/);
});

test('a chart of more than sixteen lines is refused, and says how to select fewer', async (t) => {
  await makeSeries(pool, { id: 'MANY', dimensions: ['city'] });
  const points = Array.from({ length: 17 }, (_, i) => ({
    date: '2024-01-31',
    value: '1',
    dims: { city: `c${i}` },
  }));
  await publish(pool, 'MANY', '2024-05-10', points);
  for (const path of [
    '/v1/series/MANY/chart.svg',
    '/v1/series/MANY/chart.png',
    '/v1/catalog/MANY/chart.svg',
  ]) {
    const { status, code, param, message } = await refusal(path);
    t.deepEqual([status, code, param], [400, 'invalid_parameter', 'dims']);
    t.is(message, 'A chart has at most 16 lines, and this selection of MANY has 17. Select fewer by "dims"; the dimensions are city.'); // prettier-ignore
  }
  t.is((await call('/v1/series/MANY/chart.svg?dims=city:c0|c16')).status, 200);
});

test('the size, the theme and the scale of the axis are as requested', async (t) => {
  const { text } = await call('/v1/series/RATE/chart.svg?width=500&height=300&theme=dark&log=true');
  t.regex(text, /^<svg [^>]*width="500" height="300"/);
  t.regex(text, /class="chart-paper"[^>]*fill="#101316"/);
  t.regex(text, />%, log scale</);
});

test('an index shows its base as an axis, and a transform is named with the unit', async (t) => {
  const index = await call('/v1/series/RATE/chart.svg?transform=index&base=2024-01');
  t.regex(index.text, />Index \(2024-01-31 = 100\)</);
  t.is(index.text.match(/class="chart-axis" d="M[^"]*H/g)?.length, 2);
  t.regex(
    (await call('/v1/series/RATE/chart.svg?transform=pct_change')).text,
    />Change on the period before, %</,
  );
});

test.serial('an unchanged chart is 304, and a load changes its ETag', async (t) => {
  await makeSeries(pool, { id: 'MOVES' });
  await publish(pool, 'MOVES', '2024-05-10', [{ date: '2024-01-31', value: '1' }]);
  for (const path of [
    '/v1/series/MOVES/chart.svg',
    '/v1/series/MOVES/chart.png',
    '/v1/catalog/MOVES/chart.svg',
  ]) {
    const first = await call(path);
    const etag = first.headers.get('etag') ?? '';
    t.is((await call(path, { headers: { 'if-none-match': etag } })).status, 304);
    t.not((await call(`${path}?width=400`)).headers.get('etag'), etag);
    await publish(pool, 'MOVES', '2024-05-10', [{ date: '2024-02-29', value: String(path.length) }]);
    t.is((await call(path, { headers: { 'if-none-match': etag } })).status, 200);
  }
});

test.serial('the chart of a past state names its permanent URL, where it never changes', async (t) => {
  const { headers } = await call('/v1/series/RATE/chart.svg?vintage=2024-05-20&width=300');
  const location = headers.get('content-location') ?? '';
  t.regex(location, /^\/v1\/series\/RATE\/chart\.svg\?vintage=2024-05-20&width=300&version=\d+$/);
  const pinned = await call(location);
  t.is(pinned.status, 200, pinned.text);
  t.regex(pinned.headers.get('cache-control') ?? '', /immutable/);
});

test('a vintage needs the plan feature, as for the points', async (t) => {
  for (const path of [
    '/v1/series/RATE/chart.svg?vintage=2024-05-20',
    '/v1/series/RATE/chart.png?release=first',
  ]) {
    const { status, json } = await call(path, { identity: freeAccount });
    t.deepEqual([status, (json as Envelope).error.code], [403, 'plan_required']);
  }
});

test('a chart refuses what the series endpoint refuses, and a size out of bounds', async (t) => {
  const refused = async (path: string) => {
    const { status, code, param } = await refusal(path);
    return [status, code, param];
  };
  t.deepEqual(await refused('/v1/series/NONE/chart.svg'), [404, 'not_found', 'id']);
  t.deepEqual(await refused('/v1/series/RATE/chart.svg?dims=side:buy'), [400, 'unknown_dimension', 'dims']);
  t.deepEqual(await refused('/v1/series/RATE/chart.svg?width=1601'), [400, 'invalid_parameter', 'width']);
  t.deepEqual(await refused('/v1/series/RATE/chart.png?scale=3'), [400, 'invalid_parameter', 'scale']);
  t.deepEqual(await refused('/v1/series/RATE/chart.svg?limit=5'), [400, 'invalid_parameter', 'limit']);
  const { status } = await call('/v1/series/RATE/chart.svg', { headers: { accept: 'application/json' } });
  t.is(status, 406);
});

test.serial('a PNG has the requested size times its scale, and shows text', async (t) => {
  const target = '/v1/series/RATE/chart.png?width=300&height=240';
  const response = await fetch(service.url + target, {
    headers: { ...service.headers(target), 'accept-encoding': 'br' },
  });
  t.is(response.headers.get('content-type'), 'image/png');
  t.is(response.headers.get('content-encoding'), null);
  const png = Buffer.from(await response.arrayBuffer());
  t.deepEqual([...png.subarray(1, 4)], [...Buffer.from('PNG')]);
  t.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [600, 480]);
  const { text: svg } = await call('/v1/series/RATE/chart.svg?width=300&height=240');
  const withoutText = await toPng(findFont() ?? null, svg.replaceAll(/<text.*?<\/text>/g, ''), 2);
  t.true(png.length > withoutText.length * 1.5);
});

test('an image that cannot be drawn fails alone, and images asked for at once are each their own, however many', async (t) => {
  const draw = (svg: string) => toPng(findFont() ?? null, svg, 2);
  const svg = (width: number) =>
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="1200"><text y="20">text</text></svg>`;
  const widths = Array.from({ length: 12 }, (_, i) => 1_000 + i); // 230 MB of pixels: several threads draw them
  const drawings = widths.map((width) => draw(svg(width)));
  const failing = draw('<svg');
  const after = draw(svg(5));
  await t.throwsAsync(failing, { any: true, message: /SVG/ }); // thrown in another thread, so it is not an instance of this thread's Error
  const widthOf = (png: Buffer) => png.readUInt32BE(16);
  t.deepEqual((await Promise.all(drawings)).map(widthOf), widths.map((width) => 2 * width)); // prettier-ignore
  t.is(widthOf(await after), 10);
});

test('without a font a PNG is refused, and never drawn without its numbers', async (t) => {
  t.is(findFont([]), undefined);
  const error = await t.throwsAsync(async () => toPng(null, '<svg/>', 1));
  t.regex(error?.message ?? '', /needs a sans-serif font/);
});

test('the chart of a preview needs no key, and shows no more points than the preview', async (t) => {
  const { json } = await call('/v1/catalog/RATE/preview?limit=2');
  const newest = (json as Envelope).data;
  const { text, headers } = await call('/v1/catalog/RATE/chart.svg?limit=2');
  t.is(headers.get('cache-control'), 'public, max-age=60');
  t.regex(text, /April 2024 to May 2024\. Latest: 6\.0? ?/);
  t.is(newest.length, 2);
  t.is((await refusal('/v1/catalog/RATE/chart.svg?vintage=2024-05-20')).param, 'vintage');
});

// format=ndjson of one series and of several, compared with the JSON for the same parameters.
import test from 'ava';
import { startSeriesService, type Point } from './series-service.ts';
import { makeSeries } from './series-fixture.ts';

const { service, series } = await startSeriesService(test);
test.before(() => makeSeries(service.pool, { id: 'EMPTY' }));

const ask = (path: string, headers: Record<string, string> = {}) => service.call(path, { headers });
const linesOf = (text: string) => {
  const lines = text.split('\n');
  if (lines.pop() !== '') throw new Error('the last line has no end');
  return lines.map((line) => JSON.parse(line) as Point & { series?: string });
};

for (const query of [
  '',
  'sort=desc&from=2024',
  'last=2',
  'fields=value,status&include_missing=true',
  'include=notes',
  'transform=pct_change',
  'vintage=2024-04-10',
]) {
  test(`each line is a point of the JSON, with the same text: ${query}`, async (t) => {
    for (const path of ['/v1/series/TRADES', '/v1/series/CPI', '/v1/series/EMPTY', '/v1/series/CPI/latest']) {
      if (path.endsWith('latest') && /last|missing|from/.test(query)) continue;
      const { text, headers } = await ask(`${path}?format=ndjson&${query}`);
      const json = await ask(`${path}?${query}`);
      t.is(headers.get('content-type'), 'application/x-ndjson; charset=utf-8');
      t.regex(headers.get('content-disposition') ?? '', /^attachment; filename="[A-Za-z-]+\.ndjson"$/);
      // Compared as text, as numbers have more digits than a parser preserves.
      t.true(json.text.includes(`"data":[${text.trimEnd().replaceAll('\n', ',')}]`), path);
      t.is(linesOf(text).length, (json.json as { data: unknown[] }).data.length);
    }
  });
}

test('several series follow each other, each line with the id of its series', async (t) => {
  const { text } = await ask('/v1/series?ids=TRADES,EMPTY,CPI&format=ndjson&sort=desc');
  const alone = async (id: string) =>
    linesOf((await ask(`/v1/series/${id}?format=ndjson&sort=desc`)).text).map((point) => ({
      series: id,
      ...point,
    }));
  t.deepEqual(linesOf(text), [...(await alone('TRADES')), ...(await alone('CPI'))]);
  t.regex(text, /^\{"series":"TRADES","date":"/);
});

test('with a limit it is a page, and Link leads to the next; without one it is everything', async (t) => {
  const { data } = await series('/v1/series/TRADES');
  const lines: Point[] = [];
  let next: string | undefined = '/v1/series/TRADES?format=ndjson&limit=7';
  while (next !== undefined) {
    const { text, headers } = await ask(next);
    lines.push(...linesOf(text));
    next = /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
  }
  t.deepEqual(lines, data);
  t.true(data.length > 14);
});

test('the header Accept selects it, and errors are JSON', async (t) => {
  const { text, headers } = await ask('/v1/series/CPI', { accept: 'application/x-ndjson' });
  t.is(headers.get('content-type'), 'application/x-ndjson; charset=utf-8');
  t.is(linesOf(text).length, 5);
  const refused = await ask('/v1/series/CPI?limit=0', { accept: 'application/x-ndjson' });
  t.is((refused.json as { error: { code: string } }).error.code, 'invalid_parameter');
  t.is((await ask('/v1/series?ids=CPI&format=ndjson&layout=long')).status, 400);
});

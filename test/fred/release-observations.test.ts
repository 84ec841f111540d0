// GET /fred/v2/release/observations: the points of all series of a release, in pages, with the numbers of /v1.
import test from 'ava';
import { nameId, numberOfNameId } from '../../domain/name-id.ts';
import { freeAccount } from '../services/data-service.ts';
import { startListService } from '../services/list-service.ts';

const service = await startListService();
test.after.always(() => service.close());

test.before(async () => {
  await service.load('series', [
    'series_id,name,unit,frequency,source,seasonal_adjustment,description',
    'FX,Rates,USD,daily,Bureau,,',
    'GDP,Gross domestic product,Billion,quarterly,Bureau,NSA,"A note, ""quoted"""',
    'FUTURE,Nothing yet,Billion,annual,Bureau,,',
    'OTHER,Elsewhere,Billion,annual,Bureau,,',
  ]);
  const load = (lines: string[]) => service.load('observations', lines, { vintage: '2024-08-29' });
  await load(['series_id,date,value', 'GDP,2023-12-31,26.30', 'GDP,2024-03-31,', 'GDP,2024-06-30,27.6']);
  await load(['series_id,date,value', 'OTHER,2023-12-31,1']);
  await load([
    'series_id,date,value,currency,side',
    'FX,2024-01-02,1.50,"EUR, spot",buy',
    'FX,2024-01-03,1.60,"EUR, spot",buy',
    'FX,2024-01-02,1.70,"EUR, spot",sell',
    'FX,2024-01-02,0.80,GBP,buy',
  ]);
  await service.load('calendar', [
    'release_id,title,source,release_at,time_zone,series_ids',
    'one,Accounts,Bureau,2024-08-29 08:00,UTC,GDP;FX;FUTURE',
  ]);
});

interface Page {
  release: object;
  series: { series_id: string; last_updated: string; observations: { date: string; value: string }[] }[];
  has_more: boolean;
  next_cursor?: string;
}
const number = numberOfNameId(nameId('Accounts', 'Bureau'));
const path = `/fred/v2/release/observations?release_id=${number}`;
const read = async (query = '') => (await service.call(`${path}&format=json${query}`)).json as Page;

/** The data sent for each series, point by point. */
const pointsOf = ({ series }: Page) =>
  series.flatMap(({ series_id: id, observations }) =>
    observations.map(({ date, value }) => `${id},${date} ${value}`),
  );

test('all series of the release have their points, those with dimensions one for each combination', async (t) => {
  const { series, ...page } = await read();
  t.deepEqual(page as object, {
    release: {
      ...{ release_id: number, name: 'Accounts' },
      url: `https://almanac.example/v1/releases/${nameId('Accounts', 'Bureau')}`,
      sources: [{ name: 'Bureau', url: `https://almanac.example/v1/sources/${nameId('Bureau')}` }],
    },
    has_more: false,
  });
  t.deepEqual(
    series.map(({ series_id: id, observations }) => [id, observations.length]),
    [
      ['FUTURE', 0],
      ['FX~EUR, spot~buy', 2],
      ['FX~EUR, spot~sell', 1],
      ['FX~GBP~buy', 1],
      ['GDP', 3],
    ],
  );
  const { last_updated: updated, ...gdp } = series.at(-1) ?? { last_updated: '' };
  t.regex(updated, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  t.deepEqual(gdp, {
    ...{ series_id: 'GDP', title: 'Gross domestic product', frequency: 'Quarterly', units: 'Billion' },
    ...{ seasonal_adjustment: 'Not Seasonally Adjusted', copyright_id: '', notes: 'A note, "quoted"' },
    observations: [
      { date: '2023-10-01', value: '26.30' },
      { date: '2024-01-01', value: '.' },
      { date: '2024-04-01', value: '27.6' },
    ],
  });
});

test('the values of each series are those of /fred/series/observations', async (t) => {
  for (const { series_id: id, observations } of (await read()).series) {
    const asked = `/fred/series/observations?file_type=json&series_id=${encodeURIComponent(id)}`;
    const { observations: expected } = (await service.call(asked)).json as { observations: object[] };
    t.deepEqual(
      observations,
      expected.map((row) => {
        const { date, value } = row as { date: string; value: string };
        return { date, value };
      }),
      id,
    );
  }
});

test('pages of any size have all points and all series, each cursor the first point of the next page', async (t) => {
  const whole = await read();
  for (const limit of [1, 2, 3, 5, 6, 7, 8]) {
    const points: string[] = [];
    const ids = new Set<string>();
    let cursor: string | undefined = '';
    while (cursor !== undefined) {
      const page: Page = await read(
        `&limit=${limit}${cursor === '' ? '' : `&next_cursor=${encodeURIComponent(cursor)}`}`,
      );
      const own = pointsOf(page);
      if (cursor !== '') t.true(own[0]?.startsWith(`${cursor} `), `${limit}: ${cursor}`);
      t.is(page.has_more, page.next_cursor !== undefined);
      t.is(own.length, page.has_more ? limit : Math.min(limit, own.length));
      points.push(...own);
      for (const { series_id: id } of page.series) ids.add(id);
      cursor = page.next_cursor;
    }
    t.deepEqual(points, pointsOf(whole), `${limit}`);
    t.deepEqual(
      [...ids],
      whole.series.map(({ series_id: id }) => id),
      `${limit}`,
    );
  }
});

test('it needs the feature bulk, and refuses in JSON', async (t) => {
  const refused = await service.call(path, { identity: freeAccount });
  t.is(refused.status, 403);
  t.like(refused.json, { error_code: 403 });
  for (const cursor of ['GDP', 'GDP,2024-13-01', ',2024-01-01'])
    t.like((await service.call(`${path}&next_cursor=${cursor}`)).json, {
      error_code: 400,
      error_message: `"next_cursor" is "${cursor}", but must be the "next_cursor" of a page.`,
    });
  t.like((await service.call('/fred/v2/release/observations?release_id=1')).json, { error_code: 404 });
});

// GET /v1/front-page: the operator's texts, the series chosen by the operator, and those with the newest data.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { start } from '../../data-api/main.ts';
import { deleteSeries } from '../../ingest/history/series/delete.ts';
import { renameSeries } from '../../ingest/history/series/rename.ts';
import { openDatabase } from '../../kernel/database.ts';
import { publicCaller } from '../services/data-service.ts';
import { silentLog, testIdentitySecret } from '../services/harness.ts';
import { startListService } from '../services/list-service.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
const frontPageFile = path.join(folder, 'front-page.yml');
writeFileSync(
  frontPageFile,
  'title: Ruritania\ntext: "**All** figures"\nseries: [POP, NONE, CPI.OLD, GONE]\nblocks: [series, newest]\n',
);

const service = await startListService({ frontPageFile });
test.after.always(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

interface FrontPage {
  title: string | null;
  text_html: string | null;
  logo: object | null;
  blocks: string[];
  series_title: string | null;
  series: Record<string, unknown>[];
  newest: Record<string, unknown>[];
}

const readPage = async () =>
  ((await service.call('/v1/front-page', { identity: publicCaller })).json as { data: FrontPage }).data;
const newest = async () => (await readPage()).newest.map(({ id, new_data_on: on }) => [id, on] as const);

const frequencies: Readonly<Record<string, string>> = { GDP: 'quarterly', POP: 'annual', RATE: 'daily' };
const facts = (id: string) => `${id},${id},Index,${frequencies[id] ?? 'monthly'},Office`;
const points = (lines: readonly string[], vintage: string) =>
  service.load('observations', ['series_id,date,value', ...lines], { vintage });

test.before(async () => {
  await service.load('series', [
    'series_id,name,unit,frequency,source',
    ...['CPI', 'GDP', 'POP', 'RATE', 'OLD', 'EMPTY', 'GONE'].map(facts),
  ]);
  await points(['POP,2025,1'], '2026-03-01');
  await points(['CPI,2026-04,1', 'GDP,2026-Q1,1', 'GONE,2026-05,1'], '2026-05-20');
  await points(['CPI,2026-05,1', 'RATE,2026-06-11,1'], '2026-06-11');
  await points(['GDP,2026-Q1,2'], '2026-06-12');
  await points(['OLD,2022-01,1', 'OLD,2022-02,1'], '2026-06-14');
  const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
  const how = { noGateway: true, seriesTimeZone: 'UTC', clock: service.clock };
  await renameSeries(database, { ...how, id: 'CPI', newId: 'CPI.OLD' });
  await renameSeries(database, { ...how, id: 'CPI.OLD', newId: 'CPI.NEW' });
  await deleteSeries(database, { ...how, id: 'GONE' });
  await database.close();
  await service.pool.query(`update data.loads set loaded_at = '2026-06-14 09:00Z'`);
});

test.serial('the newest series are ordered by their last publication with new data', async (t) => {
  t.deepEqual(await newest(), [
    ['RATE', '2026-06-11'],
    ['CPI.NEW', '2026-06-11'],
    ['GDP', '2026-05-20'], // its newest publication only revised it
    ['POP', '2026-03-01'],
  ]);
});

test.serial('data that is old for its frequency does not count as new, whenever it was loaded', async (t) => {
  const ids = (await newest()).map(([id]) => id);
  t.false(ids.includes('OLD'));
  t.true(ids.includes('POP'), 'an annual series of last year is of its present period');
});

test.serial('a load changes the page at once', async (t) => {
  const before = await service.call('/v1/front-page');
  const etag = before.headers.get('etag') ?? '';
  t.is((await service.call('/v1/front-page', { headers: { 'if-none-match': etag } })).status, 304);
  await points(['EMPTY,2026-05,1'], '2026-06-15');
  t.deepEqual((await newest())[0], ['EMPTY', '2026-06-15']);
  t.is((await service.call('/v1/front-page', { headers: { 'if-none-match': etag } })).status, 200);
});

test.serial(
  'the chosen series are in the order of the operator, also by earlier ids, without those that are not served',
  async (t) => {
    const { series } = await readPage();
    t.deepEqual(
      series.map(({ id }) => id),
      ['POP', 'CPI.NEW'],
    );
    const { data } = await service.list('/v1/catalog');
    t.deepEqual(
      series[0],
      data.find(({ id }) => id === 'POP'),
    );
  },
);

test.serial('the texts, the logo and the blocks are those of the file', async (t) => {
  const { newest: _newest, series: _series, ...page } = await readPage();
  t.deepEqual(page, {
    title: 'Ruritania',
    text_html: '<p><strong>All</strong> figures</p>',
    logo: null,
    blocks: ['series', 'newest'],
    series_title: null,
  });
});

test.serial('a service with an invalid file does not start, and reports the faults', async (t) => {
  const wrong = path.join(folder, 'wrong.yml');
  writeFileSync(wrong, 'titel: A\n');
  const error = await t.throwsAsync(
    start({
      ...{ databaseUrl: service.databaseUrl, identitySecret: testIdentitySecret, log: silentLog },
      ...{ seriesTimeZone: 'UTC', publicUrl: 'https://almanac.example', host: '127.0.0.1', port: 0 },
      ...{ clock: service.clock, frontPageFile: wrong },
    }),
  );
  t.regex(error.message, /wrong\.yml: .*Unrecognized key: "titel"/);
});

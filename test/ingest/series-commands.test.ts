// Individual changes of series by the command line: refusals and their reasons, records, reports, and later loads.
import test from 'ava';
import { deleteSeries, restoreSeries } from '../../ingest/history/series/delete.ts';
import { renameSeries } from '../../ingest/history/series/rename.ts';
import { setFacts } from '../../ingest/history/series/set.ts';
import type { ChangeOptions } from '../../ingest/history/series/change.ts';
import { Failure } from '../../kernel/errors.ts';
import { fakeClock } from '../services/harness.ts';
import { writtenEvents } from '../services/outbox.ts';
import { daily, failureOf, loadCsv, openIngestDatabase, published, seriesRow, today } from './loading.ts';

const database = await openIngestDatabase(test);
const how = { noGateway: true, seriesTimeZone: 'UTC', clock: fakeClock(`${today}T12:00:00Z`) };

/** Loads points, `id,date,value` each. */
const loaded = (rows: readonly string[], options: Parameters<typeof loadCsv>[2] = {}) =>
  loadCsv(database, ['series_id,date,value', ...rows], { create: true, set: daily, ...options });
const renamed = (id: string, newId: string, options: Partial<ChangeOptions> = {}) =>
  renameSeries(database, { ...how, id, newId, ...options });

const changed = (id: string, facts: Readonly<Record<string, string>>, options: Partial<ChangeOptions> = {}) =>
  setFacts(database, { ...how, id, facts, ...options });

/** The refusal of the change. */
async function refusal(change: Promise<unknown>): Promise<string> {
  try {
    await change;
  } catch (error) {
    if (error instanceof Failure) return `${error.code}: ${error.message}`;
    throw error;
  }
  throw new Error('the change should have been refused');
}

/** Everything that a refused change or a dry run must not modify. */
const stored = () =>
  database.query(
    `select series_id, data_version, updated_at, xmin::text, (select count(*) from data.series_aliases) as aliases,
       (select count(*) from data.loads) as loads, (select count(*) from data.audit_events) as events,
       (select count(*) from events.outbox) as reported
     from data.series order by series_id`,
  );

test.serial(
  'a rename is a load with a number, is recorded, and is reported as a change of metadata',
  async (t) => {
    await loaded(['PLAIN,2024-01-01,1']);
    await renamed('PLAIN', 'PLAIN.NEW', { reason: 'one form' });
    const [changing, renaming] = (await writtenEvents(database)).slice(-2);
    const row = await seriesRow(database, 'PLAIN.NEW');
    const load = Number(row?.['data_version']);
    t.deepEqual(
      await database.query(
        'select load_no::int, dataset, source_name, vintage, points_revised::int, reason from data.loads order by load_no desc limit 1',
      ),
      [
        {
          ...{ load_no: load, dataset: 'series', source_name: 'series.renamed', vintage: today },
          ...{ points_revised: 1, reason: 'one form' },
        },
      ],
    );
    t.deepEqual(
      await database.query('select action, subject, load_no::int, reason, details from data.audit_events'),
      [
        {
          ...{ action: 'series.renamed', subject: 'PLAIN', load_no: load, reason: 'one form' },
          details: { renamed_to: 'PLAIN.NEW' },
        },
      ],
    );
    t.like(changing, { type: 'dataset.updated', data: { load, dataset: 'series', rows_changed: 1 } });
    t.like(renaming, {
      type: 'series.renamed',
      data: { load, from: 'PLAIN', to: 'PLAIN.NEW', series: ['PLAIN', 'PLAIN.NEW'] },
    });
    t.is(await seriesRow(database, 'PLAIN'), undefined);
    t.deepEqual(await published(database, 'PLAIN.NEW'), { '2024-01-01': '1' });
  },
);

test.serial('an impossible rename is refused with the reason, and nothing is changed', async (t) => {
  await loaded(['TAKEN,2024-01-01,1', 'OTHER,2024-01-01,1', 'FREE,2024-01-01,1']);
  await renamed('OTHER', 'OTHER.NEW');
  await loadCsv(database, ['item_id,name,unit,currency,frequency,source', 'rice,Rice,1 Kg,PKR,weekly,PBS'], {
    dataset: 'commodity-items',
  });
  const before = await stored();
  for (const [id, newId, expected] of [
    ['NONE', 'NEW', /^not_found: There is no series "NONE"/],
    ['OTHER', 'NEW', /^conflict: "OTHER" is an earlier id of the series "OTHER.NEW"/],
    ['FREE', 'TAKEN', /^conflict: There is a series "TAKEN" already/],
    ['FREE', 'FREE', /^conflict: There is a series "FREE" already/],
    ['FREE', 'OTHER', /^conflict: "OTHER" is an earlier id of the series "OTHER.NEW"/],
    ['FREE', 'a b', /^invalid_parameter: "a b" is not an id of a series/],
    ['FREE', 'commodity.wheat', /^conflict: .*prices of items/],
    ['commodity.rice', 'RICE', /^conflict: .*prices of an item/],
  ] as const)
    t.regex(await refusal(renamed(id, newId)), expected);
  t.deepEqual(await stored(), before);
});

test.serial('a dry run has the same result as a rename, and stores nothing', async (t) => {
  await loaded(['DRY,2024-01-01,1']);
  const before = await stored();
  t.like(await renamed('DRY', 'DRY.NEW', { dryRun: true }), { series: 'DRY.NEW' });
  t.regex(await refusal(renamed('DRY', 'TAKEN', { dryRun: true })), /already/);
  t.deepEqual(await stored(), before);
});

test.serial(
  'a load by the earlier id goes to the series, long or wide, with or without --create, even next to the present id',
  async (t) => {
    await loaded(['LOADED,2024-01-01,1'], { vintage: '2024-02-01' });
    await renamed('LOADED', 'LOADED.NEW');
    await loaded(['LOADED,2024-01-02,2'], { vintage: '2024-02-02' });
    await loaded(['LOADED,2024-01-03,3', 'LOADED.NEW,2024-01-04,4', 'LOADED,2024-01-05,5'], {
      vintage: '2024-02-03',
    });
    await loadCsv(database, ['date,LOADED', '2024-01-06,6'], { wide: true, vintage: '2024-02-04' });
    t.deepEqual(Object.values(await published(database, 'LOADED.NEW')), ['1', '2', '3', '4', '5', '6']);
    t.is(await seriesRow(database, 'LOADED'), undefined);
  },
);

test.serial('the combinations of dimension values are numbered once for both ids', async (t) => {
  const load = (rows: readonly string[]) =>
    loadCsv(database, ['series_id,date,value,side', ...rows], { create: true, set: daily });
  await load(['SIDES,2024-01-01,1,buy']);
  await renamed('SIDES', 'SIDES.NEW');
  await load([
    'SIDES,2024-01-01,2,sell',
    'SIDES.NEW,2024-01-02,3,sell',
    'SIDES.NEW,2024-01-01,4,mid',
    'SIDES,2024-01-02,5,mid',
  ]);
  t.deepEqual(
    await database.query(
      `select dims->>'side' as side from data.series_dims d join data.series s using (series_no)
       where series_id = 'SIDES.NEW' order by line_no`,
    ),
    [{ side: 'buy' }, { side: 'sell' }, { side: 'mid' }],
  );
});

test.serial('datasets that reference series accept their earlier ids', async (t) => {
  await loaded(['NAMED,2024-01-01,1']);
  await renamed('NAMED', 'NAMED.NEW');
  const load = (dataset: string, csv: readonly string[]) => loadCsv(database, csv, { dataset });
  await load('series', ['series_id,name', 'NAMED,Another name']);
  await load('footnotes', ['series_id,date,text', 'NAMED,2024-01-01,Estimated']);
  await load('calendar', [
    'release_id,title,source,release_at,time_zone,series_ids',
    'r1,Prices,Test,2024-07-01T09:00,UTC,NAMED;LOADED;FREE',
  ]);
  t.like(await seriesRow(database, 'NAMED.NEW'), { name: 'Another name' });
  t.deepEqual(
    await database.query('select text, series_id from data.footnotes join data.series using (series_no)'),
    [{ text: 'Estimated', series_id: 'NAMED.NEW' }],
  );
  t.deepEqual(await database.query(`select series_ids from data.releases where release_id = 'r1'`), [
    { series_ids: ['NAMED.NEW', 'LOADED.NEW', 'FREE'] },
  ]);
});

test.serial('a load is also reported by the earlier ids, for endpoints that filter by them', async (t) => {
  await loaded(['TOLD,2024-01-01,1']);
  await renamed('TOLD', 'TOLD.NEW');
  await loaded(['TOLD,2024-01-02,1']);
  const reported = (await writtenEvents(database)).findLast(({ type }) => type === 'series.updated');
  t.deepEqual(reported?.data['series'], ['TOLD', 'TOLD.NEW']);
});

test.serial(
  'deletions and restorations are recorded as loads; each is refused if it would change nothing',
  async (t) => {
    await loaded(['DELETED,2024-01-01,1']);
    t.regex(
      await refusal(restoreSeries(database, { ...how, id: 'DELETED' })),
      /^conflict: "DELETED" is not deleted/,
    );
    t.regex(
      await refusal(deleteSeries(database, { ...how, id: 'commodity.rice' })),
      /^conflict: .*prices of an item/,
    );
    const deleted = await deleteSeries(database, { ...how, id: 'DELETED', reason: 'licence' });
    t.like(await seriesRow(database, 'DELETED'), { deleted_on: today, data_version: deleted.loadNo });
    t.regex(
      await refusal(deleteSeries(database, { ...how, id: 'DELETED' })),
      /deleted on 2024-06-30 already/,
    );
    t.regex(await refusal(renamed('DELETED', 'ELSE')), /deleted on 2024-06-30.*series restore/);
    const before = await stored();
    await restoreSeries(database, { ...how, id: 'DELETED', dryRun: true });
    t.deepEqual(await stored(), before);
    const back = await restoreSeries(database, { ...how, id: 'DELETED' });
    t.like(await seriesRow(database, 'DELETED'), { deleted_on: null, data_version: back.loadNo });
    t.deepEqual(
      await database.query(
        'select action, load_no::int, reason, details from data.audit_events order by event_no desc limit 2',
      ),
      [
        { action: 'series.restored', load_no: back.loadNo, reason: null, details: { deleted_on: today } },
        { action: 'series.deleted', load_no: deleted.loadNo, reason: 'licence', details: {} },
      ],
    );
  },
);

test.serial(
  'loads that name a deleted series, by any of its ids, are refused with the way to restore it',
  async (t) => {
    await loaded(['TRASH,2024-01-01,1']);
    await renamed('TRASH', 'TRASH.NEW');
    await deleteSeries(database, { ...how, id: 'TRASH.NEW' });
    const before = await stored();
    const expected = 'a series that is not deleted; restore it with "almanac series restore TRASH.NEW"';
    const rejectsOf = async (csv: readonly string[], options: Parameters<typeof loadCsv>[2]) =>
      (await failureOf(loadCsv(database, csv, options))).rejects.map((reject) => [
        reject.column,
        reject.expected,
      ]);
    for (const id of ['TRASH', 'TRASH.NEW']) {
      const observations = { create: true, set: daily };
      t.deepEqual(await rejectsOf(['series_id,date,value', `${id},2024-01-02,2`], observations), [
        ['series_id', expected],
      ]);
      t.deepEqual(await rejectsOf([`date,${id}`, '2024-01-02,2'], { wide: true }), [[id, expected]]);
      t.deepEqual(await rejectsOf(['series_id,name', `${id},Other`], { dataset: 'series' }), [
        ['series_id', expected],
      ]);
      t.deepEqual(await rejectsOf(['series_id,text', `${id},Note`], { dataset: 'footnotes' }), [
        ['series_id', expected],
      ]);
      const calendar = [
        'release_id,title,source,release_at,time_zone,series_ids',
        `r2,P,T,2024-07-01T09:00,UTC,FREE;${id}`,
      ];
      t.deepEqual(await rejectsOf(calendar, { dataset: 'calendar' }), [['series_ids', expected]]);
    }
    t.deepEqual(await stored(), before);
  },
);

test.serial(
  'facts are set by the types of their columns, in one load, and the previous ones are recorded',
  async (t) => {
    await loaded(['FACTS,2024-01-01,1']);
    const before = await seriesRow(database, 'FACTS');
    const result = await changed(
      'FACTS',
      {
        ...{ licence: 'CC BY 4.0', name: ' Prices, all ', decimals: '2', tags: 'prices;cost "of" living' },
        ...{ unit: 'Index', licence_url: 'https://example.org/by', frequency: 'Daily' },
      },
      { reason: 'published so' },
    );
    const row = await seriesRow(database, 'FACTS');
    t.like(row, {
      ...{ name: 'Prices, all', licence: 'CC BY 4.0', licence_url: 'https://example.org/by', decimals: 2 },
      ...{ tags: ['prices', 'cost "of" living'], data_version: result.loadNo },
    });
    for (const kept of ['unit', 'frequency', 'source', 'observation_count', 'last_updated', 'first_date'])
      t.deepEqual(row?.[kept], before?.[kept], kept);
    const changes = [
      { fact: 'name', from: 'FACTS', to: 'Prices, all' },
      { fact: 'decimals', from: null, to: 2 },
      { fact: 'licence', from: null, to: 'CC BY 4.0' },
      { fact: 'licence_url', from: null, to: 'https://example.org/by' },
      { fact: 'tags', from: [], to: ['prices', 'cost "of" living'] },
    ];
    t.deepEqual(result.changes, changes);
    t.deepEqual(
      await database.query(
        'select action, subject, load_no::int, reason, details from data.audit_events order by event_no desc limit 1',
      ),
      [
        {
          ...{ action: 'series.changed', subject: 'FACTS', load_no: result.loadNo, reason: 'published so' },
          details: { changes },
        },
      ],
    );
    const [load] = await database.query(
      'select dataset, source_name, points_revised::int from data.loads order by load_no desc limit 1',
    );
    t.deepEqual(load, { dataset: 'series', source_name: 'series.changed', points_revised: 1 });
    t.like((await writtenEvents(database)).at(-1), {
      type: 'dataset.updated',
      data: { load: result.loadNo, dataset: 'series', rows_changed: 1 },
    });
  },
);

test.serial('an empty value clears a fact that is not required', async (t) => {
  await changed('FACTS', { licence: '', tags: '', decimals: ' ' });
  t.like(await seriesRow(database, 'FACTS'), {
    ...{ licence: null, tags: [], decimals: null },
    ...{ name: 'Prices, all', licence_url: 'https://example.org/by' },
  });
});

test.serial('facts that cannot be set are refused with the reason, and nothing is changed', async (t) => {
  await loaded(['WRONG,2024-01-01,1']);
  const before = await stored();
  for (const [id, facts, expected] of [
    ['NONE', { name: 'X' }, /^not_found: There is no series "NONE"/],
    ['OTHER', { name: 'X' }, /^conflict: "OTHER" is an earlier id of the series "OTHER.NEW"/],
    ['TRASH.NEW', { name: 'X' }, /^conflict: "TRASH.NEW" was deleted on 2024-06-30.*series restore/],
    [
      'WRONG',
      { colour: 'blue', first_date: '2024-01-01' },
      /^invalid_parameter: colour, first_date cannot be set; a series has name, unit,/,
    ],
    ['WRONG', { series_id: 'RIGHT' }, /^invalid_parameter: series_id is changed by: almanac series rename/],
    ['WRONG', { name: '' }, /^invalid_parameter: name="": text of at most 500 characters is expected/],
    [
      'WRONG',
      { name: 'New', decimals: '31' },
      /^invalid_parameter: decimals="31": a whole number from 0 to 30 is expected/,
    ],
    ['WRONG', { licence_url: 'http://example.org' }, /^invalid_parameter: licence_url=.*https/],
    [
      'WRONG',
      { name: 'New', frequency: 'monthly' },
      /^conflict: "WRONG" has observations, which are dated by its frequency/,
    ],
    ['WRONG', { fiscal_year_end: '06-30' }, /^conflict: .*dated by its fiscal_year_end/],
    ['WRONG', { unit: 'Index', source: 'Test' }, /^conflict: "WRONG" has these facts already/],
    [
      'commodity.rice',
      { unit: 'PKR', licence: 'X' },
      /^conflict: .*an item, from which it gets its unit\. To change the item, load the dataset commodity-items/,
    ],
  ] as const)
    t.regex(await refusal(changed(id, facts)), expected);
  t.deepEqual(await stored(), before);
});

test.serial('a dry run says what would be changed, and stores nothing', async (t) => {
  const before = await stored();
  t.deepEqual((await changed('WRONG', { name: 'Right' }, { dryRun: true })).changes, [
    { fact: 'name', from: 'WRONG', to: 'Right' },
  ]);
  t.deepEqual(await stored(), before);
});

test.serial('a series without observations may be given another frequency', async (t) => {
  await loadCsv(database, ['series_id,name,unit,frequency,source', 'UNDATED,N,I,daily,S'], {
    dataset: 'series',
  });
  await changed('UNDATED', { frequency: 'annual', fiscal_year_end: '06-30' });
  t.like(await seriesRow(database, 'UNDATED'), { frequency: 'annual', fiscal_year_end: '06-30' });
});

test.serial('facts that the item of a series does not determine can be set', async (t) => {
  await changed('commodity.rice', { licence: 'CC0' });
  t.like(await seriesRow(database, 'commodity.rice'), { licence: 'CC0', unit: 'PKR per 1 Kg' });
});

test.serial(
  'a reason that is empty or longer than 1000 characters is refused before anything is written',
  async (t) => {
    await loaded(['REASON,2024-01-01,1']);
    const before = await stored();
    for (const reason of ['', ' ', 'x'.repeat(1_001)])
      t.is(
        await refusal(renamed('REASON', 'REASON.NEW', { reason })),
        'invalid_parameter: A reason is a text of 1 to 1000 characters.',
      );
    t.deepEqual(await stored(), before);
    await renamed('REASON', 'REASON.NEW', { reason: 'x'.repeat(1_000) });
    t.not(await seriesRow(database, 'REASON.NEW'), undefined);
  },
);

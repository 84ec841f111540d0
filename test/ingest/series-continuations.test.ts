// Series that continue as others, of another frequency, by the command line: refusals and their reasons, records and reports.
import test from 'ava';
import { declareBreak, removeBreak } from '../../ingest/history/series/break.ts';
import { declareContinuation, type ContinuationOptions } from '../../ingest/history/series/continuation.ts';
import { deleteSeries } from '../../ingest/history/series/delete.ts';
import { mergeSeries } from '../../ingest/history/series/merge.ts';
import { renameSeries } from '../../ingest/history/series/rename.ts';
import { Failure } from '../../kernel/errors.ts';
import { fakeClock } from '../services/harness.ts';
import { writtenEvents } from '../services/outbox.ts';
import { loadCsv, openIngestDatabase, published, seriesRow, today } from './loading.ts';

const database = await openIngestDatabase(test);
const how = { noGateway: true, seriesTimeZone: 'UTC', clock: fakeClock(`${today}T12:00:00Z`) };

const declared = (
  id: string,
  continuedBy: string,
  frequency: string,
  options: Partial<ContinuationOptions> = {},
) => declareContinuation(database, { ...how, id, continuedBy, frequency, from: '2024-04', ...options });
const removed = (id: string, from: string) => removeBreak(database, { ...how, id, from });

async function refusal(change: Promise<unknown>): Promise<string> {
  try {
    await change;
  } catch (error) {
    if (error instanceof Failure) return `${error.code}: ${error.message}`;
    throw error;
  }
  throw new Error('the change should have been refused');
}

const continuations = () =>
  database.query<{ id: string; continuedBy: string }>(
    `select o.series_id as id, c.date, n.series_id as "continuedBy", c.note, c.declared_on, c.load_no::int
     from data.series_continuations c join data.series o using (series_no)
     join data.series n on n.series_no = c.continued_by order by 1`,
  );

/** Everything that a refused change or a dry run must not modify. */
const stored = async () => [
  await continuations(),
  await database.query(
    `select s.*, s.xmin::text, (select count(*) from data.series_breaks) as breaks,
       (select count(*) from data.loads) as loads, (select count(*) from data.audit_events) as events,
       (select count(*) from events.outbox) as reported
     from data.series s order by series_id`,
  ),
];

const load = (frequency: string, ...lines: string[]) =>
  loadCsv(database, ['series_id,date,value', ...lines], {
    ...{ create: true, set: { frequency, unit: 'Index', source: 'Office' }, vintage: '2024-05-01' },
  });

test.before(async () => {
  await load(
    'monthly',
    ...['M', 'M.GONE', 'M.OLD', 'M.MORE', 'M.OTHER', 'M.AGAIN'].flatMap((id) => [
      `${id},2024-02,1`,
      `${id},2024-03,2`,
    ]),
    'M.MORE,2024-04,',
    'M.MORE,2024-05,4',
    'M.MORE,2024-06,4',
  );
  await loadCsv(
    database,
    ['series_id,date,value', 'M.MORE,2024-02,1', 'M.MORE,2024-04,', 'M.MORE,2024-05,5'],
    {
      ...{ vintage: '2024-05-02', full: true },
    },
  );
  await load('quarterly', 'Q,2023-Q4,1', 'Q,2024-Q1,2', 'Q,2024-Q2,3', 'Q.OTHER,2024-Q1,1');
  await deleteSeries(database, { ...how, id: 'M.GONE' });
  await renameSeries(database, { ...how, id: 'M.OLD', newId: 'M.NEW' });
  await loadCsv(database, ['item_id,name,unit,currency,frequency,source', 'rice,Rice,1 Kg,PKR,daily,PBS'], {
    dataset: 'commodity-items',
  });
});

test.serial(
  'a continuation is recorded as a load, and no point of either of the two series changes',
  async (t) => {
    const points = [await published(database, 'M'), await published(database, 'Q')];
    const result = await declared('M', 'Q', 'quarterly', { note: ' By quarter ', reason: 'a survey less' });
    const changes = [{ fact: 'frequency', from: 'monthly', to: 'quarterly' }];
    t.deepEqual(result.changes, changes);
    t.is(result.series, 'M');
    t.deepEqual(await continuations(), [
      {
        ...{ id: 'M', date: '2024-04-01', continuedBy: 'Q', note: 'By quarter' },
        ...{ declared_on: today, load_no: result.loadNo },
      },
    ]);
    t.deepEqual([await published(database, 'M'), await published(database, 'Q')], points);
    t.like(await seriesRow(database, 'M'), { frequency: 'monthly', data_version: result.loadNo });
    t.like(await seriesRow(database, 'Q'), { frequency: 'quarterly', data_version: result.loadNo });
    t.deepEqual(
      await database.query(
        'select action, subject, load_no::int, reason, details from data.audit_events order by event_no desc limit 1',
      ),
      [
        {
          ...{ action: 'series.break_declared', subject: 'M', load_no: result.loadNo },
          reason: 'a survey less',
          details: { date: '2024-04-01', note: 'By quarter', changes, continued_by: 'Q' },
        },
      ],
    );
    t.deepEqual(
      await database.query('select dataset, source_name, reason from data.loads where load_no = $1', [
        result.loadNo,
      ]),
      [{ dataset: 'series', source_name: 'series.break_declared', reason: 'a survey less' }],
    );
    t.like((await writtenEvents(database)).at(-1), {
      type: 'dataset.updated',
      data: { load: result.loadNo, dataset: 'series', rows_changed: 1 },
    });
  },
);

test.serial('an impossible continuation is refused with the reason, and nothing is changed', async (t) => {
  await declareBreak(database, { ...how, id: 'M.AGAIN', from: '2024-02', facts: { unit: 'Points' } });
  const before = await stored();
  const merged = (id: string, into: string) => mergeSeries(database, { ...how, id, into });
  for (const [change, expected] of [
    [declared('NONE', 'Q', 'quarterly'), /^not_found: There is no series "NONE"/],
    [declared('M.NEW', 'NONE', 'quarterly'), /^not_found: There is no series "NONE"/],
    [declared('M.GONE', 'Q', 'quarterly'), /^conflict: "M.GONE" was deleted on/],
    [declared('Q', 'M.GONE', 'monthly', { from: '2024-Q4' }), /^conflict: "M.GONE" was deleted on/],
    [declared('M.OLD', 'Q', 'quarterly'), /^conflict: "M.OLD" is an earlier id of the series "M.NEW"/],
    [declared('Q', 'M.OLD', 'monthly'), /^conflict: "M.OLD" is an earlier id of the series "M.NEW"/],
    [declared('commodity.rice', 'Q', 'quarterly'), /^conflict: .*prices of an item/],
    [declared('M.NEW', 'Q', 'hourly'), /^invalid_parameter: --frequency hourly: one of daily, weekly, /],
    [declared('M.NEW', 'Q', 'annual'), /^conflict: "Q" is quarterly, not annual/],
    [declared('M.NEW', 'M.OTHER', 'monthly'), /^conflict: "M.NEW" and "M.OTHER" are both monthly: .*merge/],
    [declared('M.NEW', 'M.NEW', 'monthly'), /^conflict: "M.NEW" cannot continue itself/],
    [declared('M.NEW', 'Q', 'quarterly', { from: 'soon' }), /^invalid_parameter: --from soon: a day or/],
    [declared('M.NEW', 'Q', 'quarterly', { note: ' ' }), /^invalid_parameter: A note is a text of 1 to 2000/],
    [
      declared('M.MORE', 'Q', 'quarterly'),
      /^conflict: "M.MORE" has 2 points from 2024-04-01 on, the last at 2024-05-31: .*name a later date/,
    ],
    [
      declared('M.NEW', 'Q', 'quarterly', { from: '2024-03-31' }),
      /^conflict: "M.NEW" has a point from 2024-03-31 on, the last at 2024-03-31/,
    ],
    [
      declared('M.AGAIN', 'Q', 'quarterly', { from: '2024-02' }),
      /^conflict: "M.AGAIN" has a break at 2024-02-01; another one must be later/,
    ],
    [
      declared('M', 'Q.OTHER', 'quarterly', { from: '2025' }),
      /^conflict: "M" is continued by "Q" from 2024-04-01, .*almanac series break M --from 2024-04-01 --remove/,
    ],
    [
      declareBreak(database, { ...how, id: 'M', from: '2025', facts: { unit: 'X' } }),
      /^conflict: "M" is continued by "Q" from 2024-04-01, so it has no later breaks/,
    ],
    [
      declared('Q', 'M', 'monthly', { from: '2025' }),
      /^conflict: "M" is continued by "Q", which cannot be continued by "M" too/,
    ],
    [removed('M', '2024-05'), /^conflict: The last break of "M" is at 2024-04-01: remove that one first/],
    [removed('Q', '2024-04'), /^conflict: "Q" has no break/],
    [merged('M', 'M.NEW'), /^conflict: "M" is continued by "Q" .*cannot be merged/],
    [merged('M.NEW', 'M'), /^conflict: "M" is continued by "Q" .*cannot be merged/],
    [merged('Q.OTHER', 'Q'), /^conflict: "M" is continued by "Q" .*cannot be merged/],
  ] as const)
    t.regex(await refusal(change), expected);
  t.deepEqual(await stored(), before);
});

test.serial('continuations can form a chain, but never a circle', async (t) => {
  await declared('Q', 'M.NEW', 'monthly', { from: '2025' });
  await declared('M.NEW', 'Q.OTHER', 'quarterly', { from: '2026' });
  t.regex(
    await refusal(declared('Q.OTHER', 'M', 'monthly', { from: '2027' }).then(() => removed('M', '2024-04'))),
    /^conflict: "M" is continued by "Q.OTHER", which cannot be continued by "M" too/,
  );
  await removed('M.NEW', '2026');
  await declared('Q.OTHER', 'M', 'monthly', { from: '2027' });
  for (const [id, from] of [
    ['Q.OTHER', '2027'],
    ['Q', '2025'],
  ] as const)
    await removed(id, from);
  t.deepEqual(
    (await continuations()).map(({ id }) => id),
    ['M'],
  );
});

test.serial('a dry run reports the changes, and stores nothing', async (t) => {
  const before = await stored();
  t.like(await declared('M.MORE', 'Q', 'quarterly', { from: '2024-06', dryRun: true }), {
    changes: [{ fact: 'frequency', from: 'monthly', to: 'quarterly' }],
  });
  t.deepEqual(await stored(), before);
});

test.serial('several series can continue as one, also after a break of the unit', async (t) => {
  await declared('M.AGAIN', 'Q', 'quarterly');
  t.deepEqual(
    (await continuations()).map(({ id, continuedBy }) => [id, continuedBy]),
    [
      ['M', 'Q'],
      ['M.AGAIN', 'Q'],
    ],
  );
});

test.serial('a continuation can be removed, and then the break before it', async (t) => {
  const { loadNo } = await removed('M.AGAIN', '2024-04-01');
  t.like(await seriesRow(database, 'M.AGAIN'), { unit: 'Points', data_version: loadNo });
  t.like(await seriesRow(database, 'Q'), { data_version: loadNo });
  t.deepEqual(
    await database.query('select action, details from data.audit_events order by event_no desc limit 1'),
    [{ action: 'series.break_removed', details: { date: '2024-04-01', continued_by: 'Q' } }],
  );
  await removed('M.AGAIN', '2024-02');
  t.like(await seriesRow(database, 'M.AGAIN'), { unit: 'Index' });
  await removed('M', '2024-04');
  t.deepEqual(await continuations(), []);
});

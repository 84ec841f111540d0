// Breaks of series by the command line: refusals and their reasons, records and reports.
import test from 'ava';
import { declareBreak, removeBreak, type BreakOptions } from '../../ingest/history/series/break.ts';
import { deleteSeries } from '../../ingest/history/series/delete.ts';
import { mergeSeries } from '../../ingest/history/series/merge.ts';
import { Failure } from '../../kernel/errors.ts';
import { fakeClock } from '../services/harness.ts';
import { writtenEvents } from '../services/outbox.ts';
import { daily, loadCsv, openIngestDatabase, published, seriesRow, today } from './loading.ts';

const database = await openIngestDatabase(test);
const how = { noGateway: true, seriesTimeZone: 'UTC', clock: fakeClock(`${today}T12:00:00Z`) };

const declared = (id: string, from: string, unit: string, options: Partial<BreakOptions> = {}) =>
  declareBreak(database, { ...how, id, from, facts: { unit }, ...options });
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

/** Everything that a refused change or a dry run must not modify. */
const stored = () =>
  database.query(
    `select s.*, s.xmin::text, (select count(*) from data.series_breaks) as breaks,
       (select count(*) from data.loads) as loads, (select count(*) from data.audit_events) as events,
       (select count(*) from events.outbox) as reported
     from data.series s order by series_id`,
  );

test.before(async () => {
  await loadCsv(
    database,
    ['series_id,date,value', ...['CPI', 'GONE', 'OTHER'].map((id) => `${id},2024-01-01,1`)],
    {
      ...{ create: true, set: daily, vintage: '2024-02-01' },
    },
  );
  await deleteSeries(database, { ...how, id: 'GONE' });
  await loadCsv(database, ['item_id,name,unit,currency,frequency,source', 'rice,Rice,1 Kg,PKR,daily,PBS'], {
    dataset: 'commodity-items',
  });
});

test.serial('a break is recorded as a load with its change, and no point changes', async (t) => {
  const points = await published(database, 'CPI');
  const result = await declared('CPI', '2024-Q2', 'Index 2020=100', {
    note: ' New base ',
    reason: 'rebased',
  });
  const changes = [{ fact: 'unit', from: 'Index', to: 'Index 2020=100' }];
  t.deepEqual(result.changes, changes);
  t.like(await seriesRow(database, 'CPI'), { unit: 'Index 2020=100', data_version: result.loadNo });
  t.deepEqual(await published(database, 'CPI'), points);
  t.deepEqual(
    await database.query(
      'select date, from_unit, from_unit_multiplier, note, declared_on, load_no::int from data.series_breaks',
    ),
    [
      {
        ...{ date: '2024-04-01', from_unit: 'Index', from_unit_multiplier: null, note: 'New base' },
        ...{ declared_on: today, load_no: result.loadNo },
      },
    ],
  );
  t.deepEqual(
    await database.query(
      'select action, subject, load_no::int, reason, details from data.audit_events order by event_no desc limit 1',
    ),
    [
      {
        ...{ action: 'series.break_declared', subject: 'CPI', load_no: result.loadNo, reason: 'rebased' },
        details: { date: '2024-04-01', note: ' New base ', changes },
      },
    ],
  );
  t.like((await writtenEvents(database)).at(-1), {
    type: 'dataset.updated',
    data: { load: result.loadNo, dataset: 'series', rows_changed: 1 },
  });
});

test.serial('an impossible break is refused with the reason, and nothing is changed', async (t) => {
  const before = await stored();
  const facts = (given: Record<string, string>) => declared('OTHER', '2024', '', { facts: given });
  for (const [change, expected] of [
    [declared('NONE', '2024', 'X'), /^not_found: There is no series "NONE"/],
    [declared('GONE', '2024', 'X'), /^conflict: "GONE" was deleted on/],
    [declared('commodity.rice', '2024', 'X'), /^conflict: .*prices of an item, from which it gets its unit/],
    [declared('OTHER', 'soon', 'X'), /^invalid_parameter: --from soon: a day or a period/],
    [declared('OTHER', '2024', 'Index'), /^conflict: "OTHER" has that unit already\. .*almanac series set/],
    [declared('OTHER', '2024', ''), /^invalid_parameter: unit="": a break needs/],
    [
      declared('CPI', '2024-04-01', 'X'),
      /^conflict: "CPI" has a break at 2024-04-01; another one must be later/,
    ],
    [declared('CPI', '2023', 'X'), /^conflict: "CPI" has a break at 2024-04-01/],
    [
      declared('OTHER', '2024', 'X', { note: ' ' }),
      /^invalid_parameter: A note is a text of 1 to 2000 characters/,
    ],
    [facts({}), /^invalid_parameter: A break is a change of unit or unit_multiplier\.$/],
    [
      facts({ name: 'X', unit: 'Y' }),
      /^invalid_parameter: A break is a change of unit or unit_multiplier, not of name/,
    ],
    [facts({ frequency: 'weekly' }), /^invalid_parameter: A series has one frequency.*as another series/],
    [facts({ colour: 'X' }), /^invalid_parameter: colour cannot be set/],
    [removed('OTHER', '2024'), /^conflict: "OTHER" has no break/],
    [removed('CPI', '2024'), /^conflict: The last break of "CPI" is at 2024-04-01: remove that one first/],
    [
      mergeSeries(database, { ...how, id: 'OTHER', into: 'CPI' }),
      /^conflict: "CPI" has points of several units/,
    ],
    [
      mergeSeries(database, { ...how, id: 'CPI', into: 'OTHER' }),
      /^conflict: "CPI" has points of several units/,
    ],
  ] as const)
    t.regex(await refusal(change), expected);
  t.deepEqual(await stored(), before);
});

test.serial('a dry run reports the changes of a break, and stores nothing', async (t) => {
  const before = await stored();
  t.like(await declared('CPI', '2024-05', 'Points', { dryRun: true }), {
    changes: [{ fact: 'unit', from: 'Index 2020=100', to: 'Points' }],
  });
  t.deepEqual(await stored(), before);
});

test.serial(
  'the last break can be removed: the series has the unit and the multiplier from before it',
  async (t) => {
    await declared('CPI', '2024-05', 'Points', { facts: { unit: 'Points', unit_multiplier: '3' } });
    t.like(await seriesRow(database, 'CPI'), { unit: 'Points', unit_multiplier: 3 });
    const { loadNo } = await removed('CPI', '2024-05');
    t.like(await seriesRow(database, 'CPI'), {
      ...{ unit: 'Index 2020=100', unit_multiplier: null, data_version: loadNo },
    });
    t.deepEqual(
      await database.query('select action, details from data.audit_events order by event_no desc limit 1'),
      [{ action: 'series.break_removed', details: { date: '2024-05-01' } }],
    );
    await removed('CPI', '2024-04-01');
    t.like(await seriesRow(database, 'CPI'), { unit: 'Index' });
    t.deepEqual(await database.query('select from data.series_breaks'), []);
  },
);

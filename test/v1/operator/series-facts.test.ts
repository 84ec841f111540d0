// /v1/operator/series: an operator finds missing facts, and sets the facts of many series at once.
import test from 'ava';
import { codeOf } from '../../auth/people.ts';
import { fakeClock } from '../../services/harness.ts';
import { startServices } from '../../services/services.ts';
import { dataOf, messageOf, newOperator, type Operating } from './operating.ts';

interface Row {
  id: string;
  name: string;
  unit: string | null;
  source: string | null;
  decimals: number | null;
  tags: string[];
  fixed: string[];
}

interface Report {
  load?: number;
  series_changed: number;
  series_unchanged: number;
  series: { id: string; changes: { fact: string; from: unknown; to: unknown }[] }[];
  faults: { id: string; fact: string | null; reason: string }[];
}

const clock = fakeClock('2026-11-20T10:00:00.000Z');
const services = await startServices({ clock, publisher: true });
let operator: Operating;

test.before(async () => {
  operator = await newOperator(services);
  const set = { frequency: 'monthly' };
  await services.ingest('series_id,date,value\nCPI.A,2026-09,1\n', {
    set: { ...set, name: 'Prices, food', unit: 'Index', source: 'Bureau' },
  });
  await services.ingest('series_id,date,value\nCPI.B,2026-09,1\n', {
    set: { ...set, name: 'Prices, rent', source: 'Bureau' },
  });
  await services.ingest('series_id,date,value\nGDP,2026-09,1\n', {
    set: { ...set, name: '100 % of_output' },
  });
  await services.database.query(`update data.series set unit = null where series_id in ('CPI.B', 'GDP')`);
  await services.database.query(`update data.series set source = null where series_id = 'GDP'`);
  await services.database.query(
    `insert into data.series (series_id, name, frequency, deleted_on) values ('GONE', 'Gone', 'daily', '2026-11-01')`,
  );
});
test.after.always(() => services.close());

const listed = async (query = '') => dataOf<Row[]>(await operator.get(`/series${query}`));
const idsOf = async (query: string) => (await listed(query)).map(({ id }) => id);
const rowOf = async (id: string) => (await listed(`?q=${id}`)).find((row) => row.id === id);
const set = (body: object) => operator.patch('/series', body);

/** Everything that a refused change or a dry run must not modify. */
const stored = () =>
  services.database.query(
    `select series_id, data_version, xmin::text, (select count(*) from data.loads) as loads,
       (select count(*) from data.audit_events) as events from data.series order by series_id`,
  );

test.serial('series are listed with all their facts, and those that cannot be changed', async (t) => {
  t.deepEqual(await idsOf(''), ['CPI.A', 'CPI.B', 'GDP'], 'a deleted series has no facts to set');
  t.deepEqual((await listed('?q=cpi.a'))[0] as object, {
    ...{ id: 'CPI.A', name: 'Prices, food', unit: 'Index', frequency: 'monthly', source: 'Bureau' },
    ...{
      description: null,
      geography: null,
      seasonal_adjustment: null,
      unit_multiplier: null,
      decimals: null,
    },
    ...{
      licence: null,
      licence_url: null,
      attribution: null,
      fiscal_year_end: null,
      tags: [],
      category: null,
    },
    ...{ methodology_url: null, fixed: ['frequency', 'fiscal_year_end'] },
  });
});

test.serial('the list is filtered by text, source and missing facts, and paged in both orders', async (t) => {
  t.deepEqual(await idsOf('?q=RENT'), ['CPI.B']);
  t.deepEqual(await idsOf('?q=cpi'), ['CPI.A', 'CPI.B']);
  t.deepEqual(await idsOf('?q=%25%20of_'), ['GDP'], 'no character is a pattern');
  t.deepEqual(await idsOf('?q=_'), ['GDP']);
  t.deepEqual(await idsOf('?source=bure'), ['CPI.A', 'CPI.B']);
  t.deepEqual(await idsOf('?source=%25'), []);
  t.deepEqual(await idsOf('?missing=unit'), ['CPI.B', 'GDP']);
  t.deepEqual(await idsOf('?missing=source'), ['GDP']);
  t.deepEqual(await idsOf('?missing=unit,source&source=Bureau'), ['CPI.B']);
  t.deepEqual(await idsOf('?missing=tags&q=CPI.A'), ['CPI.A']);
  for (const [sort, expected] of [
    ['id', ['CPI.A', 'CPI.B', 'GDP']],
    ['-id', ['GDP', 'CPI.B', 'CPI.A']],
  ] as const) {
    const paged: string[] = [];
    for (let cursor = ''; ;) {
      const { json } = await operator.get(`/series?sort=${sort}&limit=1${cursor}`);
      const page = json as { data: Row[]; pagination: { next_cursor: string | null } };
      paged.push(...page.data.map(({ id }) => id));
      if (page.pagination.next_cursor === null) break;
      cursor = `&cursor=${page.pagination.next_cursor}`;
    }
    t.deepEqual(paged, [...expected], sort);
  }
  const refused = await operator.get('/series?missing=name');
  t.is(codeOf(refused), 'invalid_parameter', 'each series has a name');
  t.regex(messageOf(refused), /must be one or more of unit, source, description/);
});

test.serial('a dry run lists the changes that would be made, and stores nothing', async (t) => {
  const before = await stored();
  const answer = await set({
    dry_run: true,
    series: [
      { id: 'GDP', facts: { unit: 'Percent', decimals: 1, tags: ['output', 'growth'] } },
      { id: 'CPI.A', facts: { unit: 'Index' } },
    ],
  });
  t.deepEqual(dataOf<object>(answer), {
    ...{ dry_run: true, series_changed: 1, series_unchanged: 1, faults: [] },
    series: [
      {
        id: 'GDP',
        changes: [
          { fact: 'unit', from: null, to: 'Percent' },
          { fact: 'decimals', from: null, to: 1 },
          { fact: 'tags', from: [], to: ['output', 'growth'] },
        ],
      },
    ],
  });
  t.deepEqual(await stored(), before);
});

test.serial(
  'facts of many series are one load, visible once it is answered and recorded with the operator; null clears a fact',
  async (t) => {
    const done = dataOf<Report>(
      await set({
        reason: 'licences published',
        series: [
          { id: 'CPI.B', facts: { unit: 'Index', source: null, licence_url: 'https://example.org/l' } },
          { id: 'GDP', facts: { decimals: 2, tags: ['output'] } },
        ],
      }),
    );
    t.like(done, { series_changed: 2, series_unchanged: 0, faults: [] });
    t.like(await rowOf('CPI.B'), { unit: 'Index', source: null, name: 'Prices, rent' });
    t.like(await rowOf('GDP'), { decimals: 2, tags: ['output'] });
    const { key } = await services.accountWithKey();
    const { json } = await services.call('/v1/catalog/CPI.B', { key });
    t.like((json as { data: object }).data, { unit: 'Index', source: null });
    const load = dataOf<{ by: string }>(await operator.get(`/loads/${done.load}`));
    t.like(load, {
      ...{ dataset: 'series', source_name: 'series.changed', reason: 'licences published' },
    });
    t.true(load.by.endsWith(` by almanac operators for ${operator.accountId}`), load.by);
    const events = await services.database.query<{ subject: string; actor: string; details: object }>(
      'select subject, actor, details from data.audit_events where load_no = $1 order by event_no',
      [done.load],
    );
    t.deepEqual(
      events.map(({ subject, details }) => ({ id: subject, ...details })),
      done.series,
    );
    for (const { actor } of events) t.true(actor.endsWith(`, ${operator.accountId}`), actor);
    const cleared = await set({ series: [{ id: 'GDP', facts: { decimals: null, tags: [] } }] });
    t.is(cleared.status, 200);
    t.like(await rowOf('GDP'), { decimals: null, tags: [] });
  },
);

test.serial(
  'all faults are named by series with the allowed values, and a single fault prevents all changes',
  async (t) => {
    const before = await stored();
    const series = [
      { id: 'CPI.A', facts: { unit: 'Changed' } },
      { id: 'NONE', facts: { unit: 'x' } },
      { id: 'GONE', facts: { unit: 'x' } },
      { id: 'CPI.B', facts: { decimals: 31, colour: 'red', frequency: 'daily' } },
      { id: 'CPI.A', facts: { name: null, unit: 'x'.repeat(201) } },
      { id: 'GDP', facts: { licence_url: 'http://example.org', unit: 'a\u0000b' } },
    ];
    const { faults, ...report } = dataOf<Report>(await set({ series, dry_run: true }));
    t.like(report, { series_changed: 0, series_unchanged: 0, series: [] });
    t.deepEqual(
      faults.map(({ id, fact }) => [id, fact]),
      [
        ...[['NONE', null], ['GONE', null], ['CPI.B', 'decimals'], ['CPI.B', 'colour'], ['CPI.B', null]], // prettier-ignore
        ...[['CPI.A', null], ['CPI.A', 'name'], ['CPI.A', 'unit'], ['GDP', 'licence_url'], ['GDP', 'unit']], // prettier-ignore
      ],
    );
    const reasons = faults.map(({ reason }) => reason);
    for (const [at, expected] of [
      /^There is no series "NONE"\.$/,
      /^"GONE" was deleted on 2026-11-01/,
      /^decimals="31": a whole number from 0 to 30 is expected\.$/,
      /^"colour" is not a fact of a series, which has name, unit/,
      /^"CPI\.B" has observations, which are dated by its frequency/,
      /^"CPI\.A" is given twice\.$/,
      /^name="": text of at most 500 characters is expected\.$/,
      /^unit="x{60}…": text of at most 200 characters is expected\.$/,
      /a URL that begins with https:/,
      /^unit="a\0b": text of at most 200 characters is expected\.$/,
    ].entries())
      t.regex(reasons[at] ?? '', expected);
    const refused = await set({ series });
    t.is(refused.status, 400);
    t.is(codeOf(refused), 'invalid_body');
    const [head, first, ...rest] = messageOf(refused).split('\n');
    t.is(head, 'The request has 10 faults; nothing was changed.');
    t.is(first, '  NONE: There is no series "NONE".');
    t.is(rest.length, 9);
    t.deepEqual(await stored(), before);
  },
);

test.serial('texts that PostgreSQL cannot store are refused like other invalid ones', async (t) => {
  const before = await stored();
  for (const odd of ['a\u0000b', 'a\ud800b']) {
    for (const body of [
      { series: [{ id: odd, facts: { unit: 'x' } }] },
      { series: [{ id: 'GDP', facts: { unit: odd } }] },
      { series: [{ id: 'GDP', facts: { unit: 'x' } }], reason: odd },
    ])
      t.is(codeOf(await set(body)), 'invalid_body', JSON.stringify(body));
    t.is(codeOf(await operator.post('/loads/1/retraction', { reason: odd })), 'invalid_body');
  }
  t.deepEqual(await stored(), before);
});

test.serial('setting facts that all series already have is a conflict, as on the command line', async (t) => {
  const answer = await set({ series: [{ id: 'CPI.A', facts: { unit: 'Index' } }] });
  t.is(answer.status, 409);
  t.is(messageOf(answer), 'All series have these facts already.');
});

test.serial(
  'of two operators who edit a fact at once, the second is refused and sees the value of the first',
  async (t) => {
    const wish = (unit: string) => ({ id: 'CPI.A', facts: { unit, tags: ['prices'] } });
    const foreseen = dataOf<Report>(await set({ series: [wish('Percent')], dry_run: true }));
    const before = Object.fromEntries(
      foreseen.series[0]?.changes.map(({ fact, from }) => [fact, from]) ?? [],
    );
    const unit = (await rowOf('CPI.A'))?.unit;
    t.is((await set({ series: [{ id: 'CPI.A', facts: { unit: 'Points' } }] })).status, 200);
    const late = await set({ series: [{ ...wish('Percent'), before }] });
    t.is(codeOf(late), 'conflict');
    t.is(
      messageOf(late),
      `"unit" of CPI.A is "Points", no longer "${unit}": it was changed meanwhile. Look at the changes again.`,
    );
    t.is((await rowOf('CPI.A'))?.unit, 'Points');
    const informed = { ...before, unit: 'Points' };
    t.is((await set({ series: [{ ...wish(unit ?? ''), before: informed }] })).status, 200);
  },
);

test.serial('the body has at most 200 series, and invalid fields are named', async (t) => {
  const many = Array.from({ length: 201 }, (_, i) => ({ id: `S.${i}`, facts: { unit: 'x' } }));
  for (const [body, expected] of [
    [{ series: many }, /"series" must have at most 200 series/],
    [{ series: [] }, /"series" must have at least one series/],
    [{}, /"series" is required: it must be a list of series/],
    [
      { series: [{ id: 'GDP' }] },
      /"series\.0\.facts" of "GDP" is required: it must have facts with their values/,
    ],
    [
      { series: [{ id: 'GDP', facts: { unit: true } }] },
      /"series\.0\.facts\.unit" of "GDP" must be a text, a number/,
    ],
    [
      { series: [{ id: 'GDP', facts: { tags: ['a;b'] } }] },
      /"series\.0\.facts\.tags.*" of "GDP" must have no semicolon/,
    ],
    [{ series: many.slice(1), dryrun: true }, /"dryrun" is not a known field\. Did you mean "dry_run"\?/],
  ] as const) {
    const answer = await set(body);
    t.is(codeOf(answer), 'invalid_body');
    t.regex(messageOf(answer), expected);
  }
  const answer = await set({ series: many.slice(1), dry_run: true });
  t.is(dataOf<Report>(answer).faults.length, 200);
});

test.serial('while a load is running the change is refused at once, and nothing is changed', async (t) => {
  const body = { series: [{ id: 'CPI.A', facts: { unit: 'Percent' } }] };
  await services.database.transaction(async (on) => {
    await on.query('select pg_advisory_xact_lock(4115202)');
    const refused = await set(body);
    t.is(codeOf(refused), 'unavailable');
    t.regex(messageOf(refused), /A load is running/);
    t.truthy(refused.headers.get('retry-after'));
  });
  t.like(await rowOf('CPI.A'), { unit: 'Index' });
  t.is((await set(body)).status, 200);
});

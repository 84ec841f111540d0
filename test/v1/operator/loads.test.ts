// /v1/operator/loads: the record of loads for an operator, and their retraction.
import test from 'ava';
import { selectReleases } from '../../../ingest/publisher/releases/embargo.sql.ts';
import { codeOf } from '../../auth/people.ts';
import { until } from '../../run/until.ts';
import { fakeClock } from '../../services/harness.ts';
import { startServices } from '../../services/services.ts';
import { dataOf, messageOf, newOperator, type Operating } from './operating.ts';

interface Row {
  load: number;
  kind: string;
  status: string;
  retracted_by: number | null;
  retractable: boolean;
  erasable: boolean;
  by: string;
}

interface Sources {
  loaded_at: string;
  source_name: string;
}

const clock = fakeClock('2026-11-20T10:00:00.000Z');
const services = await startServices({ clock, publisher: true });
let operator: Operating;
test.before(async () => {
  operator = await newOperator(services);
});
test.after.always(() => services.close());

/** Loads two months of a new series. @returns the number of the load. */
async function newLoad(id: string, values = '1', vintage = '2026-11-01'): Promise<number> {
  await services.ingest(`series_id,date,value\n${id},2026-09,${values}\n${id},2026-10,${values}\n`, {
    vintage,
    set: { name: id },
  });
  const [newest] = dataOf<Row[]>(await operator.get('/loads?limit=1'));
  return newest?.load ?? 0;
}

const pointsOf = async (id: string) => {
  const { key } = await services.accountWithKey();
  const { json } = await services.call(`/v1/series/${id}`, { key });
  return (json as { data: { value: number }[] }).data.map(({ value }) => value);
};

test.serial('a load is listed with its counts, who loaded it, and whether it can be retracted', async (t) => {
  const load = await newLoad('LISTED');
  const answer = await operator.get(`/loads/${load}`);
  t.is(answer.status, 200);
  const { by, loaded_at: _, source_name: file, ...data } = dataOf<Row & Sources>(answer);
  t.deepEqual(data as object, {
    ...{ load, dataset: 'observations', vintage: '2026-11-01', complete: false },
    ...{ kind: 'load', retracts: null, erases: false, reason: null, status: 'in_force', retracted_by: null },
    ...{
      retractable: true,
      not_retractable_because: null,
      erasable: true,
      part_of: null,
      rows_read: 2,
      rows_rejected: 0,
    },
    ...{ points_new: 2, points_revised: 0, points_unchanged: 0, points_deleted: 0 },
    ...{ series_count: 1, series: ['LISTED'] },
  });
  t.regex(file, /\/data\.csv$/);
  t.regex(by, /^\S+ from (?:[\d.:a-f]+|this machine)(?:\/\d+)? by tests$/);
});

test.serial(
  'a retraction is visible once it is answered, is listed with the operator, and can be retracted itself',
  async (t) => {
    await newLoad('UNDONE', '1');
    const load = await newLoad('UNDONE', '2', '2026-11-02');
    t.deepEqual(await pointsOf('UNDONE'), [2, 2]);
    const dryRun = await operator.post(`/loads/${load}/retraction`, { dry_run: true });
    t.like(dataOf(dryRun), { dry_run: true, loads: [load], effect: 'out_of_force', points_revised: 2 });
    t.false('load' in dataOf<object>(dryRun));
    t.deepEqual(await pointsOf('UNDONE'), [2, 2], 'a dry run stores nothing');

    const done = await operator.post(`/loads/${load}/retraction`, { reason: 'decimal point lost' });
    t.is(done.status, 200);
    const report = dataOf<{ load: number }>(done);
    t.like(report, { dry_run: false, loads: [load], effect: 'out_of_force', since: '2026-11-20' });
    t.deepEqual(await pointsOf('UNDONE'), [1, 1]);
    const retraction = dataOf<Row>(await operator.get(`/loads/${report.load}`));
    t.like(retraction, {
      kind: 'retraction',
      retracts: load,
      reason: 'decimal point lost',
      status: 'in_force',
    });
    t.true(retraction.by.endsWith(` by almanac operators for ${operator.accountId}`), retraction.by);
    t.like(dataOf(await operator.get(`/loads/${load}`)), {
      ...{ status: 'retracted', retracted_by: report.load, retractable: false, erasable: true },
    });
    const [event] = await services.database.query<{ actor: string }>(
      'select actor from data.audit_events where load_no = $1',
      [report.load],
    );
    t.regex(event?.actor ?? '', new RegExp(`^almanac operators, \\w+, ${operator.accountId}$`));

    const again = await operator.post(`/loads/${load}/retraction`, {});
    t.is(again.status, 409);
    t.regex(messageOf(again), /is already retracted/);
    t.is((await operator.post(`/loads/${report.load}/retraction`, {})).status, 200);
    t.deepEqual(await pointsOf('UNDONE'), [2, 2]);
  },
);

test.serial('an erased load is also removed from the history', async (t) => {
  const load = await newLoad('ERASED');
  t.like(dataOf(await operator.post(`/loads/${load}/retraction`, { erase: true })), { effect: 'erased' });
  t.like(dataOf(await operator.get(`/loads/${load}`)), {
    status: 'erased',
    retractable: false,
    erasable: false,
  });
  t.deepEqual(await pointsOf('ERASED'), []);
});

test.serial(
  'a load of a dataset whose rows are referenced by others cannot be retracted; a load of prices cannot be erased',
  async (t) => {
    await newLoad('TABLE');
    const { load: renamed } = dataOf<Row[]>(await operator.get('/loads?limit=1'))[0] ?? { load: 0 };
    await services.database.query(`update data.loads set dataset = 'funds' where load_no = $1`, [renamed]);
    t.like(dataOf(await operator.get(`/loads/${renamed}`)), { retractable: false, erasable: false });
    await services.database.query(
      `update data.loads set dataset = 'nav', states_columns = '{nav}' where load_no = $1`,
      [renamed],
    );
    t.like(dataOf(await operator.get(`/loads/${renamed}`)), { retractable: true, erasable: false });
    await services.database.query(`update data.loads set dataset = 'funds' where load_no = $1`, [renamed]);
    const refused = await operator.post(`/loads/${renamed}/retraction`, {});
    t.like(dataOf(await operator.get(`/loads/${renamed}`)), { not_retractable_because: messageOf(refused) });
    t.is(codeOf(refused), 'conflict');
    t.regex(messageOf(refused), /to whose rows other rows refer: it cannot be retracted/);
  },
);

test.serial(
  'for a load of a version that did not keep replaced rows, the list has the same reason as the refused retraction',
  async (t) => {
    const loads: number[] = [];
    for (const id of ['OLD.A', 'OLD.B', 'OLD.C', 'OLD.D']) loads.push(await newLoad(id));
    const [first = 0, before = 0, unkept = 0, after = 0] = loads;
    await services.database.query(
      `update data.loads set dataset = 'nav', states_columns = case when load_no = any($2) then null else '{nav}'::text[] end
     where load_no = any($1)`,
      [loads, [first, unkept]],
    );
    for (const load of [before, unkept]) {
      const row = dataOf<Row>(await operator.get(`/loads/${load}`));
      const refused = messageOf(await operator.post(`/loads/${load}/retraction`, {}));
      t.like(row, { retractable: false, not_retractable_because: refused, status: 'in_force' });
      t.regex(
        refused,
        load === before
          ? new RegExp(`Load ${unkept}, which came after it, was made by a version`)
          : /\. It was made by a version/,
      );
    }
    t.like(dataOf(await operator.get(`/loads/${after}`)), {
      retractable: true,
      not_retractable_because: null,
    });
    const listed = dataOf<Row[]>(await operator.get('/loads?dataset=nav'));
    t.deepEqual(
      listed.filter(({ load }) => loads.includes(load)).map(({ retractable }) => retractable),
      [true, false, false, false],
    );
  },
);

test.serial('the list is filtered by dataset, kind and status, and paged in both orders', async (t) => {
  const rows = async (query: string) => dataOf<Row[]>(await operator.get(`/loads?${query}`));
  const all = await rows('limit=1000');
  const numbers = all.map(({ load }) => load);
  t.deepEqual(
    numbers,
    [...numbers].sort((a, b) => b - a),
  );
  for (const filter of ['kind', 'status'] as const) {
    const values = [...new Set(all.map((row) => row[filter]))];
    t.true(values.length > 1);
    for (const value of values)
      t.deepEqual(
        await rows(`${filter}=${value}`),
        all.filter((row) => row[filter] === value),
        value,
      );
  }
  t.deepEqual((await rows('dataset=funds')).length, 1);
  for (const [sort, expected] of [
    ['-load', numbers],
    ['load', numbers.toReversed()],
  ] as const) {
    const paged: number[] = [];
    for (let cursor = ''; ;) {
      const { json } = await operator.get(`/loads?sort=${sort}&limit=2${cursor}`);
      const page = json as { data: Row[]; pagination: { next_cursor: string | null } };
      paged.push(...page.data.map(({ load }) => load));
      if (page.pagination.next_cursor === null) break;
      cursor = `&cursor=${page.pagination.next_cursor}`;
    }
    t.deepEqual(paged, [...expected], sort);
  }
  const csv = await operator.get('/loads?format=csv&fields=load,kind');
  t.is(csv.text.split('\r\n')[0], 'load,kind');
  t.is(csv.text.trim().split('\r\n').length, all.length + 1);
});

test.serial('an invalid number and unknown fields are refused', async (t) => {
  for (const number of ['0', '-1', '1.5', 'x', '999999', '9999999999999999'])
    for (const answer of [
      await operator.get(`/loads/${number}`),
      await operator.post(`/loads/${number}/retraction`, {}),
    ])
      t.is(codeOf(answer), 'not_found', number);
  for (const body of [{ erase: 'yes' }, { reason: ' ' }, { reason: 'x'.repeat(1001) }, { force: true }, []])
    t.is(codeOf(await operator.post('/loads/1/retraction', body)), 'invalid_body', JSON.stringify(body));
});

test.serial('while a load is running a retraction is refused at once, and nothing is changed', async (t) => {
  const load = await newLoad('BUSY');
  await services.database.transaction(async (on) => {
    await on.query('select pg_advisory_xact_lock(4115202)');
    const refused = await operator.post(`/loads/${load}/retraction`, {});
    t.is(codeOf(refused), 'unavailable');
    t.regex(messageOf(refused), /A load is running/);
    t.truthy(refused.headers.get('retry-after'));
  });
  t.is((await operator.post(`/loads/${load}/retraction`, { dry_run: true })).status, 200);
});

test.serial(
  'a release that becomes due interrupts a retraction, which restarts afterwards and reports the interruption',
  async (t) => {
    const { database } = services;
    const load = await newLoad('INTERRUPTED');
    const answer = await database.transaction(async (on) => {
      await on.query('lock table data.audit_events in share mode'); // the audit row is written last
      const retraction = operator.post(`/loads/${load}/retraction`, {});
      await until(
        'it waits, with the load lock',
        async () =>
          (
            await database.query(
              `select from pg_locks where relation = 'data.audit_events'::regclass and not granted
               and database = (select oid from pg_database where datname = current_database())`,
            )
          ).length > 0,
      );
      // Less than its lead time from now, so the publisher begins at once. The check is omitted, as it would wait for the lock.
      const [release] = await database.query<{ release_no: number }>(
        `with release as (
           insert into embargo.releases (release_at, dataset, source_name, options, created_at, lead_ms, file_bytes, file_sha256, checked)
           values (clock_timestamp() + interval '2 s', 'amcs', 'a.csv', '{"seriesTimeZone": "UTC"}', now(), 5000, 0, repeat('0', 64), '{}')
           returning release_no)
         insert into embargo.pieces select release_no, 0, convert_to($1, 'UTF8') from release returning release_no`,
        ['amc_id,name,source\ndue,Due,Tests\n'],
      );
      const releaseNo = release?.release_no ?? 0;
      await until('the release is made', async () => (await stateOfRelease(releaseNo)) === 'released');
      return { retraction, releaseNo };
    });
    const { status, json } = await answer.retraction;
    t.is(status, 200);
    const report = (json as { data: { effect: string; interruptions: { release: number }[] } }).data;
    t.is(report.effect, 'out_of_force');
    t.deepEqual(
      report.interruptions.map(({ release }) => release),
      [answer.releaseNo],
    );
    t.deepEqual(await pointsOf('INTERRUPTED'), []);
  },
);

async function stateOfRelease(releaseNo: number): Promise<string> {
  const [release] = await selectReleases(services.database, releaseNo);
  if (release?.state === 'failed') throw new Error(JSON.stringify(release.outcome));
  return release?.state ?? 'gone';
}

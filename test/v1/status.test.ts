import test from 'ava';
import { publicCaller, startDataService } from '../services/data-service.ts';
import { makeSeries, publish } from './series-fixture.ts';

interface Status {
  data: {
    state: string;
    checked_at: string;
    components: { name: string; state: string }[];
    sources: {
      source: string;
      last_success_at: string | null;
      last_data_date: string | null;
      series_count: number;
      [field: string]: unknown;
    }[];
  };
}

test('the status reports the freshness of every source, and that the database is gone when it is', async (t) => {
  const service = await startDataService('2026-06-15T12:00:00Z');
  await makeSeries(service.pool, { id: 'A', source: 'Central Bank' });
  await makeSeries(service.pool, { id: 'B', source: 'Central Bank' });
  await makeSeries(service.pool, { id: 'C', source: 'Bureau' });
  await publish(service.pool, 'A', '2024-05-02', [{ date: '2024-04-30', value: '1' }]);
  await publish(service.pool, 'B', '2024-05-02', [{ date: '2024-03-31', value: '1' }]);
  const read = async () => (await service.call('/v1/status', { identity: publicCaller })).json as Status;

  const { data } = await read();
  t.is(data.state, 'operational');
  t.is(data.checked_at, '2026-06-15T12:00:00Z');
  const [bureau, bank] = data.sources;
  t.deepEqual(bureau, {
    source: 'Bureau',
    state: 'empty',
    last_success_at: null,
    last_data_date: null,
    series_count: 1,
    last_release_at: null,
    next_release_at: null,
    lag_hours: null,
  });
  t.is(bank?.source, 'Central Bank');
  t.is(bank?.['state'], 'unscheduled', 'nobody knows when it should come');
  t.is(bank?.series_count, 2);
  t.is(bank?.last_data_date, '2024-04-30');
  t.regex(bank?.last_success_at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

  await service.pool.query('alter table data.series rename to gone');
  service.clock.advance(1_000); // a service caches the sources for a second
  const down = await read();
  t.is(down.data.state, 'degraded');
  t.deepEqual(down.data.components.at(-1), { name: 'database', state: 'down' });
  t.deepEqual(down.data.sources, []);
  await service.close();
});

test('a source is late by the hours since a release that is not loaded, and current once it is', async (t) => {
  const service = await startDataService('2026-06-15T12:00:00Z');
  await makeSeries(service.pool, { id: 'A', source: 'Bureau' });
  await publish(service.pool, 'A', '2026-06-01', [{ date: '2026-05-31', value: '1' }]);
  await service.pool.query(`update data.loads set loaded_at = '2026-06-01 09:00Z'`);
  const release = (id: string, at: string, more = `null, '{}'`) =>
    service.pool
      .query(`insert into data.releases (release_id, title, source, release_at, time_zone, status, series_ids)
      values ('${id}', 'T', 'Bureau', '${at}', 'UTC', ${more})`);
  const read = async () => {
    service.clock.advance(1_000);
    return ((await service.call('/v1/status', { identity: publicCaller })).json as Status).data.sources[0];
  };
  await release('old', '2026-06-01 08:00Z');
  await release('next', '2026-07-01 08:00Z');
  t.like(await read(), {
    state: 'current',
    lag_hours: 0,
    last_release_at: '2026-06-01T08:00:00Z',
    next_release_at: '2026-07-01T08:00:00Z',
  });
  await release('off', '2026-06-14 08:00Z', `'cancelled', '{}'`);
  t.like(await read(), { state: 'current', lag_hours: 0 });
  await release('due', '2026-06-15 09:00Z');
  t.like(await read(), { state: 'due', lag_hours: 3 });
  await release('named', '2026-06-10 12:00Z', `null, '{A}'`);
  t.like(await read(), { state: 'late', lag_hours: 120, last_release_at: '2026-06-10T12:00:00Z' });
  await service.pool.query(`update data.loads set loaded_at = '2026-06-15 10:00Z'`);
  t.like(await read(), { state: 'current', lag_hours: 0 });

  // Another loaded series of the source does not replace the released one.
  await makeSeries(service.pool, { id: 'B', source: 'Bureau' });
  await release('of B', '2026-06-13 12:00Z', `null, '{B}'`);
  t.like(await read(), { state: 'late', lag_hours: 48, last_release_at: '2026-06-13T12:00:00Z' });
  await publish(service.pool, 'B', '2026-06-15', [{ date: '2026-05-31', value: '1' }]);
  t.like(await read(), { state: 'current', lag_hours: 0 });
  await service.close();
});

test('a release that is not loaded is due for a day, and late from the end of that day on', async (t) => {
  const service = await startDataService('2026-06-14T09:30:00Z');
  t.teardown(() => service.close());
  await makeSeries(service.pool, { id: 'A', source: 'Bureau' });
  await publish(service.pool, 'A', '2026-06-01', [{ date: '2026-05-31', value: '1' }]);
  await service.pool.query(`update data.loads set loaded_at = '2026-06-01 09:00Z'`);
  await service.pool.query(`insert into data.releases (release_id, title, source, release_at, time_zone)
    values ('r', 'T', 'Bureau', '2026-06-14 09:30Z', 'UTC')`);
  for (const [instant, state, lag_hours] of [
    ['2026-06-14T09:29:59Z', 'current', null],
    ['2026-06-14T09:30:00Z', 'due', 0],
    ['2026-06-14T10:29:59Z', 'due', 0],
    ['2026-06-14T10:30:00Z', 'due', 1],
    ['2026-06-15T09:29:59Z', 'due', 23],
    ['2026-06-15T09:30:00Z', 'late', 24],
    ['2026-06-16T09:30:00Z', 'late', 48],
  ] as const) {
    service.clock.set(instant);
    const { data } = (await service.call('/v1/status', { identity: publicCaller })).json as Status;
    t.like(data.sources[0], { state, lag_hours }, instant);
  }
});

test('a coming release does not make a source late, although it names the series', async (t) => {
  const service = await startDataService('2026-06-15T12:00:00Z');
  t.teardown(() => service.close());
  await makeSeries(service.pool, { id: 'A', source: 'Bureau' });
  await publish(service.pool, 'A', '2026-06-01', [{ date: '2026-05-31', value: '1' }]);
  await service.pool.query(`update data.loads set loaded_at = '2026-06-01 09:00Z'`);
  await service.pool
    .query(`insert into data.releases (release_id, title, source, release_at, time_zone, series_ids)
    values ('before', 'T', 'Bureau', '2026-05-20 09:30Z', 'UTC', '{A}'), ('next', 'T', 'Bureau', '2026-06-20 09:30Z', 'UTC', '{A}')`);
  const { data } = (await service.call('/v1/status', { identity: publicCaller })).json as Status;
  t.like(data.sources[0], { state: 'current', lag_hours: 0, next_release_at: '2026-06-20T09:30:00Z' });
});

test('a cancelled or delayed release does not make a source late', async (t) => {
  const service = await startDataService('2026-06-15T12:00:00Z');
  t.teardown(() => service.close());
  await makeSeries(service.pool, { id: 'A', source: 'Bureau' });
  await publish(service.pool, 'A', '2026-06-01', [{ date: '2026-05-31', value: '1' }]);
  await service.pool.query(`update data.loads set loaded_at = '2026-06-01 09:00Z'`);
  for (const [status, state] of [
    ['cancelled', 'current'],
    ['delayed', 'current'],
    ['released', 'late'],
    ['scheduled', 'late'],
    [null, 'late'],
  ] as const) {
    for (const named of ['{}', '{A}']) {
      await service.pool.query('delete from data.releases');
      await service.pool.query(
        `insert into data.releases (release_id, title, source, release_at, time_zone, status, series_ids)
         values ('before', 'T', 'Bureau', '2026-06-01 08:00Z', 'UTC', null, $2),
           ('r', 'T', 'Bureau', '2026-06-10 08:00Z', 'UTC', $1, $2)`,
        [status, named],
      );
      service.clock.advance(1_000);
      const { data } = (await service.call('/v1/status', { identity: publicCaller })).json as Status;
      t.like(data.sources[0], { state }, `${status} ${named}`);
    }
  }
});

test('the status reports the sources that are fetched by schedule, and nothing of their URLs', async (t) => {
  const service = await startDataService('2026-11-23T12:00:00Z');
  t.teardown(() => service.close());
  const read = async () => {
    service.clock.advance(1_000);
    return (await service.call('/v1/status', { identity: publicCaller })).json as {
      data: { fetched: object[] };
    };
  };
  t.deepEqual((await read()).data.fetched, []);
  await service.pool.query(
    `insert into embargo.sources (name, publication, url, sheet, entry, schedule, registered_at, fetch_at, fetched_at, changed_at, failures,
       failing_since, outcome)
     values ('p.a', 'p', 'https://office.example/a.csv?token=secret', '', '{"series": {"id": "A", "source": "Bureau"}}', 'hourly',
         '2026-11-01Z', '2026-11-23 12:06Z', '2026-11-23 12:01Z', '2026-11-22 10:00Z', 2, '2026-11-23 12:00Z', '{"message": "reason"}'),
       ('p.b', 'p', 'https://office.example/b.csv', '', '{"series": {"id": "B", "source": "{Publisher}"}}', 'daily 10:30',
         '2026-11-01Z', '2026-11-24 10:30Z', null, null, 0, null, null)`,
  );
  const reported = await read();
  t.deepEqual(reported.data.fetched, [
    {
      ...{ name: 'p.a', source: 'Bureau', schedule: 'hourly', last_fetch_at: '2026-11-23T12:01:00Z' },
      ...{ last_change_at: '2026-11-22T10:00:00Z', failures: 2, next_fetch_at: '2026-11-23T12:06:00Z' },
    },
    {
      ...{ name: 'p.b', source: null, schedule: 'daily 10:30', last_fetch_at: null },
      ...{ last_change_at: null, failures: 0, next_fetch_at: '2026-11-24T10:30:00Z' },
    },
  ]);
  t.notRegex(JSON.stringify(reported), /office\.example|secret|reason/);
});

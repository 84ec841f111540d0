// The sources of a publication are those in its almanac.yml: registered, changed and ended by almanac publish.
import test from 'ava';
import { registerSources } from '../../ingest/publisher/sources/register.ts';
import { selectSources } from '../../ingest/publisher/sources/sources.sql.ts';
import { createAddressGuard } from '../../kernel/outbound/address-guard.ts';
import { january, local, start, table, openSourceTests } from './fetching.ts';

const { database, startHere } = await openSourceTests(test);

test.serial(
  'the sources of a publication are those of its almanac.yml: changed, ended, and nothing by a dry run',
  async (t) => {
    const here = await startHere(t);
    here.server.serve(january);
    const [one, two] = [here.url('?n=1'), here.url('?n=2')];
    const b = `${here.id}B`;
    const both = table(here.id, one, 'schedule: hourly') + table(b, two, 'schedule: daily 10:30');
    await here.publishes(both, { dryRun: true });
    t.deepEqual(await selectSources(database), []);
    await here.publishes(both);
    const name = `${here.id}.${here.id}`;
    t.deepEqual(
      (await selectSources(database)).map((source) => [
        source.name,
        source.url,
        source.fetchAt.toISOString(),
      ]),
      [
        [name, one, '2026-11-23T09:00:00.000Z'],
        [`${name}.2`, two, '2026-11-23T10:30:00.000Z'],
      ],
    );
    t.deepEqual((await here.publishes(both)).sources, { added: [], changed: [], ended: [], refused: [] });

    const edited = table(here.id, one, 'schedule: weekly mon 08:30').replace('unit: USD', 'unit: EUR');
    const dry = await here.publishes(edited, { dryRun: true });
    t.deepEqual(dry.sources.ended, [`${name}.2`]);
    t.is((await selectSources(database)).length, 2);
    const { sources } = await here.publishes(edited);
    t.deepEqual(sources.changed, [
      { name, schedule: 'weekly mon 08:30', fetchAt: new Date('2026-11-23T08:30:00Z') },
    ]);
    t.deepEqual(sources.ended, [`${name}.2`]);
    const [left, ...more] = await selectSources(database);
    t.deepEqual(more, []);
    t.like(left?.entry, { series: { unit: 'EUR' } });
    t.deepEqual((await here.publishes(table(here.id, one))).sources.ended, [name], 'no schedule any more');
    t.deepEqual(await selectSources(database), []);
  },
);

test.serial(
  'an entry that is not confirmed, that is skipped, or whose URL is refused is not registered',
  async (t) => {
    const here = await startHere(t);
    here.server.serve(january);
    const guessed = table(here.id, here.url('?1'), 'schedule: hourly\n    guessed: [series.unit]');
    const skipped = table(here.id, here.url('?2'), 'schedule: hourly\n    skip: not this one');
    const { sources } = await here.publishes(guessed + skipped);
    t.deepEqual(sources, { added: [], changed: [], ended: [], refused: [] });
    const refused = await here.publishes(
      table(here.id, 'http://169.254.169.254/latest?token=secret', 'schedule: hourly'),
    );
    t.deepEqual(refused.sources.refused, [
      {
        path: 'http://169.254.169.254/latest',
        reason:
          'It cannot be fetched by schedule: its URL must have a host with a public address, and an allowed port.',
      },
    ]);
    t.deepEqual(await selectSources(database), []);
  },
);

test.serial('an entry edited while its server is unavailable is loaded by the next fetch', async (t) => {
  const here = await startHere(t);
  here.server.serve(january);
  await here.publishes(table(here.id, here.url(), 'schedule: hourly'));
  here.clock.set('2026-11-23T09:00:00Z');
  t.deepEqual(Object.values(await here.due()), ['unchanged']);
  here.server.fail(503);
  const edited = table(here.id, here.url(), 'schedule: hourly').replace('unit: USD', 'unit: EUR');
  const { sources } = await here.publishes(edited);
  t.is(sources.changed.length, 1);
  here.server.serve(january);
  here.clock.set('2026-11-23T10:00:00Z');
  t.deepEqual(Object.values(await here.due()), ['loaded'], 'although its content is as it was');
  const [series] = await database.query<{ unit: string }>(
    'select unit from data.series where series_id = $1',
    [here.id],
  );
  t.is(series?.unit, 'EUR');
});

test.serial('an almanac.yml that is written for the first time ends nothing', async (t) => {
  const here = await startHere(t);
  here.server.serve(january);
  await here.publishes(table(here.id, here.url(), 'schedule: hourly'));
  const rules = {
    seriesTimeZone: 'UTC',
    now: new Date(start),
    guard: createAddressGuard(local),
    dryRun: false,
  };
  const empty = { version: 1 as const, name: here.id, tables: [] };
  t.deepEqual((await registerSources(database, empty, { ...rules, isNew: true })).ended, []);
  t.is((await selectSources(database)).length, 1);
  t.is((await registerSources(database, empty, { ...rules, isNew: false })).ended.length, 1);
});

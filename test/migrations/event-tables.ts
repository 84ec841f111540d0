// The constraints of schema events, and of the releases that were reported, as cases.
import { at, ids, ofAccount, one, twoAccounts } from './account-rows.ts';
import { checksOf, key, type TableCases } from './tables.ts';

function outbox(): TableCases {
  const is = checksOf('outbox');
  const id = ids('evt_', 20);
  const [first, second] = ['a', 'b'].map((letter) => `evt_${letter.repeat(20)}`) as [string, string];
  const row = { type: 'series.updated', data: '{}', at };
  const numbered = { ...row, position: '1', id: first };
  const series = (count: number) => `{${Array.from({ length: count }, (_, i) => `S${i}`).join(',')}}`;
  return {
    table: 'events.outbox',
    before: twoAccounts,
    row,
    filled: ['position', 'id'],
    cases: [
      key('outbox_pkey', ['position'], numbered, { position: '2', id: second }),
      key('outbox_id_key', ['id'], numbered, { position: '2', id: second }),
      ...is.pattern('id', id.accepted, id.refused),
      ...is.pattern(
        'type',
        ['a.b', 'usage.threshold_reached'],
        ['', 'a', 'a.', '.b', 'a.b.c', 'A.b', 'a.b '],
      ),
      ...is.check(
        'series_check',
        [{ series: '{}' }, { series: series(251) }],
        [{ series: series(1) }, { series: series(250) }],
      ),
      ...is.check(
        'data_check',
        ['[]', '1', 'null', '""'].map((data) => ({ data })),
        [{ data: '{"a": 1}' }],
      ),
      ...is.check('check', [{ account_id: one, series: '{A}' }], [{ account_id: one }, { series: '{A}' }]),
    ],
    references: [ofAccount('outbox', 'account_id', { account_id: one })],
  };
}

function updates(): TableCases {
  const is = checksOf('updates');
  const id = ids('evt_', 20);
  const [first, second] = ['a', 'b'].map((letter) => `evt_${letter.repeat(20)}`) as [string, string];
  const row = { type: 'series.updated', data: '{}', at };
  const numbered = { ...row, position: '1', id: first };
  const series = (count: number) => `{${Array.from({ length: count }, (_, i) => `S${i}`).join(',')}}`;
  return {
    table: 'data.updates',
    row,
    filled: ['position', 'id'],
    cases: [
      key('updates_pkey', ['position'], numbered, { position: '2', id: second }),
      key('updates_id_key', ['id'], numbered, { position: '2', id: second }),
      ...is.pattern('id', id.accepted, id.refused),
      ...is.pattern('type', ['a.b', 'series.updated'], ['', 'a', 'a.', '.b', 'a.b.c', 'A.b', 'a.b ']),
      ...is.check(
        'series_check',
        [{ series: '{}' }, { series: series(251) }],
        [{ series: series(1) }, { series: series(250) }],
      ),
      ...is.check(
        'data_check',
        ['[]', '1', 'null', '""'].map((data) => ({ data })),
        [{ data: '{"a": 1}' }],
      ),
    ],
  };
}

function publishedReleases(): TableCases {
  const row = { release_id: 'r', load_no: '1' };
  return {
    table: 'data.published_releases',
    before: [
      `insert into data.loads (load_no, dataset, source_name, vintage, complete)
       overriding system value values (1, 'observations', '-', '2026-11-20', false), (2, 'observations', '-', '2026-11-21', false)`,
      `insert into data.releases (release_id, title, source, release_at, time_zone)
       values ('r', 'R', 'Tests', '${at}', 'UTC'), ('s', 'S', 'Tests', '${at}', 'UTC')`,
    ],
    row,
    cases: [key('published_releases_pkey', ['release_id'], row, { release_id: 's', load_no: '2' })],
    references: [
      {
        constraint: 'published_releases_release_id_fkey',
        refused: { release_id: 't' },
        deleteParent: 'delete from data.releases',
        outcome: 'the row goes too',
      },
      {
        constraint: 'published_releases_load_no_fkey',
        refused: { load_no: '3' },
        deleteParent: 'delete from data.loads',
        outcome: 'it is refused',
      },
    ],
  };
}

/** Every table of schema events, and those of schema data that record reported events. */
export const eventTables: readonly TableCases[] = [outbox(), updates(), publishedReleases()];

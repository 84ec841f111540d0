// Backups of the last version before the baseline of the migrations.
import path from 'node:path';
import test from 'ava';
import {
  folder,
  file,
  stateBefore,
  backUpDemo,
  removeBackups,
  type Query,
  onDatabase,
  emptyDatabase,
  withoutNumbers,
  changed,
} from './backed-up.ts';

test.before(backUpDemo);
test.after.always(removeBackups);

const withMigrations = (list: string, of = file) =>
  changed((text) => text.replace(/"migrations":\[[^\]]*\]/, `"migrations":[${list}]`), of);
const first = '{"name":"000001_data","checksum":"1"}';
const last =
  '{"name":"000160_heartbeat","checksum":"e737a6fc67ef8b3ac5c4fd18bebe63eb512295de73c0fc01da55cb2e166ecaa8"}';
const ofBeforeBaseline = (of: string) => withMigrations(`${first},${last}`, of);

const linesTables = ['data.confirmations', 'data.observations', 'data.statements', 'data.series_dims'];

/** Adds the columns by which the last version before the baseline identified a line: the series, and a number within it. */
async function nameLinesAsBefore(query: Query): Promise<void> {
  await query(`create temp table lines as
    select line_no, series_no, row_number() over (partition by series_no order by line_no) - 1 as dims_no from data.series_dims`);
  for (const table of linesTables) {
    await query(
      `alter table ${table} add column if not exists series_no integer, add column dims_no integer`,
    );
    await query(
      `update ${table} o set series_no = d.series_no, dims_no = d.dims_no from lines d where d.line_no = o.line_no`,
    );
    await query(`alter table ${table} drop column line_no cascade`);
  }
}

/** All that is stored of points, by their series; and its combinations of dimension values in their order. */
function pointsOf(url: string): Promise<Record<string, unknown>[]> {
  const rowsOf = (table: string) => `
    select count(*)::int as rows, md5(string_agg(r, '|' order by r)) as content from (
      select concat(series_no, dims, to_jsonb(o) - 'line_no') as r from ${table} o join data.series_dims using (line_no)) r`;
  return onDatabase(url, (query) =>
    query(
      `${linesTables.slice(0, 3).map(rowsOf).join(' union all ')}
       union all select count(*)::int, md5(string_agg(concat(series_no, dims), '|' order by series_no, line_no)) from data.series_dims`,
    ),
  );
}

test.serial(
  'a backup of the last version before the baseline is restored, and one of an earlier version is refused',
  async (t) => {
    const target = await emptyDatabase(t);
    for (const list of [first, last.replace('e737', 'e738'), `${first},${last.replace('e737', 'e738')}`]) {
      const refused = await target.almanac(['restore', withMigrations(list)]);
      t.is(refused.code, 1);
      t.regex(refused.stderr, /with another schema/);
    }
    t.is((await target.almanac(['restore', file])).code, 0);
    const pointsBefore = await pointsOf(target.url);
    const older = path.join(folder, 'older.gz');
    await onDatabase(target.url, async (query) => {
      await query('alter table data.series drop column row_version');
      await query('drop table embargo.interruptions, data.facet_counts');
      await query('drop function data.refresh_search');
      await query('alter table data.search_entries drop column geography cascade');
      await nameLinesAsBefore(query);
    });
    t.is((await target.almanac(['backup', older])).code, 0);
    const other = await emptyDatabase(t);
    const lacking = await other.almanac(['restore', older]);
    t.is(lacking.code, 1, 'only a backup of before may lack a column or a table');
    t.regex(lacking.stderr, /are not those of the backup/);
    const { code, stderr } = await other.almanac(['restore', ofBeforeBaseline(older)]);
    t.is(code, 0, stderr);
    t.deepEqual(await pointsOf(other.url), pointsBefore);
    const [stateOfOther, ofOldest] = [withoutNumbers(await other.state()), withoutNumbers(stateBefore)];
    for (const table of [...linesTables, 'data.series', 'embargo.interruptions'])
      for (const state of [stateOfOther, ofOldest]) state[table] = null;
    t.deepEqual(stateOfOther, ofOldest);
    const versions = 'select count(*)::int as series, max(row_version)::int as newest from data.series';
    const [row] = await onDatabase(other.url, (query) => query(versions));
    t.like(row, { newest: 0 });
  },
);

test.serial('a backup from before the baseline is refused if a row refers to no line', async (t) => {
  const changedBefore = await emptyDatabase(t);
  t.is((await changedBefore.almanac(['restore', file])).code, 0);
  await onDatabase(changedBefore.url, async (query) => {
    await nameLinesAsBefore(query);
    await query(
      'update data.observations set dims_no = 9999 where ctid = (select min(ctid) from data.observations)',
    );
  });
  const older = path.join(folder, 'lines.gz');
  t.is((await changedBefore.almanac(['backup', older])).code, 0);
  const target = await emptyDatabase(t);
  const before = await target.state();
  const { code, stderr } = await target.almanac(['restore', ofBeforeBaseline(older)]);
  t.is(code, 1);
  t.regex(stderr, /is damaged: data\.observations has rows of combinations of dimension values that/);
  t.deepEqual(await target.state(), before);
});

// almanac migrate --partitions: splits data.observations by a hash of the line, so that each vacuum, and each rebuilt index, has a part of the rows.
// Columns, checks, settings, rights and indexes are those of the table, so that they are declared in the migrations only.
import { SteadyClient } from '../kernel/database-circuit.ts';
import { entryAt } from '../kernel/entries.ts';

/** The fewest and the most partitions: each read of many lines plans, and each connection caches, all of them. */
export const partitionsBounds = { min: 2, max: 256 } as const;

/**
 * Copies the observations into a partitioned table, in one transaction. Services that read or load wait until it has ended.
 * @param count within `partitionsBounds`.
 * @throws Error if the table is partitioned already. Error from PostgreSQL: nothing has changed then.
 */
export async function partitionObservations(databaseUrl: string, count: number): Promise<void> {
  const client = new SteadyClient({ connectionString: databaseUrl, application_name: 'almanac partitions' });
  await client.connect();
  try {
    await client.query('begin');
    await client.query('lock table data.observations in access exclusive mode');
    const table = entryAt((await client.query<Table>(tableStatement)).rows, 0);
    if (table.partitions > 0)
      throw new Error(
        `data.observations has ${table.partitions} partitions already. To change their number, run "almanac backup", and restore it into an empty database.`,
      );
    await client.query(statementsFor(table, count).join(';\n'));
    await client.query('commit');
    await client.query('analyze data.observations');
  } finally {
    await client.end(); // rolls back what is not committed
  }
}

interface Table {
  partitions: number;
  comment: string;
  settings: string[];
  grants: string[];
  indexes: { name: string; definition: string }[];
  /** Those that read the table. */
  views: { name: string; definition: string }[];
}

const tableStatement = `
  select (select count(*)::int from pg_inherits where inhparent = c.oid) as partitions,
    quote_literal(obj_description(c.oid)) as comment, coalesce(c.reloptions, '{}') as settings,
    array(select format('grant %s on data.observations to %s', privilege_type, grantee::regrole)
          from aclexplode(c.relacl) where grantee <> c.relowner) as grants,
    array(select jsonb_build_object('name', indexrelid::regclass, 'definition', pg_get_indexdef(indexrelid))
          from pg_index where indrelid = c.oid order by indexrelid) as indexes,
    array(select distinct jsonb_build_object('name', ev_class::regclass, 'definition', pg_get_viewdef(ev_class))
          from pg_depend d join pg_rewrite r on r.oid = d.objid
          where d.classid = 'pg_rewrite'::regclass and d.refobjid = c.oid) as views
  from pg_class c where c.oid = 'data.observations'::regclass`;

function statementsFor({ comment, settings, grants, indexes, views }: Table, count: number): string[] {
  const parts = Array.from({ length: count }, (_, i) => `data.observations_${String(i).padStart(3, '0')}`);
  const withSettings = settings.length === 0 ? '' : ` with (${settings.join(', ')})`;
  return [
    ...indexes.map(({ name }) => `drop index ${name}`),
    'alter table data.observations rename to observations_whole',
    'create table data.observations (like data.observations_whole including all) partition by hash (line_no)',
    `comment on table data.observations is ${comment}`,
    ...grants,
    ...parts.map(
      (part, i) =>
        `create table ${part} partition of data.observations for values with (modulus ${count}, remainder ${i})${withSettings}`,
    ),
    'insert into data.observations select * from data.observations_whole',
    ...views.map(
      ({ name, definition }) => `create or replace view ${name} as ${definition.replace(/;$/, '')}`,
    ),
    'drop table data.observations_whole',
    ...indexes.map(({ definition }) => definition),
  ];
}

// The statement of the updates. An answer scans a bounded number of them, even if few match.
import { z } from 'zod';
import type { Queryable } from '../../kernel/database.ts';
import { entryAt } from '../../kernel/entries.ts';
import type { updateTypes } from '../../kernel/events/catalogue.ts';
import { utc } from '../instants.sql.ts';
import type { Conditions } from '../list.sql.ts';
import { presentId } from '../series/stored/series.sql.ts';

/** An update as it is sent. */
export const updateShape = {
  cursor: z.string().describe('Its place in the order.'),
  id: z.string().describe('The id of the event, as in the deliveries of webhooks.'),
  timestamp: z.iso.datetime().describe('When the change was published.'),
};

export interface Update {
  cursor: string;
  id: string;
  type: (typeof updateTypes)[number];
  timestamp: string;
  data: Readonly<Record<string, unknown>>;
}

export interface Read {
  updates: readonly Update[];
  /** The cursor after all scanned updates: no matching update before it is missing from the answer. */
  cursor: string;
  hasMore: boolean;
  oldest: { cursor: string; at: string } | null;
  /** The position of the newest update; 0 before the first. */
  newest: string;
  /** Whether the update after which it reads is still stored. */
  hasPlace: boolean;
}

/** The number of updates scanned for one answer if only those of some series are requested: each has up to 250 ids. */
const scannedMax = 500;

interface Asked {
  since: Date | undefined;
  /** The position of the last update that the reader has. */
  after: string | undefined;
  type: readonly string[] | undefined;
  /** Ids, and prefixes of ids with `*` at the end. */
  series: readonly string[] | undefined;
  /** On `data.series`. */
  where: Conditions;
  limit: number;
  order: 'oldest' | 'newest';
}

/** A page of updates, with the cursor for the next one. An update lists only the ids of series that match. */
export async function readUpdates(database: Queryable, asked: Asked): Promise<Read> {
  const { since, after = '0', type, series, where, limit, order } = asked;
  const values: unknown[] = [...where.values];
  const parameter = (value: unknown, cast: string) => `$${values.push(value)}::${cast}`;
  const passes = [
    ...(series === undefined ? [] : [isNamed(parameter(series, 'text[]'))]),
    ...(where.sql.length === 0
      ? []
      : [
          `exists (select from data.series where series_id = ${presentId('named.id')} and ${where.sql.join(' and ')})`,
        ]),
  ];
  const [place, most] = [parameter(after, 'bigint'), parameter(limit, 'integer')];
  const scans = parameter(passes.length === 0 ? limit + 1 : scannedMax, 'integer');
  const conditions = [
    `position > ${place}`,
    ...(since === undefined ? [] : [`position >= ${firstSince(parameter(since, 'timestamptz'))}`]),
    ...(type === undefined ? [] : [`type = any(${parameter(type, 'text[]')})`]),
  ];
  const direction = order === 'oldest' ? 'asc' : 'desc';
  const rows = await database.query<Read>(
    `with scanned as materialized (
       select * from data.updates where ${conditions.join(' and ')} order by position ${direction} limit ${scans}
     ), matched as materialized (
       select *, row_number() over (order by position ${direction}) as number from (${narrowedSql(passes)}) narrowed
     ), counts as (
       select (select count(*) from scanned) = ${scans} as is_cut, (select count(*) from matched) > ${most} as is_full
     ), known as (
       select min(position) as first, max(position) as last from data.updates
     )
     select
       array(select json_build_object('cursor', position::text, 'id', id, 'type', type, 'timestamp', ${utc('at')},
         'data', case when series is null then data else data || jsonb_build_object('series', series) end)
         from matched where number <= ${most} order by number) as updates,
       coalesce(case when is_full then (select max(position) from matched where number <= ${most})
         when is_cut then (select max(position) from scanned) else greatest(last, ${place}) end, ${place})::text as cursor,
       is_full or is_cut as "hasMore",
       (select json_build_object('cursor', position::text, 'at', ${utc('at')}) from data.updates where position = first) as oldest,
       coalesce(last, 0)::text as newest,
       exists (select from data.updates where position = ${place}) as "hasPlace"
     from counts, known`,
    values,
  );
  return entryAt(rows, 0);
}

/** The position of the first update from an instant on. All later ones are from then or later, unless a clock was set back. */
const firstSince = (instant: string) =>
  `(select position from data.updates where at >= ${instant} order by at, position limit 1)`;

const isNamed = (asked: string) => `exists (select from unnest(${asked}) asked (id)
  where case when right(asked.id, 1) = '*' then starts_with(named.id, left(asked.id, -1)) else named.id = asked.id end)`;

/** The scanned updates, with the ids that match; without updates that have none. @param passes conditions on `named.id`. */
function narrowedSql(passes: readonly string[]): string {
  if (passes.length === 0) return 'select * from scanned';
  return `select * from (
    select position, id, type, data, at, (
      select array_agg(named.id order by named.place) from unnest(series) with ordinality named (id, place)
      where ${passes.join(' and ')}) as series
    from scanned) each where series is not null`;
}

// Caches lists that fit in memory: recomputed only when a load or the clock has changed them, and filtered, ordered and paged in memory.
// Concurrent calls share one computation.
import { z } from 'zod';
import { memberOf } from '../../kernel/entries.ts';
import type { Reply } from '../../kernel/http/answer.ts';
import { countJson, limitDefault, listParams, renderList, type Row } from '../../kernel/http/list.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import type { Dependencies } from '../dependencies.ts';
import {
  boundsOf,
  idsOf,
  narrowingParams,
  requireJsonCount,
  type Bound,
  type BoundKind,
  type Filters,
} from '../list-params.ts';
import { findDataState } from '../list.sql.ts';

/** A computed value, and until when it is valid unless a load changes it. */
export interface Computed<Value> {
  value: Value;
  /** In ms since 1970; Infinity if the clock does not change it. */
  untilMs: number;
}

export type Cached<Value> = Computed<Value> & {
  /** Increases with every load that changed something in its datasets. */
  version: number;
  /** When it last increased. */
  changedAt: Date | null;
};

/**
 * Returns the cached result of `compute` for the present state of the datasets. It is recomputed after a load into one of them, and when
 * the clock has changed it: the next call sees either. All endpoints that read from the same server share it. As of a day nothing is cached:
 * a change of the past is not a load of its datasets.
 */
export function cachedUntilChanged<Value>(
  datasets: readonly string[],
  compute: (dependencies: Dependencies, now: Date) => Promise<Computed<Value>>,
): (dependencies: Dependencies) => Promise<Cached<Value>> {
  interface Computing {
    version: number;
    fromMs: number;
    computing: Promise<Computed<Value>>;
  }
  const cache = new WeakMap<Dependencies, Computing>();
  return async (dependencies) => {
    const { version, changedAt } = await findDataState(dependencies.database, datasets);
    const now = dependencies.clock.now();
    const nowMs = now.getTime();
    const cached = cache.get(dependencies);
    if (dependencies.asOf === null && cached?.version === version && nowMs >= cached.fromMs) {
      const computed = await cached.computing;
      if (nowMs < computed.untilMs) return { ...computed, version, changedAt };
    }
    const next = { version, fromMs: nowMs, computing: compute(dependencies, now) };
    cache.set(dependencies, next);
    next.computing.catch(() => {
      if (cache.get(dependencies) === next) cache.delete(dependencies); // callers see the error; the next call tries again
    });
    return { ...(await next.computing), version, changedAt };
  };
}

interface CachedListParams<Asked extends Filters> {
  /** The schemas of its fields, in order. */
  shape: z.ZodRawShape;
  sorts: readonly string[];
  sort: string;
  /** Its filters, each as the parameter of one value. */
  filters: Asked;
}

/**
 * The parameters of a cached list, whose rows have an id; and the fields with bounds: the numbers and instants that it can be ordered by.
 */
export function cachedListParams<Asked extends Filters>({
  shape,
  sorts,
  sort,
  filters,
}: CachedListParams<Asked>) {
  const bounded = Object.fromEntries(
    sorts.flatMap((name): [string, BoundKind][] => {
      const kind = boundKindOf(shape[name]);
      return kind === undefined ? [] : [[name, kind]];
    }),
  );
  const params = {
    ...narrowingParams({ filters, id: z.string(), bounded }),
    ...listParams({ fields: Object.keys(shape), sorts, sort }),
  };
  return { bounded, params };
}

function boundKindOf(schema: z.core.$ZodType | undefined): BoundKind | undefined {
  if (schema instanceof z.ZodNullable) return boundKindOf(schema.unwrap());
  if (schema instanceof z.ZodNumber) return 'number';
  return schema instanceof z.ZodISODateTime ? 'date' : undefined;
}

interface CachedListRequest {
  sort: string;
  limit?: number | undefined;
  cursor?: string | undefined;
  fields: readonly string[];
  format: 'json' | 'csv';
  count_only: boolean;
}

/** The position of a row in the order: its sort field, then its id. */
type Place = readonly [value: string | number | null, id: string];

/** A page of the rows, all of them for CSV without a limit, or only their number. @param rows those that pass the filters of the list. */
export function cachedListReply(
  { cursors }: Pick<Dependencies, 'cursors'>,
  call: ServiceCall,
  list: {
    name: string;
    rows: readonly (Row & { id: string })[];
    query: CachedListRequest;
    cached: Omit<Cached<unknown>, 'version'>;
    bounded: Readonly<Record<string, BoundKind>>;
  },
): Reply {
  const { name, query, cached } = list;
  const { limit, cursor, fields, format, count_only, ...chosen } = query;
  requireJsonCount(query);
  const pageQuery = JSON.stringify([name, chosen]);
  const after = cursor === undefined ? null : (cursors.open(cursor, pageQuery) as unknown as Place);
  const most = limit ?? (format === 'json' ? limitDefault : Infinity);
  call.changesAt(cached.untilMs);
  return {
    lastModified: cached.changedAt,
    format,
    fileName: name,
    async read() {
      const text = await call.stage('render', () => {
        const narrowed = narrowedRows(list.rows, query, list.bounded);
        if (count_only) return { text: countJson(narrowed.length) };
        const placed = placedRows(narrowed, query.sort, after);
        const shown = placed.slice(0, most);
        const last = placed.length > most ? shown.at(-1) : undefined;
        const nextCursor = last === undefined ? null : cursors.seal(last.place, pageQuery);
        const rows = shown.map(({ row }) => row);
        const total = narrowed.length;
        return { text: renderList(rows, { fields, format, nextCursor, total }), nextCursor };
      });
      return text;
    },
  };
}

/** The rows with the ids and within the bounds of a request. The bounds of an instant are days of UTC. */
function narrowedRows(
  rows: readonly (Row & { id: string })[],
  query: CachedListRequest,
  bounded: Readonly<Record<string, BoundKind>>,
): readonly (Row & { id: string })[] {
  const ids = idsOf(query);
  const bounds = boundsOf(query, bounded);
  return rows.filter(
    (row) =>
      (ids?.includes(row.id) ?? true) &&
      bounds.every((bound) => isWithin(memberOf(row, bound.field) as string | number | null, bound)),
  );
}

function isWithin(value: string | number | null, { side, value: bound }: Bound): boolean {
  if (value === null) return false;
  const order =
    typeof value === 'number'
      ? compareValues(value, Number(bound))
      : compareValues(value.slice(0, bound.length), bound);
  return side === 'min' ? order >= 0 : order <= 0;
}

/** The rows after a position in their order. Nulls come last in either direction, as in every list. */
function placedRows(rows: readonly (Row & { id: string })[], sort: string, after: Place | null) {
  const field = sort.replace(/^-/, '');
  const direction = sort.startsWith('-') ? -1 : 1;
  const compare = (a: Place, b: Place): number => {
    if (a[0] === null || b[0] === null)
      return a[0] === b[0] ? direction * compareValues(a[1], b[1]) : a[0] === null ? 1 : -1;
    return direction * (compareValues(a[0], b[0]) || compareValues(a[1], b[1]));
  };
  return rows
    .map((row) => ({ row, place: [memberOf(row, field), row.id] as unknown as Place }))
    .filter(({ place }) => after === null || compare(place, after) > 0)
    .sort((a, b) => compare(a.place, b.place));
}

function compareValues(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

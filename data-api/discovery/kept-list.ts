// Lists that fit in memory: computed again only when a load or the clock has changed them, and filtered, ordered and paged there.
// Hides cursors, and that calls which come meanwhile share one computation.
import { memberOf } from '../../kernel/entries.ts';
import type { Reply } from '../../kernel/http/answer.ts';
import { limitDefault, renderList, type Row } from '../../kernel/http/list.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import type { Dependencies } from '../dependencies.ts';
import { findDataState } from '../list.sql.ts';

/** What was computed, and until when it is right unless a load changes it. */
export interface Computed<Value> {
  value: Value;
  /** In ms since 1970; Infinity: the clock does not change it. */
  untilMs: number;
}

export type Kept<Value> = Computed<Value> & {
  /** Rises with every load that changed something in its datasets. */
  version: number;
  /** When it last rose. */
  changedAt: Date | null;
};

/**
 * Gives what `compute` does of the present state of the datasets. It is computed again after a load into one of them, and when the
 * clock has changed it: the next call sees either.
 */
export function keptUntilChanged<Value>(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  datasets: readonly string[],
  compute: (now: Date) => Promise<Computed<Value>>,
): () => Promise<Kept<Value>> {
  let kept: { version: number; fromMs: number; computing: Promise<Computed<Value>> } | undefined;
  return async () => {
    const { version, changedAt } = await findDataState(database, datasets);
    const now = clock.now();
    const nowMs = now.getTime();
    if (kept?.version === version && nowMs >= kept.fromMs) {
      const computed = await kept.computing;
      if (nowMs < computed.untilMs) return { ...computed, version, changedAt };
    }
    const next = { version, fromMs: nowMs, computing: compute(now) };
    kept = next;
    next.computing.catch(() => {
      if (kept === next) kept = undefined; // callers see the error; the next call tries again
    });
    return { ...(await next.computing), version, changedAt };
  };
}

/** The same for all endpoints that read from the same server, so that each kept value is computed once. */
export function sharedAmongEndpoints<Value>(
  make: (dependencies: Dependencies) => Value,
): (dependencies: Dependencies) => Value {
  const made = new WeakMap<Dependencies, Value>();
  return (dependencies) => {
    const known = made.get(dependencies) ?? make(dependencies);
    made.set(dependencies, known);
    return known;
  };
}

interface KeptListRequest {
  sort: string;
  limit?: number | undefined;
  cursor?: string | undefined;
  fields: readonly string[];
  format: 'json' | 'csv';
}

/** The place of a row in the order: its sort field, then its id. */
type Place = readonly [value: string | number | null, id: string];

/** A page of the rows, or all of them for CSV without a limit. @param filters what the rows were chosen by, for the cursor. */
export function keptListReply(
  { cursors }: Pick<Dependencies, 'cursors'>,
  call: ServiceCall,
  list: {
    name: string;
    rows: readonly (Row & { id: string })[];
    filters: readonly unknown[];
    query: KeptListRequest;
    kept: Omit<Kept<unknown>, 'version'>;
  },
): Reply {
  const { name, query, kept } = list;
  const { sort, limit, cursor, fields, format } = query;
  const pageQuery = JSON.stringify([name, list.filters, sort]);
  const after = cursor === undefined ? null : (cursors.open(cursor, pageQuery) as unknown as Place);
  const most = limit ?? (format === 'json' ? limitDefault : Infinity);
  if (kept.untilMs < Infinity) call.changesAt(new Date(kept.untilMs));
  return {
    lastModified: kept.changedAt,
    format,
    fileName: name,
    async read() {
      const text = await call.stage('render', () => {
        const placed = placedRows(list.rows, sort, after);
        const shown = placed.slice(0, most);
        const last = placed.length > most ? shown.at(-1) : undefined;
        const nextCursor = last === undefined ? null : cursors.seal(last.place, pageQuery);
        const rows = shown.map(({ row }) => row);
        return { text: renderList(rows, { fields, format, nextCursor }), nextCursor };
      });
      return text;
    },
  };
}

/** The rows after a place in their order. Nulls come last in either direction, as in every list. */
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

// Finds the route of a path: segment by segment, in the order in which the routes were given. Each path has exactly one spelling, as in the gateway.

/** The match of a path: the entries by method, and the values of the parameters. */
export interface FoundPath<Entry> {
  entries: ReadonlyMap<string, Entry>;
  params: Record<string, string>;
}

/** A path of the table. */
interface KnownPath<Entry> {
  /** The segments after the first slash; null for a parameter. */
  fixed: (string | null)[];
  /** The names of the parameters; null for a fixed segment. */
  names: (string | null)[];
  entries: Map<string, Entry>;
}

/**
 * @param routes with paths such as `/v1/series/:id/latest`; a path may occur once per method.
 * @returns finds the match of a path without query: the first that has the method, otherwise the first; null if no route has the path. It throws
 * URIError if a parameter cannot be decoded.
 */
export function createRouteTable<Entry extends { path: string; method: string }>(
  routes: readonly Entry[],
): (path: string, method?: string) => FoundPath<Entry> | null {
  const byLength = new Map<number, KnownPath<Entry>[]>();
  for (const [path, entries] of Map.groupBy(routes, (route) => route.path)) {
    const segments = path.slice(1).split('/');
    const entry = {
      fixed: segments.map((segment) => (segment.startsWith(':') ? null : segment)),
      names: segments.map((segment) => (segment.startsWith(':') ? segment.slice(1) : null)),
      entries: new Map(entries.map((entry) => [entry.method, entry])),
    };
    byLength.set(segments.length, [...(byLength.get(segments.length) ?? []), entry]);
  }
  return (path, method) => {
    if (!path.startsWith('/')) return null;
    const segments = path.slice(1).split('/');
    let found: KnownPath<Entry> | null = null;
    for (const known of byLength.get(segments.length) ?? []) {
      if (!fits(known.fixed, segments)) continue;
      found ??= known;
      if (method !== undefined && !known.entries.has(method)) continue;
      found = known;
      break;
    }
    return found && { entries: found.entries, params: paramsOf(found.names, segments) };
  };
}

function fits(fixed: readonly (string | null)[], segments: readonly string[]): boolean {
  for (let i = 0; i < fixed.length; i += 1) {
    const segment = segments[i];
    if (fixed[i] === null ? segment === '' : fixed[i] !== segment) return false;
  }
  return true;
}

function paramsOf(names: readonly (string | null)[], segments: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (let i = 0; i < names.length; i += 1) {
    const [name, segment] = [names[i], segments[i]];
    if (typeof name !== 'string' || segment === undefined) continue;
    params[name] = segment.includes('%') ? decodeURIComponent(segment) : segment;
  }
  return params;
}

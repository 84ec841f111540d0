// The queries of `almanac check`.
import type { Queryable } from '../../kernel/database.ts';

/** The server's version, such as `18.4`. */
export async function serverVersion(on: Queryable): Promise<string> {
  const [row] = await on.query<{ server_version: string }>('show server_version');
  return row?.server_version ?? 'of no version';
}

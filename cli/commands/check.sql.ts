// The queries of `almanac check`.
import type { Queryable } from '../../kernel/database.ts';

/** The server's version, such as `18.4`. */
export async function serverVersion(on: Queryable): Promise<string> {
  const [row] = await on.query<{ server_version: string }>('show server_version');
  return row?.server_version ?? 'of no version';
}

/** The role of a connection, and whether it owns a schema of ours: then a fault in a service could change everything. */
export async function connectedRole(on: Queryable): Promise<{ name: string; owns: boolean }> {
  const [row] = await on.query<{ name: string; owns: boolean }>(
    `select current_user as name, coalesce(bool_or(pg_has_role(nspowner, 'usage')), false) as owns
     from pg_namespace where nspname in ('data', 'accounts', 'events')`,
  );
  return row ?? { name: '', owns: false };
}

/** Whether the role may see what is under embargo: the owner and the publisher may. */
export async function seesReleases(on: Queryable): Promise<boolean> {
  const [row] = await on.query<{ sees: boolean }>(`select has_schema_privilege('embargo', 'usage') as sees`);
  return row?.sees === true;
}

/** The objects in schema jobs that accounts-api cannot change, as they belong to another than its role, which exists. */
export async function foreignJobs(on: Queryable): Promise<number> {
  const [row] = await on.query<{ count: number }>(
    `select count(*) as count from pg_class join pg_roles on rolname = 'almanac_accounts_api'
     where relnamespace = to_regnamespace('jobs') and relkind in ('r', 'p') and relowner <> pg_roles.oid`,
  );
  return row?.count ?? 0;
}

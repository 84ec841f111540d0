// The roles that the services connect by: data-api's reads schema data, that of accounts-api and its worker writes schema accounts.
// Their rights are in roles.sql. Hides their passwords, which are derived from the owner's: a service that has one learns no other.
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';

export type ServiceRole = 'almanac_data_api' | 'almanac_accounts_api';

const roles: readonly ServiceRole[] = ['almanac_data_api', 'almanac_accounts_api'];
const lockId = 4_115_203; // any constant of our own

/** The connection string of a role that `openServiceRoles` has made. @param ownerUrl that of the owner, with its password. */
export function serviceUrl(ownerUrl: string, role: ServiceRole): string {
  const url = new URL(ownerUrl);
  url.password = passwordOf(role, url.password);
  url.username = role;
  return url.href;
}

/**
 * Makes the roles with their passwords and rights, if one is missing or has another password.
 * @param ownerUrl of a superuser who owns the schemas; they are migrated.
 * @param renew gives them their rights anew in any case: they may differ after a migration or a restored backup.
 */
export async function openServiceRoles(ownerUrl: string, renew: boolean): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl, application_name: 'almanac roles' });
  await client.connect();
  try {
    // A session's lock, taken before the transaction begins: what another process has done meanwhile is seen.
    await client.query('select pg_advisory_lock($1)', [lockId]);
    const { rows } = await client.query<{ rolname: string; rolpassword: string | null }>(
      'select rolname, rolpassword from pg_authid where rolname = any($1)',
      [roles],
    );
    const { password } = new URL(ownerUrl);
    const outdated = roles.filter((role) => {
      const found = rows.find(({ rolname }) => rolname === role);
      return found?.rolpassword !== verifierOf(role, password);
    });
    if (outdated.length === 0 && !renew) return;
    await client.query('begin');
    await client.query(readFileSync(path.join(import.meta.dirname, 'roles.sql'), 'utf8'));
    for (const role of outdated)
      await client.query(`alter role ${role} login password '${verifierOf(role, password)}'`);
    await client.query('commit');
  } finally {
    await client.end(); // what is not committed is rolled back
  }
}

function passwordOf(role: ServiceRole, ownerPassword: string): string {
  return createHmac('sha256', ownerPassword).update(role).digest('base64url');
}

/** What PostgreSQL stores of a password: a log of statements that holds it tells no password. */
function verifierOf(role: ServiceRole, ownerPassword: string): string {
  const iterations = 4096; // PostgreSQL's own
  const salt = createHmac('sha256', ownerPassword).update(`salt of ${role}`).digest().subarray(0, 16);
  const salted = pbkdf2Sync(passwordOf(role, ownerPassword), salt, iterations, 32, 'sha256');
  const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  const serverKey = keyOf('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}

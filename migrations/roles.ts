// The roles that the services connect with: data-api's reads schema data, that of accounts-api and its worker writes schema accounts, the publisher's
// writes schema data. Their rights are in roles.sql. In the embedded database the passwords are derived from the owner's, so that a service that
// knows one learns no other.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { SteadyClient } from '../kernel/database-circuit.ts';

export type ServiceRole = 'almanac_data_api' | 'almanac_accounts_api' | 'almanac_publisher';

/** A role without a password here keeps its current one. */
export type Passwords = Readonly<Partial<Record<ServiceRole, string | undefined>>>;

const roles: readonly ServiceRole[] = ['almanac_data_api', 'almanac_accounts_api', 'almanac_publisher'];
const lockId = 4_115_203; // any constant of our own
const insufficientPrivilege = '42501';

/** The result for the roles in an operator's own database. */
export interface RolesReport {
  /** Whether the roles exist and have their rights. */
  renewed: boolean;
  /** The roles whose password was set. */
  passwordsSet: ServiceRole[];
  /** The roles that cannot log in yet. */
  withoutPassword: ServiceRole[];
  /** What prevents this, and what to run; undefined: nothing. */
  obstacle: string | undefined;
}

/** The connection string of a role that `openServiceRoles` has created. @param ownerUrl that of the owner, with its password. */
export function serviceUrl(ownerUrl: string, role: ServiceRole): string {
  const url = new URL(ownerUrl);
  url.password = passwordOf(role, url.password);
  url.username = role;
  return url.href;
}

/**
 * Creates the roles with their passwords and rights, if one is missing or has another password.
 * @param ownerUrl of a superuser who owns the schemas, which are migrated.
 * @param renew grants the rights again in any case, as they may differ after a migration or a restored backup.
 */
export async function openServiceRoles(ownerUrl: string, renew: boolean): Promise<void> {
  const client = new SteadyClient({ connectionString: ownerUrl, application_name: 'almanac roles' });
  await client.connect();
  try {
    // A session lock, acquired before the transaction begins, so that concurrent changes of other processes are visible.
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
    await client.end(); // rolls back what is not committed
  }
}

/**
 * Creates the roles in an operator's own database if they are missing, grants them their rights, and sets the given passwords.
 * @param ownerUrl of the role that owns the schemas, which are migrated. It need not be a superuser.
 * @returns with an `obstacle` if this role lacks the permission; then nothing has changed.
 */
export async function renewServiceRoles(ownerUrl: string, passwords: Passwords): Promise<RolesReport> {
  const client = new SteadyClient({ connectionString: ownerUrl, application_name: 'almanac roles' });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [lockId]);
    const may = await rightsOf(client);
    const obstacle = obstacleOf(may);
    if (obstacle !== undefined) return { renewed: false, passwordsSet: [], withoutPassword: [], obstacle };
    try {
      return await renew(client, passwords);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError && error.code === insufficientPrivilege)) throw error;
      const refused = `PostgreSQL refuses it: ${error.message}. ${whatToRun(roles, may.user)}`;
      return { renewed: false, passwordsSet: [], withoutPassword: [], obstacle: refused };
    }
  } finally {
    await client.end(); // rolls back what is not committed
  }
}

async function renew(client: pg.Client, passwords: Passwords): Promise<RolesReport> {
  const given = roles.filter((role) => passwords[role] !== undefined);
  await client.query('begin');
  await client.query(readFileSync(path.join(import.meta.dirname, 'roles.sql'), 'utf8'));
  for (const role of given) {
    const verifier = scramVerifier(passwords[role] ?? '', randomBytes(16));
    await client.query(`alter role ${role} login password '${verifier}'`);
  }
  await client.query('commit');
  const { rows } = await client.query<{ rolname: ServiceRole }>(
    'select rolname from pg_roles where rolname = any($1) and not rolcanlogin order by array_position($1::text[], rolname::text)',
    [roles],
  );
  const withoutPassword = rows.map(({ rolname }) => rolname);
  return { renewed: true, passwordsSet: given, withoutPassword, obstacle: undefined };
}

/**
 * The connection string by which the owner of the schemas acts as a role, so that the objects it creates belong to the role. Returns `url` itself if
 * it already is of the role, or may not act as it, or if the role has no rights in this database.
 */
export async function actingUrl(url: string, role: ServiceRole): Promise<string> {
  const client = new SteadyClient({ connectionString: url, application_name: 'almanac roles' });
  await client.connect();
  try {
    const { rows } = await client.query<{ may: boolean }>(
      `select pg_has_role(oid, case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end)
              and has_schema_privilege(oid, 'accounts', 'usage') as may
       from pg_roles where rolname = $1 and rolname <> current_user`,
      [role],
    );
    if (rows[0]?.may !== true) return url;
  } finally {
    await client.end();
  }
  const acting = new URL(url);
  const options = [acting.searchParams.get('options'), `-c role=${role}`].filter((each) => each !== null);
  acting.searchParams.set('options', options.join(' '));
  return acting.href;
}

interface Rights {
  user: string;
  /** Whether it owns every schema. */
  owns: boolean;
  /** Whether it may create roles. */
  creates: boolean;
  /** The existing roles. */
  found: ServiceRole[];
}

async function rightsOf(client: pg.Client): Promise<Rights> {
  const { rows } = await client.query<Rights>(
    `select current_user as user,
            (select bool_and(pg_has_role(nspowner, 'usage')) from pg_namespace
             where nspname in ('data', 'accounts', 'events', 'jobs', 'embargo')) as owns,
            (select rolsuper or rolcreaterole from pg_roles where rolname = current_user) as creates,
            array(select rolname::text from pg_roles where rolname = any($1)) as found`,
    [roles],
  );
  return rows[0] ?? { user: '', owns: false, creates: false, found: [] };
}

/** What prevents this connection from creating the roles, as far as can be known before trying. */
function obstacleOf({ user, owns, creates, found }: Rights): string | undefined {
  if (!owns) return `${user} does not own the schemas. Run "almanac migrate" with the owner's DATABASE_URL.`;
  const missing = roles.filter((role) => !found.includes(role));
  if (creates || missing.length === 0) return undefined;
  return `${user} may not create roles (CREATEROLE). ${whatToRun(missing, user)}`;
}

/** The statements for an administrator of the server, for a message. */
function whatToRun(missing: readonly ServiceRole[], owner: string): string {
  const statements = missing.map((role) => `create role ${role} login password '…';`);
  if (missing.includes('almanac_data_api'))
    statements.push('alter role almanac_data_api set default_transaction_read_only = on;');
  statements.push(`grant almanac_accounts_api to ${pg.escapeIdentifier(owner)};`);
  return (
    'Have an administrator of the server run the following ("alter role" instead of "create role" for one that exists), then run ' +
    `"almanac migrate" again, without the settings of these passwords:\n  ${statements.join('\n  ')}`
  );
}

function passwordOf(role: ServiceRole, ownerPassword: string): string {
  return createHmac('sha256', ownerPassword).update(role).digest('base64url');
}

/** Always the same for an owner's password, so that a role that already has it is recognized. */
function verifierOf(role: ServiceRole, ownerPassword: string): string {
  const salt = createHmac('sha256', ownerPassword).update(`salt of ${role}`).digest().subarray(0, 16);
  return scramVerifier(passwordOf(role, ownerPassword), salt);
}

/** The password verifier that PostgreSQL stores; a statement log that contains it does not reveal the password. */
function scramVerifier(password: string, salt: Buffer): string {
  const iterations = 4096; // PostgreSQL's own
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  const serverKey = keyOf('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}

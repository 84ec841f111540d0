// The roles that the services connect by: data-api's reads schema data, that of accounts-api and its worker writes schema accounts, that of
// the publisher writes schema data.
// Their rights are in roles.sql. Hides how passwords are stored, and, in the embedded database, that they are derived from the owner's: a
// service that has one learns no other.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';

export type ServiceRole = 'almanac_data_api' | 'almanac_accounts_api' | 'almanac_publisher';

/** A role that has none here keeps its own. */
export type Passwords = Readonly<Partial<Record<ServiceRole, string | undefined>>>;

const roles: readonly ServiceRole[] = ['almanac_data_api', 'almanac_accounts_api', 'almanac_publisher'];
const lockId = 4_115_203; // any constant of our own
const insufficientPrivilege = '42501';

/** What became of the roles in a database of the operator's. */
export interface RolesReport {
  /** Whether the roles are there and have their rights. */
  renewed: boolean;
  /** The roles that were given a password. */
  passwordsSet: ServiceRole[];
  /** The roles that cannot log in yet. */
  withoutPassword: ServiceRole[];
  /** What keeps this from being done, and what to run; undefined: nothing. */
  obstacle: string | undefined;
}

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

/**
 * Makes the roles in a database of the operator's, unless they are there, and gives them their rights, and the passwords that are given.
 * @param ownerUrl of the role that owns the schemas; they are migrated. It need not be a superuser.
 * @returns with an `obstacle` if this role may not do it: then nothing has changed.
 */
export async function renewServiceRoles(ownerUrl: string, passwords: Passwords): Promise<RolesReport> {
  const client = new pg.Client({ connectionString: ownerUrl, application_name: 'almanac roles' });
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
    await client.end(); // what is not committed is rolled back
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
 * The connection string by which the owner of the schemas acts as a role, so that what it makes belongs to the role; `url` itself if it
 * is of the role already, or may not act as it, or if the role has no rights in this database.
 */
export async function actingUrl(url: string, role: ServiceRole): Promise<string> {
  const client = new pg.Client({ connectionString: url, application_name: 'almanac roles' });
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
  /** The roles that are there. */
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

/** What keeps this connection from making the roles, as far as it can be known before trying. */
function obstacleOf({ user, owns, creates, found }: Rights): string | undefined {
  if (!owns) return `${user} does not own the schemas. Run "almanac migrate" with the owner's DATABASE_URL.`;
  const missing = roles.filter((role) => !found.includes(role));
  if (creates || missing.length === 0) return undefined;
  return `${user} may not create roles (CREATEROLE). ${whatToRun(missing, user)}`;
}

/** For a message: the statements of an administrator of the server. */
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

/** The same for the same owner's password, so that a role that has it is recognised. */
function verifierOf(role: ServiceRole, ownerPassword: string): string {
  const salt = createHmac('sha256', ownerPassword).update(`salt of ${role}`).digest().subarray(0, 16);
  return scramVerifier(passwordOf(role, ownerPassword), salt);
}

/** What PostgreSQL stores of a password, in ASCII: a log of statements that holds it tells no password. */
function scramVerifier(password: string, salt: Buffer): string {
  const iterations = 4096; // PostgreSQL's own
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  const serverKey = keyOf('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}

// Compares the migrations applied to a database with those of this version of Almanac.
import { fail } from './errors.ts';

/** A migration, from the directory or as recorded in the database when it was applied. */
export interface Migration {
  /** The name of its file, without `.sql`. */
  readonly name: string;
  /** SHA-256 of its text, in hex. */
  readonly checksum: string;
}

/** The differences between a database and this version, by name. If all lists are empty, the database fits. */
export interface SchemaDifferences {
  /** Not applied yet. */
  missing: string[];
  /** Applied with another text. */
  changed: string[];
  /** Applied by a newer version. */
  newer: string[];
}

export const selectMigrations = 'select name, checksum from public.almanac_migrations order by 1';

/**
 * For readiness: requires every migration of this version, unchanged. Newer migrations are accepted: during a rollout, instances of the old version
 * serve until they are replaced.
 * @param query reads the rows of `selectMigrations`.
 * @throws Failure `unavailable` that names the missing or changed migrations; also if the database does not respond.
 */
export async function requireSchema(
  query: (text: string) => Promise<readonly Migration[]>,
  expected: readonly Migration[],
): Promise<void> {
  const applied = await query(selectMigrations).catch((error: unknown) =>
    fail('unavailable', whyUnreadable(error), { detail: error }),
  );
  const { missing, changed } = schemaDifferences(expected, applied);
  if (missing.length + changed.length === 0) return;
  const faults = [
    missing.length === 0 ? [] : [`it lacks ${missing.join(', ')}`],
    changed.length === 0 ? [] : [`other texts were applied as ${changed.join(', ')}`],
  ];
  fail('unavailable', `The schema of the database does not fit this version: ${faults.flat().join('; ')}.`);
}

/** The reasons, by SQLSTATE. */
const reasons: Readonly<Record<string, string>> = {
  '28000': 'The database refuses the user of DATABASE_URL.',
  '28P01': 'The database refuses the user or the password of DATABASE_URL.',
  '3D000': 'The server has no database of the name in DATABASE_URL.',
  '42501':
    'The role of DATABASE_URL may not read which migrations were applied: see "Roles of the database" in docs/operations.md.',
  '42P01': 'The database was never migrated: run "almanac migrate".',
  '53300': 'The database has no connection left.',
  '57P03': 'The database is starting or stopping.',
};

/** Why the migrations cannot be read, shown at /readyz. */
function whyUnreadable(error: unknown): string {
  const { code, parent } = error as { code?: unknown; parent?: { code?: unknown } }; // `parent` is Sequelize's
  return reasons[String(parent?.code ?? code)] ?? 'The database does not respond.';
}

/** Compares a database's migrations with those of this version. */
export function schemaDifferences(
  expected: readonly Migration[],
  applied: readonly Migration[],
): SchemaDifferences {
  const [known, found] = [byName(expected), byName(applied)];
  const names = (of: readonly Migration[], where: (migration: Migration) => boolean) =>
    of.filter(where).map(({ name }) => name);
  return {
    missing: names(expected, ({ name }) => !found.has(name)),
    changed: names(applied, ({ name, checksum }) => {
      const now = known.get(name);
      return now !== undefined && now !== checksum;
    }),
    newer: names(applied, ({ name }) => !known.has(name)),
  };
}

function byName(migrations: readonly Migration[]): Map<string, string> {
  return new Map(migrations.map(({ name, checksum }) => [name, checksum]));
}

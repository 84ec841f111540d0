// The statements on the files that operators send: their rows and pieces, until they are published, deleted or expire.
import type { Queryable, Transaction } from '../../../kernel/database.ts';

/** An upload that has arrived. */
export interface Upload {
  id: string;
  accountId: string;
  name: string;
  publication: string;
  createdAt: Date;
  expiresAt: Date;
  bytes: number;
  sha256: string;
  /** What was found in it, as it is told. */
  tables: unknown;
  /** The positions of the tables that were published. */
  published: number[];
}

/** An upload that begins to arrive. */
export type NewUpload = Pick<Upload, 'id' | 'accountId' | 'name' | 'publication' | 'createdAt' | 'expiresAt'>;

/** @returns false if the account has as many as it may; nothing is stored then. */
export async function insertUpload(
  on: Transaction,
  upload: NewUpload,
  ofAccountMax: number,
): Promise<boolean> {
  // Two at once must not both be the last that is allowed.
  await on.query(`select pg_advisory_xact_lock(hashtextextended('uploads of ' || $1, 0))`, [
    upload.accountId,
  ]);
  const rows = await on.query(
    `insert into embargo.uploads (upload_id, account_id, name, publication, created_at, expires_at)
     select $1, $2, $3, $4, $5, $6
     where (select count(*) from embargo.uploads where account_id = $2 and expires_at > $5) < $7
     returning upload_id`,
    [
      ...[upload.id, upload.accountId, upload.name, upload.publication],
      ...[upload.createdAt, upload.expiresAt, ofAccountMax],
    ],
  );
  return rows.length > 0;
}

/** The file has arrived, and was read. @returns false if the upload was deleted meanwhile. */
export async function completeUpload(
  on: Queryable,
  id: string,
  file: { bytes: number; sha256: string; tables: object; expiresAt: Date },
): Promise<boolean> {
  const rows = await on.query(
    `update embargo.uploads set bytes = $2, sha256 = $3, tables = $4, expires_at = $5 where upload_id = $1 returning upload_id`,
    [id, file.bytes, file.sha256, JSON.stringify(file.tables), file.expiresAt],
  );
  return rows.length > 0;
}

const shown = `select upload_id as id, account_id as "accountId", name, publication, created_at as "createdAt",
  expires_at as "expiresAt", bytes, sha256, tables, published from embargo.uploads where tables is not null`;

/** One that has not expired; undefined: there is none. */
export async function findUpload(on: Queryable, id: string, now: Date): Promise<Upload | undefined> {
  const [upload] = await on.query<Upload>(`${shown} and upload_id = $1 and expires_at > $2`, [id, now]);
  return upload;
}

/** Those of all operators, the newest first. */
export function listUploads(on: Queryable, now: Date): Promise<Upload[]> {
  return on.query<Upload>(`${shown} and expires_at > $1 order by created_at desc, upload_id`, [now]);
}

/** @returns false if there is none. */
export async function deleteUpload(on: Queryable, id: string): Promise<boolean> {
  const rows = await on.query('delete from embargo.uploads where upload_id = $1 returning upload_id', [id]);
  return rows.length > 0;
}

export async function deleteExpiredUploads(on: Queryable, now: Date): Promise<void> {
  await on.query('delete from embargo.uploads where expires_at <= $1', [now]);
}

/** The entries that files of a publication were loaded with, the newest first. */
export async function publishedEntries(on: Queryable, publication: string): Promise<unknown[]> {
  const rows = await on.query<{ entry: unknown }>(
    `select entry from data.published_files where publication = $1 group by entry order by max(loaded_at) desc`,
    [publication],
  );
  return rows.map(({ entry }) => entry);
}

/** Notes that a table was published, in the transaction that publishes it; once all of them are, the upload goes. @returns false if it was deleted meanwhile. */
export async function markPublished(on: Transaction, id: string, table: number): Promise<boolean> {
  const rows = await on.query(
    `update embargo.uploads set published = array(select distinct unnest(published || $2::integer) order by 1)
     where upload_id = $1 returning upload_id`,
    [id, table],
  );
  await on.query(
    `delete from embargo.uploads where upload_id = $1 and not exists (
       select from jsonb_array_elements(tables) t
       where t -> 'skip' = 'null' and (t ->> 'table')::integer <> all (published))`,
    [id],
  );
  return rows.length > 0;
}

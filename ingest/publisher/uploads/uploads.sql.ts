// The statements on the files that operators upload: an upload is stored until it is published, deleted or expires.
import type { Queryable, Transaction } from '../../../kernel/database.ts';
import { uploadsPerAccountMax } from './upload-limits.ts';

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
  /** Its tables, as JSON. */
  tables: unknown;
  /** The indexes of the tables that were published. */
  published: number[];
}

/** An upload whose file begins to arrive. */
export type NewUpload = Pick<Upload, 'id' | 'accountId' | 'name' | 'publication' | 'createdAt' | 'expiresAt'>;

/** @returns false if the account has reached its limit of uploads; nothing is stored then. */
export async function insertUpload(on: Transaction, upload: NewUpload): Promise<boolean> {
  // Two concurrent uploads must not both become the last allowed one.
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
      ...[upload.createdAt, upload.expiresAt, uploadsPerAccountMax],
    ],
  );
  return rows.length > 0;
}

/** Records that the file has arrived and was read. @returns false if the upload was deleted meanwhile. */
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

/** @returns undefined if it does not exist, is not complete, or has expired. */
export async function findUpload(on: Queryable, id: string, now: Date): Promise<Upload | undefined> {
  const [upload] = await on.query<Upload>(`${shown} and upload_id = $1 and expires_at > $2`, [id, now]);
  return upload;
}

/** The uploads of all operators, newest first. */
export function listUploads(on: Queryable, now: Date): Promise<Upload[]> {
  return on.query<Upload>(`${shown} and expires_at > $1 order by created_at desc, upload_id`, [now]);
}

/** Whether its file is stored, read or not. */
export async function hasUpload(on: Queryable, id: string): Promise<boolean> {
  return (await on.query('select from embargo.uploads where upload_id = $1', [id])).length > 0;
}

/** @returns false if it does not exist. */
export async function deleteUpload(on: Queryable, id: string): Promise<boolean> {
  const rows = await on.query('delete from embargo.uploads where upload_id = $1 returning upload_id', [id]);
  return rows.length > 0;
}

export async function deleteExpiredUploads(on: Queryable, now: Date): Promise<void> {
  await on.query('delete from embargo.uploads where expires_at <= $1', [now]);
}

/** The entries that files of a publication were loaded with, newest first. */
export async function publishedEntries(on: Queryable, publication: string): Promise<unknown[]> {
  const rows = await on.query<{ entry: unknown }>(
    `select entry from data.published_files where publication = $1 group by entry order by max(loaded_at) desc`,
    [publication],
  );
  return rows.map(({ entry }) => entry);
}

/**
 * Marks a table as published, in the transaction that publishes it; once all are, the upload is deleted. @returns false if it was deleted
 * meanwhile.
 */
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

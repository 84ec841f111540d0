// What almanac publish has loaded: by publication, file and sheet, the content and the entry that it was loaded with.
import type { Queryable } from '../../kernel/database.ts';

export interface PublishedFile {
  publication: string;
  /** Below the folder of almanac.yml, with slashes; or a URL. */
  path: string;
  /** '' unless the file is a workbook. */
  sheet: string;
  /** SHA-256 of the file, in hexadecimal. */
  contentSha256: string;
  /** The entry of almanac.yml. */
  entry: object;
}

export async function findPublished(on: Queryable, publication: string): Promise<PublishedFile[]> {
  return on.query<PublishedFile>(
    `select publication, path, sheet, encode(content_sha256, 'hex') as "contentSha256", entry
     from data.published_files where publication = $1`,
    [publication],
  );
}

/** Replaces what is remembered of the file. */
export async function rememberPublished(on: Queryable, file: PublishedFile): Promise<void> {
  await on.query(
    `insert into data.published_files (publication, path, sheet, content_sha256, entry)
     values ($1, $2, $3, decode($4, 'hex'), $5)
     on conflict (publication, path, sheet)
       do update set content_sha256 = excluded.content_sha256, entry = excluded.entry, loaded_at = now()`,
    [file.publication, file.path, file.sheet, file.contentSha256, JSON.stringify(file.entry)],
  );
}

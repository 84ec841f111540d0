// The record of almanac publish's loads: by publication, file and sheet, the content and the entry with which it was loaded.
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
  /** The first load of the file; null if unknown. */
  loadNo: number | null;
}

/** @param path only of this file. */
export async function findPublished(
  on: Queryable,
  publication: string,
  path?: string,
): Promise<(PublishedFile & { isRetracted: boolean })[]> {
  return on.query<PublishedFile & { isRetracted: boolean }>(
    `select publication, path, sheet, encode(content_sha256, 'hex') as "contentSha256", entry, load_no as "loadNo",
       coalesce(erased_by is not null or upper_inf(out_of_force), false) as "isRetracted"
     from data.published_files left join data.loads using (load_no)
     where publication = $1 and ($2::text is null or path = $2)`,
    [publication, path ?? null],
  );
}

/** Replaces the record of the file. */
export async function rememberPublished(on: Queryable, file: PublishedFile): Promise<void> {
  await on.query(
    `insert into data.published_files (publication, path, sheet, content_sha256, entry, load_no)
     values ($1, $2, $3, decode($4, 'hex'), $5, $6)
     on conflict (publication, path, sheet)
       do update set content_sha256 = excluded.content_sha256, entry = excluded.entry, load_no = excluded.load_no,
         loaded_at = now()`,
    [file.publication, file.path, file.sheet, file.contentSha256, JSON.stringify(file.entry), file.loadNo],
  );
}

/** The names of the series that have these ids, now or before they were renamed, by id. */
export async function namesOfSeries(on: Queryable, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await on.query<{ id: string; name: string }>(
    `select series_id as id, name from data.series where series_id = any($1)
     union all
     select alias, name from data.series_aliases join data.series using (series_no) where alias = any($1)`,
    [ids],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

// The statements for follows, except reading or writing a single row by id.
import type { Transaction } from 'sequelize';
import { entryAt } from '../../kernel/entries.ts';
import type { AccountsDatabase } from '../database.ts';
import type { FollowKind, FollowMode } from '../models/follow.ts';

/** A follow as listed. */
export interface ListedFollow {
  id: string;
  kind: FollowKind;
  subject: string;
  /** The name of the series; null: the follow is of another kind, or the series no longer exists. */
  name: string | null;
  mode: FollowMode;
  createdAt: Date;
  mailedAt: Date | null;
}

/** The follows of an account, oldest first. @param id selects one follow. */
export function selectFollows(
  db: AccountsDatabase,
  accountId: string,
  id: string | null = null,
  transaction: Transaction | null = null,
): Promise<ListedFollow[]> {
  return db.read(
    `select follow.id, kind, subject, mode, created_at as "createdAt", mailed_at as "mailedAt",
            (select name from events.series_ids named join events.series series using (series_no)
             where kind = 'series' and named.id = subject and not is_deleted limit 1) as name
     from accounts.follows as follow
     where account_id = $1 and ($2::text is null or follow.id = $2) order by created_at, follow.id`,
    { bind: [accountId, id], transaction },
  );
}

/**
 * @returns the subject as a follow stores it: the current id of a series, the name of a source, the words of a search. Null if it does not exist,
 * or if a search has no words.
 */
export async function selectSubject(
  db: AccountsDatabase,
  transaction: Transaction,
  kind: FollowKind,
  asked: string,
): Promise<string | null> {
  const statements = {
    series: `select series.id as subject from events.series_ids named join events.series series using (series_no)
      where named.id = $1 and not is_deleted limit 1`,
    source: 'select source as subject from events.series where source = $1 and not is_deleted limit 1',
    search: 'select $1::text as subject where numnode(events.search_query($1)) > 0',
  };
  const rows = await db.read<{ subject: string }>(statements[kind], {
    bind: [asked],
    transaction,
  });
  return rows[0]?.subject ?? null;
}

/** The cursor of the newest update; 0 before the first. */
export async function selectNewestPlace(db: AccountsDatabase, transaction: Transaction): Promise<string> {
  const rows = await db.read<{ place: string }>(
    'select coalesce(max(position), 0)::text as place from events.updates',
    { transaction },
  );
  return entryAt(rows, 0).place;
}

/** Deletes all follows of an account. @returns those deleted. */
export function deleteFollowsOf(
  db: AccountsDatabase,
  transaction: Transaction,
  accountId: string,
): Promise<{ id: string; kind: FollowKind; subject: string }[]> {
  return db.read('delete from accounts.follows where account_id = $1 returning id, kind, subject', {
    bind: [accountId],
    transaction,
  });
}

// The statements about numbered changes and which gateways have seen them.
import { QueryTypes, type Sequelize } from 'sequelize';
import { entryAt } from '../../kernel/entries.ts';
import type { Gateway } from './block-rules.ts';

/** Times are by PostgreSQL's clock. */
export interface Acknowledged {
  /** The number of the last change. */
  no: number;
  nowMs: number;
  /** The gateways with a lease. */
  gateways: Gateway[];
}

export async function selectAcknowledged(sequelize: Sequelize): Promise<Acknowledged> {
  const rows = await sequelize.query<Acknowledged>(
    `select no::float8 as no, extract(epoch from clock_timestamp())::float8 * 1000 as "nowMs",
            (select coalesce(json_agg(json_build_object(
               'seen', seen, 'leasedUntilMs', extract(epoch from leased_until)::float8 * 1000)), '[]')
             from accounts.gateways where leased_until > clock_timestamp()) as gateways
     from accounts.change_counter`,
    { type: QueryTypes.SELECT },
  );
  return entryAt(rows, 0);
}

const changesMax = 1000;

/** The accounts that changed after `seen`, up to `upto`. @returns null if there are too many, or the changes were deleted. */
export async function selectChanges(
  sequelize: Sequelize,
  seen: number,
  upto: number,
): Promise<string[] | null> {
  const rows = await sequelize.query<{ isForgotten: boolean; accounts: string[] }>(
    `select forgotten > $1 as "isForgotten",
            array(select account_id from accounts.changes where no > $1 and no <= $2 order by no limit $3) as accounts
     from accounts.change_counter`,
    { bind: [seen, upto, changesMax + 1], type: QueryTypes.SELECT },
  );
  const { isForgotten, accounts } = entryAt(rows, 0);
  return isForgotten || seen > upto || accounts.length > changesMax ? null : [...new Set(accounts)];
}

/** Deletes changes after an hour, by PostgreSQL's clock; no lease lasts that long. */
export async function forgetChanges(sequelize: Sequelize): Promise<void> {
  await sequelize.query(
    `with change as (delete from accounts.changes where at < clock_timestamp() - interval '1 hour' returning no)
     update accounts.change_counter set forgotten = greatest(forgotten, (select max(no) from change))
     where exists (select from change)`,
    { type: QueryTypes.RAW },
  );
}

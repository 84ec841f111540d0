// The statement about quota for /metrics.
import { QueryTypes } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

export interface AllotmentFigures {
  /** Where they are held: in Redis, or in the process of a gateway. */
  holder: string;
  allotments: number;
  /** Charged, and neither served nor returned yet. */
  calls: number;
}

/** The allotments that gateways hold. */
export function selectAllotments({
  sequelize,
}: Pick<AccountsDatabase, 'sequelize'>): Promise<AllotmentFigures[]> {
  return sequelize.query(
    `select holders.holder, count(allotment_id)::int as allotments,
            coalesce(sum(greatest(granted - spent, 0)), 0)::float8 as calls
     from (values ('redis'), ('process')) as holders (holder)
     left join accounts.quota_allotments as allotment
       on allotment.holder = holders.holder and reclaimed_at is null and granted > spent
     group by holders.holder order by holders.holder`,
    { type: QueryTypes.SELECT },
  );
}

// The statements about jobs and quota for /metrics.
import { QueryTypes } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

export interface QueueFigures {
  queue: string;
  /** Never run yet. */
  created: number;
  /** Failed, and to be run again. */
  retry: number;
  active: number;
  /** Failed for the last time. */
  failed: number;
  /** How long the job that has been due for longest has been due. */
  overdue_seconds: number;
}

/** A row for each queue. The states are those of pg-boss. */
export function selectQueues({ sequelize }: Pick<AccountsDatabase, 'sequelize'>): Promise<QueueFigures[]> {
  return sequelize.query(
    `select queue.name as queue,
            count(job.id) filter (where job.state = 'created')::int as created,
            count(job.id) filter (where job.state = 'retry')::int as retry,
            count(job.id) filter (where job.state = 'active')::int as active,
            count(job.id) filter (where job.state = 'failed')::int as failed,
            coalesce(greatest(extract(epoch from clock_timestamp() - min(job.start_after)
              filter (where job.state in ('created', 'retry'))), 0), 0)::float8 as overdue_seconds
     from jobs.queue as queue
     left join jobs.job as job on job.name = queue.name and job.state in ('created', 'retry', 'active', 'failed')
     where queue.name not like '\\_\\_pgboss%'
     group by queue.name order by queue.name`,
    { type: QueryTypes.SELECT },
  );
}

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

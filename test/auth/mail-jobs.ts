// The jobs of a database in pg-boss, including completed ones while these are stored.
import { PgBoss, type JobWithMetadata } from 'pg-boss';
import type { MailJob } from '../../accounts-api/jobs/jobs.ts';

/** @param databaseUrl of a role that may read them; no tables are created. @returns the oldest first. */
export async function mailJobs(databaseUrl: string): Promise<JobWithMetadata<MailJob>[]> {
  const boss = new PgBoss({
    ...{ connectionString: databaseUrl, schema: 'jobs', max: 1 },
    ...{ migrate: false, createSchema: false, supervise: false, schedule: false },
  });
  await boss.start();
  try {
    const queues = ['mail', 'mail-request'].map((queue) => boss.findJobs<MailJob>(queue));
    return (await Promise.all(queues))
      .flat()
      .toSorted((a, b) => a.createdOn.getTime() - b.createdOn.getTime());
  } finally {
    await boss.stop({ graceful: false });
  }
}

/** The jobs that are neither completed nor failed. */
export async function mailJobsLeft(databaseUrl: string): Promise<JobWithMetadata<MailJob>[]> {
  return (await mailJobs(databaseUrl)).filter(({ state }) => ['created', 'retry', 'active'].includes(state));
}

// The jobs of a database, as pg-boss finds them: also those that are done, while they are kept.
import { PgBoss, type JobWithMetadata } from 'pg-boss';
import type { MailJob } from '../../accounts-api/jobs.ts';

/** @param databaseUrl of a role that may read them; they are not made. @returns the oldest first. */
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

/** Those that are neither done nor given up. */
export async function mailJobsLeft(databaseUrl: string): Promise<JobWithMetadata<MailJob>[]> {
  return (await mailJobs(databaseUrl)).filter(({ state }) => ['created', 'retry', 'active'].includes(state));
}

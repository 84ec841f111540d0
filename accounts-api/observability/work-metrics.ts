// How jobs and quota allotments stand, for /metrics of the worker.
import type { Log } from '../../kernel/log/log.ts';
import { askedFigures } from '../../kernel/metrics/figures.ts';
import type { Metric } from '../../kernel/metrics/text.ts';
import type { AccountsDatabase } from '../database.ts';
import type { QueueFigures } from './queue-figures.ts';
import { selectAllotments } from './work-metrics.sql.ts';

export function workMetrics(
  db: AccountsDatabase,
  readQueues: () => Promise<QueueFigures[]>,
  log: Log,
): Metric[] {
  const queues = askedFigures('the queues of jobs', readQueues, log);
  const allotments = askedFigures('the quota allotments', () => selectAllotments(db), log);
  return [
    queues.metric({ name: 'almanac_jobs', help: 'Jobs by queue and state.' }, (rows) =>
      rows.flatMap(({ queue, due, later, active, failed }) =>
        Object.entries({ due, later, active, failed }).map(([state, value]) => ({
          labels: { queue, state },
          value,
        })),
      ),
    ),
    queues.metric(
      { name: 'almanac_jobs_overdue_seconds', help: 'How long the oldest due job of a queue has been due.' },
      (rows) => rows.map((row) => ({ labels: { queue: row.queue }, value: row.overdueSeconds })),
    ),
    allotments.metric(
      { name: 'almanac_quota_allotments', help: 'Quota allotments with calls left, by where they are held.' },
      (rows) => rows.map((row) => ({ labels: { holder: row.holder }, value: row.allotments })),
    ),
    allotments.metric(
      {
        name: 'almanac_quota_calls_held',
        help: 'Calls charged to months, and neither served nor returned yet.',
      },
      (rows) => rows.map((row) => ({ labels: { holder: row.holder }, value: row.calls })),
    ),
  ];
}

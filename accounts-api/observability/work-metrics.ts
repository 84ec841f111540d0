// The metrics of jobs and quota blocks, for the worker's /metrics.
import type { Log } from '../../kernel/log/log.ts';
import { askedFigures } from '../../kernel/metrics/figures.ts';
import type { Metric } from '../../kernel/metrics/text.ts';
import type { AccountsDatabase } from '../database.ts';
import type { QueueFigures } from './queue-figures.ts';
import { selectBlocks } from './work-metrics.sql.ts';

export function workMetrics(
  db: AccountsDatabase,
  readQueues: () => Promise<QueueFigures[]>,
  log: Log,
): Metric[] {
  const queues = askedFigures('the queues of jobs', readQueues, log);
  const blocks = askedFigures('the quota blocks', () => selectBlocks(db), log);
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
    blocks.metric(
      { name: 'almanac_quota_blocks', help: 'Blocks of calls at gateways with unused calls.' },
      (rows) => rows.map((row) => ({ labels: {}, value: row.blocks })),
    ),
    blocks.metric(
      {
        name: 'almanac_quota_calls_out',
        help: 'Calls granted to gateways, and neither reported as served nor returned yet.',
      },
      (rows) => rows.map((row) => ({ labels: {}, value: row.calls })),
    ),
  ];
}

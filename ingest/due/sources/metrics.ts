// How sources stand, for /metrics: those that are fresh, those that fail, and how late the oldest fetch is.
import type { Log } from '../../../kernel/log/log.ts';
import { askedFigures } from '../../../kernel/metrics/figures.ts';
import type { Metric } from '../../../kernel/metrics/text.ts';
import { failuresTold, type FetchDeps } from './fetch-source.ts';
import type { Fetching } from './fetching.ts';
import { countSources } from './sources.sql.ts';

export function sourceMetrics(
  { database, clock }: Pick<FetchDeps, 'database' | 'clock'>,
  { counts }: Pick<Fetching, 'counts'>,
  log: Log,
): Metric[] {
  const figures = askedFigures(
    'the sources',
    async () => countSources(database, await clock.now(database), failuresTold),
    log,
  );
  return [
    figures.metric(
      {
        name: 'almanac_sources',
        help: `Sources that keep themselves fresh, by state; failing: the last ${failuresTold} fetches or more have failed.`,
      },
      ({ fresh, failing }) =>
        Object.entries({ fresh, failing }).map(([state, value]) => ({ labels: { state }, value })),
    ),
    figures.metric(
      {
        name: 'almanac_sources_overdue_seconds',
        help: 'For how long the source that is due for longest has been due and is not being fetched.',
      },
      ({ overdueSeconds }) => [{ value: overdueSeconds }],
    ),
    {
      name: 'almanac_sources_fetched_total',
      help: 'Fetches of this process, by what came of them.',
      type: 'counter',
      read: () => Object.entries(counts).map(([outcome, value]) => ({ labels: { outcome }, value })),
    },
  ];
}

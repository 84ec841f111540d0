// How releases stand, for /metrics: those that wait, those that need somebody, and how late the oldest is.
import type { Log } from '../../kernel/log/log.ts';
import { askedFigures } from '../../kernel/metrics/figures.ts';
import type { Metric } from '../../kernel/metrics/text.ts';
import { countReleases } from './releases/embargo.sql.ts';
import type { ReleaseDeps } from './releases/make-releases.ts';
import type { Publishing } from './publishing.ts';

export function releaseMetrics(
  { database, clock }: ReleaseDeps,
  { counts }: Pick<Publishing, 'counts'>,
  log: Log,
): Metric[] {
  const figures = askedFigures(
    'the releases',
    async () => countReleases(database, await clock.now(database)),
    log,
  );
  return [
    figures.metric(
      { name: 'almanac_releases', help: 'Releases under embargo that are not made, by state.' },
      ({ pending, held, failed }) =>
        Object.entries({ pending, held, failed }).map(([state, value]) => ({ labels: { state }, value })),
    ),
    figures.metric(
      {
        name: 'almanac_releases_late_seconds',
        help: 'How long the oldest release that is due has been due.',
      },
      ({ lateSeconds }) => [{ value: lateSeconds }],
    ),
    {
      name: 'almanac_releases_made_total',
      help: 'Releases that this process has made, and those that it could not.',
      type: 'counter',
      read: () => Object.entries(counts).map(([outcome, value]) => ({ labels: { outcome }, value })),
    },
  ];
}

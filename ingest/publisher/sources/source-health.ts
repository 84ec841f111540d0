// The state of the sources in words, for `almanac check`.
import type { Queryable } from '../../../kernel/database.ts';
import { readClock } from '../../../kernel/time/database-clock.sql.ts';
import { isPublisherAlive, type Health } from '../releases/release-health.ts';
import { failuresToReport } from './fetch-source.ts';
import { countSources } from './sources.sql.ts';

const overdueSecondsMax = 300;

export async function describeSources(on: Queryable): Promise<Health> {
  const { fresh, failing, overdueSeconds } = await countSources(on, await readClock(on), failuresToReport);
  const isAlive = await isPublisherAlive(on);
  const isLate = overdueSeconds > overdueSecondsMax;
  const parts = [
    `${fresh + failing} are fetched by schedule`,
    ...(failing > 0 ? [`${failing} of them failing: see "almanac sources list"`] : []),
    ...(isLate ? [`due for ${overdueSeconds.toFixed(0)} s`] : []),
    ...(fresh + failing > 0 && !isAlive ? ['no publisher is running'] : []),
  ];
  return {
    detail: parts.join('; '),
    needsAttention: failing > 0 || (isLate && isAlive),
    lacksPublisher: fresh + failing > 0 && !isAlive,
  };
}

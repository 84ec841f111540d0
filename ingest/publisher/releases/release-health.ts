// The state of the releases in words, for `almanac check`.
import type { Queryable } from '../../../kernel/database.ts';
import { readClock } from '../../../kernel/time/database-clock.sql.ts';
import { countReleases, secondsSinceSeen } from './embargo.sql.ts';

export interface Health {
  detail: string;
  /** A release is held, failing, failed or late. */
  needsAttention: boolean;
  /** A release is pending, and no publisher is running. */
  lacksPublisher: boolean;
}

const lateSecondsMax = 10;
/** A publisher not seen for longer than this is not running. */
export const publisherUnseenSecondsMax = 30;

/** Whether a publisher is running, which makes releases. */
export async function isPublisherAlive(on: Queryable): Promise<boolean> {
  const unseen = await secondsSinceSeen(on);
  return unseen !== null && unseen < publisherUnseenSecondsMax;
}

export async function describeReleases(on: Queryable): Promise<Health> {
  const { pending, held, failed, lateSeconds, nextAt } = await countReleases(on, await readClock(on));
  const isAlive = await isPublisherAlive(on);
  const isLate = lateSeconds > lateSecondsMax;
  const parts = [
    `${pending} under embargo${nextAt === null ? '' : `, the next due ${nextAt.toISOString()}`}`,
    ...(isLate ? [`late by ${lateSeconds.toFixed(0)} s`] : []),
    ...(held > 0 ? [`${held} held by the calendar`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    isAlive ? 'a publisher is running' : 'no publisher is running',
  ];
  return {
    detail: parts.join('; '),
    needsAttention: isLate || held > 0 || failed > 0,
    lacksPublisher: !isAlive && pending + held > 0,
  };
}

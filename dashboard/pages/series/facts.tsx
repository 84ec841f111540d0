// The facts of a series beside its chart.
import { Link } from 'wouter-preact';
import { periodName } from '../../../domain/chart/text.ts';
import { unitName } from '../../../domain/chart/captions.ts';
import { dayText, timeText } from '../../text/times.ts';
import type { SeriesEntry } from './series-points.ts';

const adjustments: Readonly<Record<string, string>> = {
  SA: 'Seasonally adjusted',
  NSA: 'Not seasonally adjusted',
  SAAR: 'Seasonally adjusted, annual rate',
};

export function Facts({ entry }: { entry: SeriesEntry }) {
  const { frequency, first_date: first, last_date: last, first_vintage: vintage } = entry;
  const adjustment = entry.seasonal_adjustment;
  const unit = unitName({ unit: entry.unit, unitMultiplier: entry.unit_multiplier }, null);
  const named = frequency.charAt(0).toUpperCase() + frequency.slice(1);
  return (
    <dl class="dl facts">
      <dt>Series</dt>
      <dd class="mono xs">{entry.id}</dd>
      {last !== null && (
        <>
          <dt>Latest</dt>
          <dd>{periodName(last, frequency)}</dd>
        </>
      )}
      {entry.next_release !== null && (
        <>
          <dt>Next release</dt>
          <dd>
            {dayText(entry.next_release)}
            <small>
              {timeText(entry.next_release)} UTC, {untilText(entry.next_release)}
            </small>
          </dd>
        </>
      )}
      <dt>Frequency</dt>
      <dd>{first === null ? named : `${named}, from ${Number(first.slice(0, 4))}`}</dd>
      <dt>Unit</dt>
      <dd>{unit}</dd>
      {adjustment !== null && (
        <>
          <dt>Adjustment</dt>
          <dd>{adjustments[adjustment] ?? adjustment}</dd>
        </>
      )}
      <dt>Source</dt>
      <dd>{entry.source}</dd>
      {entry.licence !== null && (
        <>
          <dt>Licence</dt>
          <dd>{entry.licence}</dd>
        </>
      )}
      {vintage !== null && (
        <>
          <dt>Vintages</dt>
          <dd>
            Since {dayText(vintage)}
            <small>
              <Link href={`/series/${encodeURIComponent(entry.id)}/revisions`}>See how it was revised</Link>
            </small>
          </dd>
        </>
      )}
    </dl>
  );
}

function untilText(instant: string): string {
  const days = Math.round(
    (Date.parse(instant.slice(0, 10)) - Date.parse(new Date().toISOString().slice(0, 10))) / 86_400_000,
  );
  if (days <= 0) return 'today';
  return days === 1 ? 'tomorrow' : `in ${days} days`;
}

// The values on screen as a table, newest first.
import { useState } from 'preact/hooks';
import { decimalsOf, formatNumber, periodName } from '../../../domain/chart/text.ts';
import { numberText } from '../../text/numbers.ts';
import type { Shown } from './shown.ts';

interface ValuesTableProps {
  shown: Pick<Shown, 'chart' | 'dates' | 'window' | 'decimals'>;
  /** Rows of a page. */
  rowsMax: number;
  /** Only the first page. */
  isBrief?: boolean;
}

const periodHeads: Readonly<Record<string, string>> = {
  monthly: 'Month',
  quarterly: 'Quarter',
  semiannual: 'Half-year',
  annual: 'Year',
};

export function ValuesTable({
  shown: { chart, dates, window, decimals },
  rowsMax,
  isBrief,
}: ValuesTableProps) {
  const [page, setPage] = useState(0);
  const rows = dates.slice(window.first, window.last + 1).toReversed();
  const pages = Math.max(1, Math.ceil(rows.length / rowsMax));
  const at = Math.min(page, pages - 1);
  const byDate = chart.lines.map(({ points }) => new Map(points.map(({ date, value }) => [date, value])));
  const shownDates = rows.slice(at * rowsMax, (at + 1) * rowsMax);
  const digits = digitsOf(
    shownDates.flatMap((date) => byDate.map((values) => values.get(date) ?? 0)),
    decimals,
  );
  if (rows.length === 0) return <p class="dim sm">No values in this window.</p>;
  return (
    <>
      <div
        class="scrollx"
        tabIndex={0}
        role="region"
        aria-label={isBrief === true ? 'Newest values' : 'Values'}
      >
        <table class="dense">
          <caption class="vh">
            {chart.title}
            {chart.unit !== '' && `, ${chart.unit}`}
          </caption>
          <thead>
            <tr>
              <th scope="col">{periodHeads[chart.frequency] ?? 'Day'}</th>
              {chart.lines.map(({ name }) => (
                <th key={name} scope="col" class="right">
                  {name === '' ? 'Value' : name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shownDates.map((date) => (
              <tr key={date}>
                <td class="nb">{periodName(date, chart.frequency, true)}</td>
                {byDate.map((values, i) => (
                  <td key={i} class="right">
                    {cellText(values.get(date), digits)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {isBrief !== true && pages > 1 && (
        <div class="bar-ctl chart-foot">
          <button class="btn sml" type="button" disabled={at === 0} onClick={() => setPage(at - 1)}>
            Newer
          </button>
          <button class="btn sml" type="button" disabled={at === pages - 1} onClick={() => setPage(at + 1)}>
            Older
          </button>
          <span class="xs dim" aria-live="polite">
            Rows {numberText(at * rowsMax + 1)} to {numberText(Math.min(rows.length, (at + 1) * rowsMax))} of{' '}
            {numberText(rows.length)}
          </span>
        </div>
      )}
    </>
  );
}

/** At least two decimals, or as many as the values of the page need: a few old values may have many more. */
const digitsOf = (values: readonly number[], decimals: number): number =>
  Math.min(decimals, Math.max(2, decimalsOf(values)));

function cellText(value: number | null | undefined, decimals: number): string {
  return value === null || value === undefined ? '–' : formatNumber(value, decimals);
}

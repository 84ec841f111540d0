// Series as rows: name, shape, latest value and change. A row leads to the page of its series.
import { Link } from 'wouter-preact';
import type { AnswerOf } from '../../clients/typescript/client.ts';
import type { PreviewPoint } from '../api/previews.ts';
import { Sparkline } from '../charts/sparkline.tsx';
import { decimalsOf } from '../../domain/chart/text.ts';
import { changeText, numberText } from '../text/numbers.ts';
import { periodText, shortDayText, dayText } from '../text/times.ts';
import { DataTable, type Column } from './data-table.tsx';

export type CatalogRow = AnswerOf<'get', '/v1/catalog'>['data'][number];

interface SeriesTableProps {
  caption: string;
  rows: readonly CatalogRow[];
  /** Series id → its newest points; a series without points has an empty cell. */
  previews: ReadonlyMap<string, readonly PreviewPoint[]>;
}

export function SeriesTable({ caption, rows, previews }: SeriesTableProps) {
  const pointsOf = ({ id }: CatalogRow) => previews.get(id) ?? [];
  const columns: Column<CatalogRow>[] = [
    {
      label: 'Series',
      cell: ({ id, name, unit }) => (
        <>
          <Link class="row-link" href={`/series/${encodeURIComponent(id)}`}>
            <b>{name}</b>
          </Link>
          <small>
            <span class="mono">{id}</span>
            {unit !== null && ` · ${unit}`}
          </small>
        </>
      ),
    },
    {
      label: 'Newest points',
      phone: 'hide',
      cell: (row) => <Sparkline values={pointsOf(row).map(({ value }) => value)} />,
    },
    {
      label: 'Latest',
      right: true,
      phoneLabel: (row) => latestPeriod(row, pointsOf(row)) ?? 'Latest',
      cell: (row) => {
        const last = pointsOf(row).at(-1);
        const period = latestPeriod(row, pointsOf(row));
        return (
          <>
            <span>{last === undefined ? '–' : numberText(last.value, digitsIn(pointsOf(row)))}</span>
            {period !== undefined && <small class="hide-p">{period}</small>}
          </>
        );
      },
    },
    {
      label: 'Change',
      right: true,
      cell: (row) => {
        const [before, last] = pointsOf(row).slice(-2);
        if (before === undefined || last === undefined) return '–';
        return changeText(last.value - before.value, digitsIn(pointsOf(row)));
      },
    },
    {
      label: 'Updated',
      right: true,
      cell: ({ last_updated: day }) => (day === null ? '–' : dayOf(day)),
    },
  ];
  return <DataTable caption={caption} columns={columns} rows={rows} keyOf={({ id }) => id} />;
}

/** All points of a series are shown with the digits of the longest, so that a change has the same digits as its two values. */
function digitsIn(points: readonly PreviewPoint[]): number {
  return decimalsOf(points.slice(-6).map(({ value }) => value));
}

function latestPeriod({ frequency, last_date: lastDate }: CatalogRow, points: readonly PreviewPoint[]) {
  const date = points.at(-1)?.date ?? lastDate;
  return date === null ? undefined : periodText(date, frequency);
}

function dayOf(day: string): string {
  return day.slice(0, 4) === String(new Date().getUTCFullYear()) ? shortDayText(day) : dayText(day);
}

// The rows of a table as they will be served, with their line numbers in the file, and the parts that are not loaded.
import { DataTable, type Column } from '../../../components/data-table.tsx';
import { countText, numberText } from '../../../text/numbers.ts';
import { dayText } from '../../../text/times.ts';
import type { Table } from './upload-answers.ts';

type Preview = NonNullable<Table['preview']>;
type Point = Preview['points'][number];

export function Rows({ preview }: { preview: Preview }) {
  const { points, points_read: count, is_whole: isWhole, fault } = preview;
  return (
    <section aria-labelledby="rows">
      <div class="sec-head">
        <h2 id="rows">As it will be served</h2>
        <p>
          {countText(count, 'point', 'points')}
          {!isWhole && ' of the lines that were read'}
        </p>
      </div>
      {fault !== null && (
        <div class="note warn">
          <p>
            <b>No rows can be shown</b>
            {fault}
          </p>
        </div>
      )}
      {points.length > 0 && (
        <DataTable
          caption="The first rows, some of the middle and the last, as they will be served"
          rows={points}
          keyOf={(point) => `${point.line} ${point.series} ${JSON.stringify(point.dims)} ${point.date}`}
          dense
          cards={columnsOf(points).length > columnsOfPhone}
          columns={columnsOf(points)}
        />
      )}
      <NotLoaded preview={preview} />
    </section>
  );
}

/** Up to this many columns stay a table on a phone. */
const columnsOfPhone = 4;

/** Columns without a value in any point are omitted. */
function columnsOf(points: readonly Point[]): Column<Point>[] {
  const has = (is: (point: Point) => boolean) => points.some(is);
  return [
    {
      label: 'Series',
      cell: ({ series, dims }) => (
        <>
          <span class="mono found-value">{series}</span>
          {Object.keys(dims).length > 0 && <span class="xs dim"> {Object.values(dims).join(', ')}</span>}
        </>
      ),
    },
    { label: 'Line', cell: ({ line }) => numberText(line) },
    { label: 'Date', cell: ({ date }) => dayText(date) },
    { label: 'Value', right: true, cell: ({ value }) => (value === null ? 'missing' : <b>{value}</b>) },
    ...(has(({ status }) => status !== null)
      ? [{ label: 'Status', cell: ({ status }: Point) => status ?? '–' }]
      : []),
    ...(has(({ vintage }) => vintage !== null)
      ? [{ label: 'Published', cell: ({ vintage }: Point) => (vintage === null ? '–' : dayText(vintage)) }]
      : []),
  ];
}

/** Rows, columns and cells that are left out or refused, each with the reason. */
function NotLoaded({ preview }: { preview: Preview }) {
  const { left_out: rows, columns_left_out: columns, refused, refused_count: refusedCount } = preview;
  if (rows.length + columns.length + refused.length === 0) return null;
  return (
    <>
      <h3 class="mt">What is not loaded</h3>
      <ul class="notes sm">
        {refused.map(({ line, column, text, expected }) => (
          <li key={`${line} ${column}`}>
            <b>
              Line {numberText(line)}, {column}: “{text}”
            </b>{' '}
            is refused. Allowed: {expected}
          </li>
        ))}
        {refusedCount > refused.length && (
          <li>{countText(refusedCount - refused.length, 'more cell is', 'more cells are')} refused</li>
        )}
        {rows.map(({ reason, count, examples }) => (
          <li key={reason}>
            <b>{countText(count, 'row', 'rows')}</b>, {reason}:{' '}
            <span class="found-value">
              {examples.map(({ line, text }) => `line ${numberText(line)}, “${text}”`).join('; ')}
            </span>
          </li>
        ))}
        {columns.map(({ title, reason }) => (
          <li key={title}>
            The column <b class="found-value">{title}</b>: {reason}
          </li>
        ))}
      </ul>
    </>
  );
}

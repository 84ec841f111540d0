// The changes that a table would make, as its check found them: counts, the largest changes, its series, the invalid rows, and the equivalent
// command.
import type { AnswerOf } from '../../../../clients/typescript/client.ts';
import { CodePanel } from '../../../components/code-panel.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import { changeText, countText, numberText } from '../../../text/numbers.ts';
import { dayText } from '../../../text/times.ts';
import { PointCounts } from '../point-counts.tsx';

type Check = AnswerOf<'post', '/v1/operator/uploads/{id}/check'>['data'];

export function Difference({ report }: { report: Check }) {
  const { rows_read: rows, rows_rejected: rejected, notes, publishable: isPublishable } = report;
  return (
    <div class="difference mt">
      <p class="sm">
        {countText(rows, 'row', 'rows')} read
        {isPublishable && `, ${countText(report.series_count, 'series', 'series')}`}
        {rejected > 0 && <b>, {countText(rejected, 'invalid row', 'invalid rows')}</b>}.
      </p>
      {isPublishable && <PointCounts of={report} />}
      {notes.length > 0 && (
        <ul class="notes sm">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {report.rejects.length > 0 && <Rejects report={report} />}
      {report.largest_changes.length > 0 && <LargestChanges rows={report.largest_changes} />}
      {report.series.length > 0 && <SeriesChanged rows={report.series} count={report.series_changed} />}
      <h3>The same on the command line</h3>
      <CodePanel code={report.command} />
    </div>
  );
}

function Rejects({ report: { rejects: rows, rows_rejected: count, publishable } }: { report: Check }) {
  return (
    <div>
      <h3>Invalid rows</h3>
      <DataTable
        caption="Invalid rows"
        rows={rows}
        keyOf={({ line, column, reason }) => `${line} ${column} ${reason}`}
        dense
        columns={[
          { label: 'Line', cell: ({ line }) => numberText(line) },
          { label: 'Column', cell: ({ column }) => column ?? '–' },
          { label: 'Error', phone: 'plain', cell: ({ reason }) => reason },
        ]}
      />
      {count > rows.length && <p class="xs dim below">and {numberText(count - rows.length)} more</p>}
      <p class="sm below">
        {publishable ? (
          'Invalid rows are skipped, as the entry requests.'
        ) : (
          <>
            A table with invalid rows is not published, unless its entry has <code>skip_invalid: true</code>.
          </>
        )}
      </p>
    </div>
  );
}

const valueText = (value: number | null) => (value === null ? 'none' : numberText(value));

function LargestChanges({ rows }: { rows: Check['largest_changes'] }) {
  return (
    <div>
      <h3>The largest changes</h3>
      <DataTable
        caption="The largest changes"
        rows={rows}
        keyOf={({ series, dims, date }) => `${series} ${JSON.stringify(dims)} ${date}`}
        dense
        columns={[
          {
            label: 'Series',
            cell: ({ series, dims }) => (
              <>
                <span class="mono">{series}</span>
                {Object.keys(dims).length > 0 && (
                  <span class="xs dim"> {Object.values(dims).join(', ')}</span>
                )}
              </>
            ),
          },
          { label: 'Date', cell: ({ date }) => dayText(date) },
          { label: 'Before', right: true, cell: ({ before }) => valueText(before) },
          { label: 'After', right: true, cell: ({ after }) => valueText(after) },
          {
            label: 'Change',
            right: true,
            cell: ({ percent }) => (percent === null ? '–' : `${changeText(percent, 1)} %`),
          },
        ]}
      />
    </div>
  );
}

function SeriesChanged({ rows, count }: { rows: Check['series']; count: number }) {
  return (
    <div>
      <h3>The series that change</h3>
      <DataTable
        caption="The series that change"
        rows={rows}
        keyOf={({ id }) => id}
        dense
        columns={[
          {
            label: 'Series',
            cell: ({ id, is_new: isNew }) => (
              <>
                <b class="mono">{id}</b>
                {isNew && <span class="tag acc">New</span>}
              </>
            ),
          },
          { label: 'New', right: true, cell: ({ points_new: points }) => numberText(points) },
          { label: 'Revised', right: true, cell: ({ points_revised: points }) => numberText(points) },
          { label: 'Deleted', right: true, cell: ({ points_deleted: points }) => numberText(points) },
        ]}
      />
      {count > rows.length && <p class="xs dim below">and {numberText(count - rows.length)} more</p>}
    </div>
  );
}

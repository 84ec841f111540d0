// What was detected in a table: first the guesses, which the user must confirm, then the certain parts, and the first rows.
import { DataTable } from '../../../components/data-table.tsx';
import { countText } from '../../../text/numbers.ts';
import type { Table } from './upload-answers.ts';

interface FoundProps {
  table: Table;
  /** The unconfirmed guesses. */
  open: readonly string[];
  /** By the key of a choice: the option that was picked. */
  picks: Readonly<Record<string, number>>;
  onConfirm: (paths: readonly string[], isConfirmed: boolean) => void;
}

export function Found({ table, open, picks, onConfirm }: FoundProps) {
  const { guesses, sure, skip, sample, lines_read: lines } = table;
  const rows = [
    ...guesses.map((each) => ({ ...each, value: valueOf(table, each, picks), isSure: false })),
    ...sure.map((each) => ({ ...each, isSure: true })),
  ];
  return (
    <section aria-labelledby="found">
      <div class="sec-head">
        <h2 id="found">What was found</h2>
        <p>{countText(lines, 'line was read', 'lines were read')}</p>
      </div>
      {skip !== null && (
        <div class="note warn skipped">
          <p>
            <b>No table was found</b>
            {skip}. Describe the table in its entry below, without the key “skip”.
          </p>
        </div>
      )}
      {guesses.length > 0 && skip === null && (
        <p class="actions below confirmed-all">
          <span class="sm" role="status">
            {open.length === 0
              ? 'All guesses are confirmed.'
              : `${countText(open.length, 'guess', 'guesses')} to confirm.`}
          </span>
          {open.length > 0 && (
            <button class="btn sml" type="button" onClick={() => onConfirm(open, true)}>
              Confirm all
            </button>
          )}
        </p>
      )}
      <DataTable
        caption="What was found, guesses first"
        rows={rows}
        keyOf={({ path }) => path}
        dense
        columns={[
          { label: 'Part', cell: ({ path }) => <span class="mono">{path}</span> },
          { label: 'Value', cell: ({ value }) => <b class="found-value">{value}</b> },
          {
            label: 'Certainty',
            cell: ({ isSure, path }) =>
              isSure ? (
                <span class="st good">Sure</span>
              ) : (
                <>
                  <span class="st warn">Guess</span>
                  {skip === null && (
                    <label class="confirm">
                      <input
                        type="checkbox"
                        aria-label={`${path} is correct`}
                        checked={!open.includes(path)}
                        onChange={(event) => onConfirm([path], event.currentTarget.checked)}
                      />
                      Correct
                    </label>
                  )}
                </>
              ),
          },
          {
            label: 'Evidence',
            phone: 'plain',
            cell: ({ evidence }) => <span class="xs found-value">{evidence}</span>,
          },
        ]}
      />
      {sample.length > 0 && <Sample rows={sample} />}
    </section>
  );
}

/** The present value of the guess: the picked reading, or the detected one. */
function valueOf(
  { choices }: Table,
  { path, value }: Table['guesses'][number],
  picks: FoundProps['picks'],
): string {
  const picked = picks[path] ?? 0;
  const options = choices.find(({ key }) => key === path)?.options ?? [];
  return picked === 0 ? value : (options[picked]?.label ?? value);
}

function Sample({ rows }: { rows: Table['sample'] }) {
  return (
    <>
      <h3 class="mt">Its first lines</h3>
      <div class="scrollx below" tabIndex={0} role="group" aria-label="The first lines of the table">
        <table class="dense sample">
          <tbody>
            {rows.map((cells, row) => (
              <tr key={row}>
                <th scope="row">{row + 1}</th>
                {cells.map((cell, column) => (
                  <td key={column} title={cell}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

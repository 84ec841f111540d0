// A page of series with a field for each of the chosen facts. Enter and the up and down arrows move to the same fact of another series.
import { Link } from 'wouter-preact';
import { DataTable, type Column } from '../../../components/data-table.tsx';
import { labels, textOf, type Draft, type Fact, type SeriesFacts } from './unsaved-facts.ts';

export interface Fault {
  id: string;
  /** Null: the whole row. */
  fact: string | null;
  reason: string;
}

interface FactTableProps {
  rows: readonly SeriesFacts[];
  shown: readonly Fact[];
  draft: Draft;
  faults: readonly Fault[];
  selected: ReadonlySet<string>;
  onSelect: (id: string, isSelected: boolean) => void;
  onType: (row: SeriesFacts, fact: Fact, text: string) => void;
}

export function FactTable({ rows, shown, draft, faults, selected, onSelect, onType }: FactTableProps) {
  const column = (fact: Fact): Column<SeriesFacts> => ({
    label: labels[fact],
    cell: (row) => (
      <FactCell
        row={row}
        fact={fact}
        typed={draft[row.id]?.[fact]}
        fault={faults.find((fault) => fault.id === row.id && fault.fact === fact)}
        onType={(text) => onType(row, fact, text)}
      />
    ),
  });
  return (
    <div class="scrollx fact-table" role="region" aria-label="Metadata" tabIndex={0}>
      <DataTable
        caption="Series and their metadata"
        rows={rows}
        keyOf={({ id }) => id}
        dense
        selected={({ id }) => selected.has(id)}
        columns={[
          {
            label: 'Series',
            cell: (row) => (
              <SeriesCell
                row={row}
                isNamed={!shown.includes('name')}
                isSelected={selected.has(row.id)}
                fault={faults.find(({ id, fact }) => id === row.id && !shown.some((each) => each === fact))}
                onSelect={(isSelected) => onSelect(row.id, isSelected)}
              />
            ),
          },
          ...shown.map(column),
        ]}
      />
    </div>
  );
}

interface SeriesCellProps {
  row: SeriesFacts;
  /** Whether the name is shown here, as it has no column. */
  isNamed: boolean;
  isSelected: boolean;
  /** A fault that belongs to no field of the row. */
  fault: Fault | undefined;
  onSelect: (isSelected: boolean) => void;
}

function SeriesCell({ row: { id, name }, isNamed, isSelected, fault, onSelect }: SeriesCellProps) {
  return (
    <div class="fact-series">
      <input
        type="checkbox"
        aria-label={`Select ${id}`}
        checked={isSelected}
        onChange={(event) => onSelect(event.currentTarget.checked)}
      />
      <div>
        <Link class="mono" href={`/series/${encodeURIComponent(id)}`}>
          {id}
        </Link>
        {isNamed && <small>{name}</small>}
        {fault !== undefined && <p class="fault">{fault.reason}</p>}
      </div>
    </div>
  );
}

interface FactCellProps {
  row: SeriesFacts;
  fact: Fact;
  /** Undefined: as stored. */
  typed: string | undefined;
  fault: Fault | undefined;
  onType: (text: string) => void;
}

function FactCell({ row, fact, typed, fault, onType }: FactCellProps) {
  const stored = textOf(row, fact);
  if (row.fixed.includes(fact)) return <span class="fixed-fact">{stored || 'not known'}</span>;
  const text = typed ?? stored;
  const about = `${fact}-of-${row.id}`;
  return (
    <div class="fact-cell">
      <input
        class={typed === undefined ? 'in' : 'in typed'}
        aria-label={`${labels[fact]} of ${row.id}`}
        aria-invalid={fault !== undefined}
        aria-describedby={typed === undefined && fault === undefined ? undefined : about}
        data-fact={fact}
        autocomplete="off"
        placeholder="not known"
        title={text}
        value={text}
        onInput={(event) => onType(event.currentTarget.value)}
        onKeyDown={toNextRow}
      />
      <div id={about}>
        {typed !== undefined && <small>was {stored === '' ? 'not known' : `“${stored}”`}</small>}
        {fault !== undefined && <p class="fault">{fault.reason}</p>}
      </div>
    </div>
  );
}

const steps: Readonly<Record<string, number>> = { Enter: 1, ArrowDown: 1, ArrowUp: -1 };

function toNextRow(event: KeyboardEvent): void {
  const field = event.currentTarget;
  const step = steps[event.key];
  if (step === undefined || !(field instanceof HTMLInputElement)) return;
  event.preventDefault();
  const ofFact = document.querySelectorAll<HTMLInputElement>(`input[data-fact='${field.dataset['fact']}']`);
  const next = ofFact[[...ofFact].indexOf(field) + step];
  next?.focus();
  next?.select();
}

// How the table is to be loaded: fields for what files rarely say, and the whole entry as YAML for everything else.
import { useId } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Field } from '../../../components/forms/field.tsx';
import { factNames, type Draft, type FactName } from './draft.ts';
import type { Table } from './upload.tsx';

const labels: Record<FactName, string> = { unit: 'Unit', source: 'Source', name: 'Name' };

interface EntryFormProps {
  table: Table;
  draft: Draft;
  onChange: (draft: Draft) => void;
}

export function EntryForm({ table, draft, onChange }: EntryFormProps) {
  return (
    <section aria-labelledby="entry">
      <h2 id="entry">What its series are</h2>
      <div class="fact-fields below">
        {factNames.map((name) => (
          <Field
            key={name}
            label={labels[name]}
            name={name}
            autocomplete="off"
            maxLength={1000}
            hint={hintOf(table, name)}
            value={draft.facts[name]}
            onInput={(event) =>
              onChange({ ...draft, facts: { ...draft.facts, [name]: event.currentTarget.value } })
            }
          />
        ))}
      </div>
      <EntryText
        found={table.entry}
        edited={draft.entry}
        isOpen={draft.entry !== undefined || table.skip !== null}
        onEdit={(entry) => onChange({ ...draft, entry: entry === table.entry ? undefined : entry })}
      />
    </section>
  );
}

/** What was found for the fact, which stays if the field is empty. */
function hintOf({ sure, guesses }: Table, name: FactName): string {
  const isIt = ({ path }: { path: string }) => path === `series.${name}`;
  const [known, guess] = [sure.find(isIt), guesses.find(isIt)];
  if (known !== undefined) return `If empty: ${known.value}`;
  return guess === undefined
    ? 'If empty: as in the entry below, or none'
    : `If empty: ${guess.value} (a guess)`;
}

interface EntryTextProps {
  found: string;
  edited: string | undefined;
  isOpen: boolean;
  onEdit: (entry: string) => void;
}

function EntryText({ found, edited, isOpen, onEdit }: EntryTextProps) {
  const id = useId();
  const text = edited ?? found;
  return (
    <details class="as-table" open={isOpen}>
      <summary>The whole entry, as almanac.yml has it</summary>
      <div class="field">
        <label class="vh" for={id}>
          Entry (YAML)
        </label>
        <textarea
          id={id}
          class="in entry-text mono"
          rows={Math.min(30, text.split('\n').length + 1)}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          aria-describedby={`${id}-hint`}
          value={text}
          onInput={(event) => onEdit(event.currentTarget.value)}
        />
        <p id={`${id}-hint`}>
          Filled fields above win over it. <Link href="/docs/publish#almanacyml">What each key means</Link>
        </p>
      </div>
      {edited !== undefined && (
        <p class="actions">
          <button class="btn sml" type="button" onClick={() => onEdit(found)}>
            Take the edit back
          </button>
        </p>
      )}
    </details>
  );
}

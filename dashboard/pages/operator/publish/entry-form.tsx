// The entry of the table: fields for metadata that files rarely contain, and the whole entry as YAML for everything else.
import { useId } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Field } from '../../../components/forms/field.tsx';
import type { Draft } from './unpublished-input.ts';
import type { FactField } from './fact-fields.ts';
import type { Table } from './upload-answers.ts';

interface EntryFormProps {
  table: Table;
  fields: readonly FactField[];
  draft: Draft;
  onChange: (edit: (before: Draft) => Draft) => void;
}

export function EntryForm({ table, fields, draft, onChange }: EntryFormProps) {
  const edit = (key: string, text: string) =>
    onChange((before) => ({ ...before, facts: { ...before.facts, [key]: text } }));
  return (
    <section aria-labelledby="entry">
      <h2 id="entry">Series metadata</h2>
      {fields.some(({ found }) => found === '') && (
        <p class="sm below">Fill in what the file does not contain. Empty fields are ignored.</p>
      )}
      <div class="fact-fields below">
        {fields.map(({ key, label, found, hint }) => (
          <Field
            key={key}
            label={label}
            name={key}
            autocomplete="off"
            maxLength={1000}
            hint={hint}
            value={draft.facts[key] ?? found}
            onInput={(event) => edit(key, event.currentTarget.value)}
          />
        ))}
      </div>
      <EntryText
        found={table.entry}
        edited={draft.entry}
        isOpen={draft.entry !== undefined || table.skip !== null}
        onEdit={(entry) =>
          onChange((before) => ({ ...before, entry: entry === table.entry ? undefined : entry }))
        }
      />
    </section>
  );
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
      <summary>The whole entry, as in almanac.yml</summary>
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
          Fields filled in above override this text.{' '}
          <Link href="/docs/publish#almanacyml">What each key means</Link>
        </p>
      </div>
      {edited !== undefined && (
        <p class="actions">
          <button class="btn sml" type="button" onClick={() => onEdit(found)}>
            Undo the edit
          </button>
        </p>
      )}
    </details>
  );
}

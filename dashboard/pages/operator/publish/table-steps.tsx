// The steps from a detected table to its publication: its content, the user's input, the changes that it would make, and the time.
import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../../../clients/typescript/client.ts';
import { accountApi } from '../../../api/clients.ts';
import { Problem, useAction } from '../../../components/forms/action.tsx';
import { Choices } from './choices.tsx';
import { Difference } from './difference.tsx';
import {
  confirmedBy,
  pickedIn,
  storeDraft,
  storedDraft,
  openGuesses,
  requestOf,
  type Draft,
} from './unpublished-input.ts';
import { EntryForm } from './entry-form.tsx';
import { factFields } from './fact-fields.ts';
import { Found } from './found.tsx';
import { PublishForm } from './publish-form.tsx';
import { Rows } from './rows.tsx';
import type { Publication, Table } from './upload-answers.ts';

type Check = AnswerOf<'post', '/v1/operator/uploads/{id}/check'>['data'];

interface TableStepsProps {
  /** The id of the upload. */
  upload: string;
  table: Table;
  onPublished: (publication: Publication) => void;
}

export function TableSteps({ upload, table, onPublished }: TableStepsProps) {
  const of = `${upload} ${table.table}`;
  const [draft, setDraft] = useState<Draft>(() => storedDraft(of));
  const [checked, setChecked] = useState<{ request: string; report: Check }>();
  const action = useAction();
  const picking = useAction();
  // The options just picked: shown as picked while the check with them runs.
  const [pending, setPending] = useState<Record<string, number>>({});
  const fields = factFields(table);
  const request = requestOf(table.table, draft, fields);
  const open = table.skip === null ? openGuesses(table.guesses, draft) : [];
  const change = (edit: (before: Draft) => Draft) =>
    setDraft((before) => {
      const next = edit(before);
      storeDraft(of, next);
      return next;
    });
  const check = async (choose: Record<string, number> = {}) => {
    const { data } = await accountApi.post('/v1/operator/uploads/{id}/check', {
      path: { id: upload },
      body: { ...request, choose },
    });
    const isPick = Object.keys(choose).length > 0;
    const picked = (before: Draft) =>
      pickedIn(before, choose, data.entry === table.entry ? undefined : data.entry);
    // What was typed while the check ran stays, and is checked again.
    if (isPick) change(picked);
    const made = isPick ? requestOf(table.table, picked(draft), fields) : request;
    setChecked({ request: JSON.stringify(made), report: data });
  };
  // Only a checked table is published: after an edit it is checked again.
  const report = checked?.request === JSON.stringify(request) ? checked.report : undefined;
  const preview = report?.preview ?? checked?.report.preview ?? table.preview;
  return (
    <>
      <Found
        table={table}
        open={open}
        picks={draft.picks}
        onConfirm={(paths, isConfirmed) => change((before) => confirmedBy(before, paths, isConfirmed))}
      />
      <Choices
        choices={table.choices}
        picks={{ ...draft.picks, ...pending }}
        isBusy={picking.isBusy}
        onPick={(key, option) => {
          setPending({ [key]: option });
          picking.run(() => check({ [key]: option }).finally(() => setPending({})));
        }}
      >
        <Problem of={picking.error} />
      </Choices>
      {preview !== null && <Rows preview={preview} />}
      <EntryForm table={table} fields={fields} draft={draft} onChange={change} />
      <section aria-labelledby="difference">
        <h2 id="difference">What it changes</h2>
        <p class="sm below" role="status">
          {report === undefined
            ? 'The check shows what the table would change with the values above. It stores nothing.'
            : report.publishable
              ? `Checked with the values above. ${open.length === 0 ? 'Nothing is published yet.' : 'The table can be published once its guesses are confirmed.'}`
              : 'Checked with the values above. Fix the problems below to publish the table.'}
        </p>
        <p class="actions below">
          <button
            class={report === undefined ? 'btn main' : 'btn'}
            type="button"
            disabled={action.isBusy}
            onClick={() => action.run(() => check())}
          >
            {action.isBusy ? 'Checking …' : 'Check what it changes'}
          </button>
        </p>
        <Problem of={action.error} />
        {report !== undefined && <Difference report={report} />}
      </section>
      {report?.publishable === true && open.length === 0 && (
        <PublishForm upload={upload} request={request} onPublished={onPublished} />
      )}
    </>
  );
}

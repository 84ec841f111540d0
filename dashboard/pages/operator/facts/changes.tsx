// The dialog that confirms a change of metadata: the old and new value of each changed field, and the reason for the record.
import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../../../clients/typescript/client.ts';
import { DataTable } from '../../../components/data-table.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { useAction } from '../../../components/forms/action.tsx';
import { Buttons } from '../../../components/forms/buttons.tsx';
import { Field } from '../../../components/forms/field.tsx';
import { countText, numberText } from '../../../text/numbers.ts';
import { labels } from './unsaved-facts.ts';

export type Report = AnswerOf<'patch', '/v1/operator/series'>['data'];

const shownMax = 200;

interface ChangesProps {
  /** The report of the dry run. */
  report: Report;
  /** @throws if nothing was saved. */
  onSave: (reason: string) => Promise<void>;
  onClose: () => void;
}

export function Changes({ report, onSave, onClose }: ChangesProps) {
  const [reason, setReason] = useState('');
  const action = useAction();
  const changes = report.series.flatMap(({ id, changes: ofSeries }) =>
    ofSeries.map((change) => ({ id, ...change })),
  );
  const { series_changed: changed, series_unchanged: unchanged } = report;
  return (
    <Dialog title="What changes" onClose={onClose} locked={action.isBusy}>
      <p class="sm below">
        {countText(changes.length, 'change', 'changes')} in {countText(changed, 'series', 'series')}
        {unchanged > 0 && `; ${numberText(unchanged)} already had these values`}. Either all are saved, or
        none.
      </p>
      <div class="scrollx facts-changed" role="region" aria-label="Changes" tabIndex={0}>
        <DataTable
          caption="Changes"
          rows={changes.slice(0, shownMax)}
          keyOf={({ id, fact }) => `${id} ${fact}`}
          dense
          columns={[
            { label: 'Series', cell: ({ id }) => <b class="mono">{id}</b> },
            { label: 'Field', cell: ({ fact }) => labelOf(fact) },
            { label: 'Before', cell: ({ from }) => <span class="found-value">{valueText(from)}</span> },
            { label: 'After', cell: ({ to }) => <b class="found-value">{valueText(to)}</b> },
          ]}
        />
      </div>
      {changes.length > shownMax && (
        <p class="xs dim below">and {numberText(changes.length - shownMax)} more</p>
      )}
      <form class="form mt" onSubmit={action.submit(() => onSave(reason.trim()))}>
        <Field
          label="Reason, for the record"
          name="reason"
          maxLength={1000}
          autocomplete="off"
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
        <Buttons action={action} submit="Save" onCancel={onClose} />
      </form>
    </Dialog>
  );
}

const labelOf = (fact: string): string => (labels as Readonly<Record<string, string>>)[fact] ?? fact;

function valueText(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'not known';
  if (Array.isArray(value)) return value.join('; ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

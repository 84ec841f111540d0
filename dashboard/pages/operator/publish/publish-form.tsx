// Publishes the table now, at a release time, or with an entry of the release calendar.
import { Pick } from '../../../components/pick.tsx';
import { useId, useState } from 'preact/hooks';
import { accountApi, api } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import { rowsOf, type Row } from '../../../api/rows.ts';
import { Choice } from '../../../components/choice.tsx';
import { Problem, useAction } from '../../../components/forms/action.tsx';
import { Field } from '../../../components/forms/field.tsx';
import { Waiting } from '../../../components/states.tsx';
import { instantText, referencePeriodText, today } from '../../../text/times.ts';
import type { requestOf } from './unpublished-input.ts';
import type { Publication } from './upload-answers.ts';

const times = [
  { value: 'now', label: 'Now' },
  { value: 'instant', label: 'At a time' },
  { value: 'calendar', label: 'With the calendar' },
] as const;
type Time = (typeof times)[number]['value'];

const explanations: Record<Time, string> = {
  now: 'The data is visible at once, and its webhooks are sent. To undo this, retract the load.',
  instant: 'The data stays hidden until that time, then is published within one second.',
  calendar: 'The data is published at the time of the calendar entry, even if that time changes.',
};

interface PublishFormProps {
  /** The id of the upload. */
  upload: string;
  request: ReturnType<typeof requestOf>;
  onPublished: (publication: Publication) => void;
}

export function PublishForm({ upload, request, onPublished }: PublishFormProps) {
  const [time, setTime] = useState<Time>('now');
  const action = useAction();
  const submit = action.submit(async (field) => {
    const when = {
      now: {},
      instant: { release_at: `${field('instant')}:00Z` },
      calendar: { release_with: field('entry') },
    }[time];
    const { data } = await accountApi.post('/v1/operator/uploads/{id}/publication', {
      path: { id: upload },
      body: { ...request, ...when },
    });
    onPublished(data);
  });
  return (
    <section aria-labelledby="publish">
      <h2 id="publish">Publish</h2>
      <form class="form below" onSubmit={submit}>
        <Choice label="When" options={times} value={time} onChange={setTime} />
        <p class="sm">{explanations[time]}</p>
        {time === 'instant' && (
          <Field
            label="Release time (UTC)"
            name="instant"
            type="datetime-local"
            min={new Date().toISOString().slice(0, 16)}
            required
          />
        )}
        {time === 'calendar' && <CalendarEntries />}
        <Problem of={action.error} />
        <p class="actions">
          <button class="btn main" type="submit" disabled={action.isBusy}>
            {time === 'now' ? 'Publish now' : 'Schedule the release'}
          </button>
        </p>
      </form>
    </section>
  );
}

const entriesMax = 1_000;

/** Future entries with a time: a release requires an exact time. */
function CalendarEntries() {
  const id = useId();
  const loaded = useLoad(async (signal) => {
    const query = { from: today(), status: ['scheduled' as const], limit: entriesMax };
    const entries = rowsOf(await api.get('/v1/calendar', { query, signal }));
    return entries.filter(
      ({ release_at: at, time_confirmed: hasTime }) => hasTime && Date.parse(at) > Date.now(),
    );
  }, []);
  return (
    <Waiting for={loaded} failure="The calendar could not be loaded">
      {(entries) =>
        entries.length === 0 ? (
          <p class="sm">The calendar has no future entry with a time.</p>
        ) : (
          <div class="field">
            <label for={id}>Calendar entry</label>
            <Pick
              id={id}
              name="entry"
              required
              options={entries.map((entry) => ({ value: entry.id, label: labelOf(entry) }))}
            />
          </div>
        )
      }
    </Waiting>
  );
}

const labelOf = ({ release_at: at, title, reference_period: period }: Row<'/v1/calendar'>) =>
  `${instantText(at)} · ${title}${period === null ? '' : `, ${referencePeriodText(period)}`}`;

// When the table is published: now, at an instant, or with an entry of the release calendar.
import { Pick } from '../../../components/pick.tsx';
import { useId, useState } from 'preact/hooks';
import { accountApi, api } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import { rowsOf, type Row } from '../../../api/rows.ts';
import { Choice } from '../../../components/choice.tsx';
import { useAction } from '../../../components/forms/action.tsx';
import { Field } from '../../../components/forms/field.tsx';
import { Waiting } from '../../../components/states.tsx';
import { instantText, referencePeriodText, today } from '../../../text/times.ts';
import { FreshProblem } from '../operator-page.tsx';
import type { requestOf } from './draft.ts';
import type { Publication } from './answers.ts';

const times = [
  { value: 'now', label: 'Now' },
  { value: 'instant', label: 'At an instant' },
  { value: 'calendar', label: 'With the calendar' },
] as const;
type Time = (typeof times)[number]['value'];

const explanations: Record<Time, string> = {
  now: 'It is visible at once, and its webhooks are sent. It can be undone: every load can be retracted.',
  instant: 'Until then nobody can see anything of it. It is published at that instant, within the second.',
  calendar: 'It is published at the time of the calendar entry, even if that changes.',
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
            label="Instant (UTC)"
            name="instant"
            type="datetime-local"
            min={new Date().toISOString().slice(0, 16)}
            required
          />
        )}
        {time === 'calendar' && <CalendarEntries />}
        <FreshProblem of={action.error} />
        <p class="actions">
          <button class="btn main" type="submit" disabled={action.isBusy}>
            {time === 'now' ? 'Publish now' : 'Put under embargo'}
          </button>
        </p>
      </form>
    </section>
  );
}

const entriesMax = 1_000;

/** The coming entries with a time, as a release requires an instant. */
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
          <p class="sm">The calendar has no entry to come that states a time.</p>
        ) : (
          <div class="field">
            <label for={id}>Entry of the calendar</label>
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

// Adds an endpoint: its address, the events by their prefix with sample payloads, and then its signing secret, shown once.
import { useState } from 'preact/hooks';
import type { CallOptions } from '../../../../clients/typescript/client.ts';
import { accountApi, api } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import type { Fields } from '../../../components/forms/action.tsx';
import { CodePanel } from '../../../components/code-panel.tsx';
import { Field } from '../../../components/forms/field.tsx';
import { Waiting } from '../../../components/states.tsx';
import { FormDialog } from '../../../components/forms/form-dialog.tsx';
import { SecretOnce } from '../secret-once.tsx';
import { eventKindsIn, prefixesOf, type EventKind } from './event-kinds.ts';

type EventType = CallOptions<'post', '/v1/webhooks'>['body']['events'][number];

export function NewEndpoint({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const [secret, setSecret] = useState<string>();
  const [chosen, setChosen] = useState<readonly string[]>(['series.updated']);
  const kinds = useLoad(async (signal) => eventKindsIn(await api.get('/v1/openapi.json', { signal })), []);
  if (secret !== undefined) {
    return (
      <SecretOnce
        title="Store the signing secret now"
        secret={secret}
        what="secret"
        lede="This is the only time it is shown. Your server uses it to verify that requests come from us."
        onDone={onClose}
      />
    );
  }
  const add = async (field: Fields) => {
    const series = field('series')
      .split(/[\s,]+/)
      .filter((id) => id !== '');
    const description = field('description').trim();
    const body = {
      url: field('url').trim(),
      // The API lists the event types that it knows.
      events: [...chosen] as EventType[],
      ...(series.length === 0 ? {} : { series }),
      ...(description === '' ? {} : { description }),
    };
    const { data } = await accountApi.post('/v1/webhooks', { body });
    onMade();
    if (data.secret === undefined) onClose();
    else setSecret(data.secret);
  };
  return (
    <FormDialog
      title="Add an endpoint"
      submit="Add the endpoint"
      isReady={chosen.length > 0}
      change={add}
      onClose={onClose}
    >
      <Field
        label="Address"
        name="url"
        type="url"
        placeholder="https://example.org/hooks"
        hint="https, with a public address, on port 443 or 8443."
        autocomplete="off"
        required
      />
      <Field label="Description (optional)" name="description" maxLength={200} autocomplete="off" />
      <Waiting for={kinds} failure="The events could not be loaded">
        {(found) => <EventPicker kinds={found} chosen={chosen} onChoose={setChosen} />}
      </Waiting>
      <Field
        label="Only these series"
        name="series"
        placeholder="GDP, CPI*"
        hint="Ids, or prefixes of ids followed by *. Leave it empty for all series."
        autocomplete="off"
      />
    </FormDialog>
  );
}

interface EventPickerProps {
  kinds: readonly EventKind[];
  chosen: readonly string[];
  onChoose: (chosen: readonly string[]) => void;
}

function EventPicker({ kinds, chosen, onChoose }: EventPickerProps) {
  const [opened, setOpened] = useState<string>();
  const toggle = (type: string) =>
    onChoose(chosen.includes(type) ? chosen.filter((each) => each !== type) : [...chosen, type]);
  return (
    <div class="events">
      {prefixesOf(kinds).map((prefix) => (
        <fieldset key={prefix}>
          <legend>{prefix}</legend>
          <div class="kinds">
            {kinds
              .filter(({ type }) => type.startsWith(`${prefix}.`))
              .map(({ type, summary, sample }) => (
                <div class="kind" key={type}>
                  <label class="check" title={summary}>
                    <input type="checkbox" checked={chosen.includes(type)} onChange={() => toggle(type)} />
                    <span class="mono xs">{type}</span>
                  </label>
                  <button
                    class="link xs"
                    type="button"
                    aria-expanded={opened === type}
                    aria-label={`Sample of ${type}`}
                    onClick={() => setOpened(opened === type ? undefined : type)}
                  >
                    Sample
                  </button>
                  {opened === type && <CodePanel code={sample} />}
                </div>
              ))}
          </div>
        </fieldset>
      ))}
    </div>
  );
}

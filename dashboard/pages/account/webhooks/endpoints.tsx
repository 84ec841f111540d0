// The webhook endpoints: the health of each, and the actions on it.
import { useState } from 'preact/hooks';
import { accountApi } from '../../../api/clients.ts';
import { Facts } from '../../../components/facts.tsx';
import { Problem, useAction, type Action } from '../../../components/forms/action.tsx';
import { Field } from '../../../components/forms/field.tsx';
import { actionsColumn, DataTable, RowButton } from '../../../components/data-table.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { WarningIcon } from '../../../components/icons.tsx';
import { Pick } from '../../../components/pick.tsx';
import type { ChangeQuery } from '../../../components/use-query.ts';
import { shareText } from '../../../text/amounts.ts';
import { countText } from '../../../text/numbers.ts';
import { dayText, instantText } from '../../../text/times.ts';
import { SecretOnce } from '../secret-once.tsx';
import { TypedConfirmation } from '../typed-confirmation.tsx';
import type { Delivery, Webhook } from './webhook-answers.ts';

interface EndpointsProps {
  webhooks: readonly Webhook[];
  deliveries: ReadonlyMap<string, readonly Delivery[]>;
  mayCreate: boolean;
  max: number;
  query: URLSearchParams;
  show: ChangeQuery;
  reload: () => void;
  /** Called after the endpoint with this id was deleted. */
  forget: (id: string) => void;
}

/** Without the scheme, for people. */
export function addressOf({ url }: Pick<Webhook, 'url'>): string {
  return url.replace(/^https?:\/\//, '');
}

export function Endpoints({
  webhooks,
  deliveries,
  mayCreate,
  max,
  query,
  show,
  reload,
  forget,
}: EndpointsProps) {
  const action = useAction();
  const opened = webhooks.find(({ id }) => id === query.get('manage'));
  return (
    <>
      {webhooks
        .filter(({ disabled_because: why }) => why === 'failing' || why === 'gone')
        .map((webhook) => (
          <DisabledNote key={webhook.id} webhook={webhook} action={action} reload={reload} />
        ))}
      <Problem of={action.error} />
      <section aria-labelledby="endpoints">
        <div class="sec-head">
          <h2 id="endpoints">Endpoints</h2>
          <p>
            {webhooks.length} of {max}
          </p>
          <button
            class="btn sml main push"
            type="button"
            disabled={!mayCreate || webhooks.length >= max}
            onClick={() => show({ create: 'endpoint' })}
          >
            Add an endpoint
          </button>
        </div>
        <DataTable
          caption="Endpoints"
          rows={webhooks}
          keyOf={({ id }) => id}
          columns={[
            {
              label: 'Address',
              cell: (webhook) => (
                <>
                  <b>{addressOf(webhook)}</b>
                  <small>{webhook.description ?? webhook.events.join(', ')}</small>
                </>
              ),
            },
            {
              label: 'Last deliveries',
              phone: 'hide',
              cell: ({ id }) => <DeliveryStrip of={deliveries.get(id) ?? []} />,
            },
            { label: 'Delivered', right: true, cell: ({ id }) => deliveredText(deliveries.get(id) ?? []) },
            { label: 'Health', cell: (webhook) => <Health of={webhook} /> },
            {
              ...actionsColumn,
              cell: (webhook) => (
                <RowButton
                  label="Manage"
                  of={addressOf(webhook)}
                  onClick={() => show({ manage: webhook.id })}
                />
              ),
            },
          ]}
        />
      </section>
      {opened !== undefined && (
        <Manage
          webhook={opened}
          reload={reload}
          forget={forget}
          onClose={() => show({ manage: undefined })}
        />
      )}
    </>
  );
}

function deliveredText(deliveries: readonly Delivery[]): string {
  const ended = deliveries.filter(({ status }) => status !== 'pending');
  if (ended.length === 0) return '–';
  const delivered = ended.filter(({ status }) => status === 'delivered').length;
  return `${shareText(delivered / ended.length)} of the last ${ended.length}`;
}

/** One stroke per delivery, the oldest at the left. */
function DeliveryStrip({ of }: { of: readonly Delivery[] }) {
  return (
    <span class="delivery-strip" aria-hidden="true">
      {of.toReversed().map(({ id, status }) => (
        <i key={id} class={status} />
      ))}
    </span>
  );
}

function Health({ of: { status, failing_since: failingSince, disabled_at: disabledAt } }: { of: Webhook }) {
  if (status === 'disabled')
    return <span class="st off">Disabled {disabledAt === null ? '' : dayText(disabledAt)}</span>;
  if (failingSince !== null)
    return <span class="st warn">Failing since {instantText(failingSince)} UTC</span>;
  return <span class="st good">Healthy</span>;
}

const enable = (id: string, enabled: boolean) =>
  accountApi.patch('/v1/webhooks/{id}', { path: { id }, body: { enabled } });

interface OfWebhook {
  webhook: Webhook;
  reload: () => void;
}

function DisabledNote({ webhook, action, reload }: OfWebhook & { action: Action }) {
  const why =
    webhook.disabled_because === 'gone'
      ? 'It answered 410, which asks us to stop sending events.'
      : 'Every delivery failed for five days.';
  return (
    <div class="note bad">
      <WarningIcon />
      <div>
        <b>{addressOf(webhook)} was disabled</b>
        {why} Messages that are still pending are sent if you enable it again within 30 days.
      </div>
      <div class="actions">
        <button
          class="btn sml"
          type="button"
          onClick={() =>
            action.run(async () => {
              await enable(webhook.id, true);
              reload();
            })
          }
        >
          Enable
        </button>
      </div>
    </div>
  );
}

interface ManageProps extends OfWebhook {
  forget: (id: string) => void;
  onClose: () => void;
}

function Manage({ webhook, reload, forget, onClose }: ManageProps) {
  const [step, setStep] = useState<'menu' | 'delete'>('menu');
  const [secret, setSecret] = useState<string>();
  const [notice, setNotice] = useState('');
  const action = useAction();
  const act = (change: () => Promise<void>) => {
    setNotice('');
    action.run(change);
  };
  const { id, status, previous_secret_until: previousUntil } = webhook;
  const at = { path: { id } };
  if (secret !== undefined) {
    return (
      <SecretOnce
        title="Store the new signing secret now"
        secret={secret}
        what="secret"
        lede="This is the only time it is shown. For 24 hours, requests are signed with both the old and the new secret."
        onDone={onClose}
      />
    );
  }
  if (step === 'delete') {
    return (
      <TypedConfirmation
        title="Delete this endpoint?"
        name={addressOf(webhook)}
        button="Delete it"
        change={async () => {
          await accountApi.delete('/v1/webhooks/{id}', at);
          forget(id);
        }}
        onClose={onClose}
      >
        <p>It receives no further events. Its deliveries and their log are deleted.</p>
      </TypedConfirmation>
    );
  }
  const test = () =>
    act(async () => {
      await accountApi.post('/v1/webhooks/{id}/test', at);
      setNotice('A test event is on its way. The log below shows it.');
      reload();
    });
  const rotate = () =>
    act(async () => {
      const { data } = await accountApi.post('/v1/webhooks/{id}/rotate-secret', at);
      setSecret(data.secret);
      reload();
    });
  const toggle = () =>
    act(async () => {
      await enable(id, status === 'disabled');
      setNotice(
        status === 'disabled'
          ? 'The endpoint is enabled.'
          : 'The endpoint is disabled. Events that occur while it is disabled are not stored for it.',
      );
      reload();
    });
  return (
    <Dialog title={addressOf(webhook)} onClose={onClose} locked={action.isBusy}>
      <Facts
        class="below"
        facts={[
          ['Events', webhook.events.join(', ')],
          ['Series', webhook.series === null ? 'all' : webhook.series.join(', ')],
          ['Health', <Health of={webhook} />],
          ['The old secret works until', previousUntil && `${instantText(previousUntil)} UTC`],
        ]}
      />
      <div class="actions below">
        <button class="btn" type="button" onClick={test} disabled={action.isBusy || status === 'disabled'}>
          Send a test event
        </button>
        <button class="btn" type="button" onClick={rotate} disabled={action.isBusy}>
          Rotate the secret
        </button>
        <button class="btn" type="button" onClick={toggle} disabled={action.isBusy}>
          {status === 'disabled' ? 'Enable' : 'Disable'}
        </button>
        <button class="btn danger" type="button" onClick={() => setStep('delete')}>
          Delete
        </button>
      </div>
      <ResendMissed
        id={id}
        onBegin={() => setNotice('')}
        onDone={(recovered) => {
          setNotice(`${countText(recovered, 'delivery is', 'deliveries are')} being resent.`);
          reload();
        }}
      />
      <p class="sm below" role="status">
        {notice}
      </p>
      <Problem of={action.error} />
      <div class="actions dlg-end">
        <button class="btn" type="button" onClick={onClose} disabled={action.isBusy}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

/** Each request continues where the previous one stopped. */
async function recoverAll(id: string, from: { since: string } | { cursor: string }): Promise<number> {
  let sum = 0;
  for (let body = from; ;) {
    const { data } = await accountApi.post('/v1/webhooks/{id}/recover', { path: { id }, body });
    sum += data.recovered;
    if (!data.has_more || (data.recovered === 0 && data.cursor === null)) return sum;
    if (data.cursor !== null) body = { cursor: data.cursor };
  }
}

interface ResendMissedProps {
  id: string;
  onBegin: () => void;
  onDone: (recovered: number) => void;
}

function ResendMissed({ id, onBegin, onDone }: ResendMissedProps) {
  const action = useAction();
  const [from, setFrom] = useState('24');
  const submit = action.submit(async (field) => {
    onBegin();
    const since = () => new Date(Date.now() - Number(from) * 3_600_000).toISOString().replace(/\.\d+/, '');
    onDone(await recoverAll(id, from === 'cursor' ? { cursor: field('cursor').trim() } : { since: since() }));
  });
  return (
    <form class="below" onSubmit={submit}>
      <div class="actions">
        <label class="sm" for="recover-from">
          Resend missed events
        </label>
        <Pick
          id="recover-from"
          name="from"
          value={from}
          onPick={setFrom}
          options={[
            { value: '24', label: 'from the last 24 hours' },
            { value: '168', label: 'from the last 7 days' },
            { value: '720', label: 'from the last 30 days' },
            { value: 'cursor', label: 'after a cursor of /v1/updates' },
          ]}
        />
        <button class="btn" type="submit" disabled={action.isBusy}>
          Resend
        </button>
      </div>
      {from === 'cursor' && (
        <Field
          label="Cursor"
          name="cursor"
          hint="The cursor of the last update that you have. Updates published while the endpoint was disabled are sent, too."
          autocomplete="off"
          required
        />
      )}
      <Problem of={action.error} />
    </form>
  );
}

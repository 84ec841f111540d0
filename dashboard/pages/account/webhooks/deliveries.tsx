// The log of deliveries of an endpoint, with filters; a row opens its attempts beside it, and ↑ ↓ move between rows.
import { accountApi } from '../../../api/clients.ts';
import { shownIn, useLoad } from '../../../api/use-load.ts';
import { usePoll } from '../../../api/poll.ts';
import { rowsOf } from '../../../api/rows.ts';
import { Pick } from '../../../components/pick.tsx';
import { Empty, Waiting } from '../../../components/states.tsx';
import type { ChangeQuery } from '../../../components/use-query.ts';
import { countText } from '../../../text/numbers.ts';
import { recentText } from '../../../text/times.ts';
import { DeliveryDetail } from './delivery-detail.tsx';
import { addressOf } from './endpoints.tsx';
import type { Delivery, Webhook } from './webhook-answers.ts';

interface DeliveriesProps {
  webhooks: readonly Webhook[];
  query: URLSearchParams;
  show: ChangeQuery;
  /** Counts the changes made on this page. */
  changes: number;
  reload: () => void;
}

const pollEveryMs = 3_000;
const rowsShown = 50;
const statuses = ['pending', 'delivered', 'failed'] as const;
type EventType = Delivery['type'];
/** The compiler finds a missing one. */
const everyType: Record<EventType, true> = {
  'series.updated': true,
  'series.revised': true,
  'series.deleted': true,
  'series.restored': true,
  'series.renamed': true,
  'dataset.updated': true,
  'release.published': true,
  'source.failed': true,
  'key.created': true,
  'key.revoked': true,
  'usage.threshold_reached': true,
  'subscription.updated': true,
  'payment.failed': true,
  'webhook.test': true,
};
const types = Object.keys(everyType) as EventType[];

const statusNames = { pending: 'Pending', delivered: 'Delivered', failed: 'Failed' } as const;

export function Deliveries({ webhooks, query, show, changes, reload }: DeliveriesProps) {
  const webhook = webhooks.find(({ id }) => id === query.get('endpoint')) ?? webhooks[0];
  const status = statuses.find((each) => each === query.get('status'));
  const type = types.find((each) => each === query.get('type'));
  const id = webhook?.id ?? '';
  const list = `${id} ${status} ${type}`;
  const request = async (signal: AbortSignal) => {
    const filters = { ...(status === undefined ? {} : { status }), ...(type === undefined ? {} : { type }) };
    const answer = await accountApi.get('/v1/webhooks/{id}/deliveries', {
      path: { id },
      query: { limit: rowsShown, ...filters },
      signal,
    });
    return { of: list, rows: rowsOf(answer) };
  };
  const inputs = [list, changes];
  const loaded = useLoad(request, inputs);
  const watched = usePoll(shownIn(loaded) === undefined ? null : request, pollEveryMs, inputs);
  return (
    <section aria-labelledby="deliveries">
      <div class="bar-ctl">
        <h2 id="deliveries">Deliveries</h2>
        <span class="push" />
        <Pick
          small
          label="Endpoint"
          value={id}
          options={webhooks.map((each) => ({ value: each.id, label: addressOf(each) }))}
          onPick={(endpoint) => show({ endpoint, delivery: undefined })}
        />
        <Pick
          small
          label="Event"
          value={type ?? ''}
          options={[
            { value: '', label: 'All events' },
            ...types.map((each) => ({ value: each, label: each })),
          ]}
          onPick={(picked) => show({ type: picked === '' ? undefined : picked, delivery: undefined })}
        />
        <Pick
          small
          label="Result"
          value={status ?? ''}
          options={[
            { value: '', label: 'All results' },
            ...statuses.map((each) => ({ value: each, label: statusNames[each] })),
          ]}
          onPick={(picked) => show({ status: picked === '' ? undefined : picked, delivery: undefined })}
        />
      </div>
      <Waiting for={loaded} failure="The deliveries could not be loaded">
        {(first) => (
          <Log
            // The newest answer may be to the filters of before.
            deliveries={watched?.of === list ? watched.rows : first.rows}
            webhookId={id}
            chosen={query.get('delivery')}
            show={show}
            reload={reload}
          />
        )}
      </Waiting>
    </section>
  );
}

interface LogProps {
  deliveries: readonly Delivery[];
  webhookId: string;
  /** The id of the delivery whose detail is shown. */
  chosen: string | null;
  show: ChangeQuery;
  reload: () => void;
}

function Log({ deliveries, webhookId, chosen, show, reload }: LogProps) {
  if (deliveries.length === 0) {
    return (
      <Empty title="No deliveries">
        <p>Send a test event to see one.</p>
      </Empty>
    );
  }
  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = deliveries.findIndex(({ id }) => id === chosen);
    const next = deliveries[Math.min(deliveries.length - 1, Math.max(0, at + step))];
    if (next === undefined) return;
    show({ delivery: next.id });
    document.getElementById(`delivery-${next.id}`)?.focus();
  }
  return (
    <div class="split">
      <div>
        <table class="dense edge log" onKeyDown={onKeyDown}>
          <caption class="vh">Deliveries, newest first</caption>
          <thead>
            <tr>
              <th scope="col">Result</th>
              <th scope="col">Event</th>
              <th scope="col" class="right">
                Time (UTC)
              </th>
            </tr>
          </thead>
          <tbody>
            {deliveries.map((delivery) => (
              <tr key={delivery.id} class={delivery.id === chosen ? 'sel' : undefined}>
                <td>
                  <Result of={delivery} />
                </td>
                <td>
                  <button
                    class="link mono xs"
                    type="button"
                    id={`delivery-${delivery.id}`}
                    aria-pressed={delivery.id === chosen}
                    onClick={() => show({ delivery: delivery.id })}
                  >
                    {delivery.type}
                  </button>
                </td>
                <td class="right">
                  {recentText(delivery.created_at)}
                  <small>{countText(delivery.attempts, 'attempt', 'attempts')}</small>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <p class="xs dim below">Up to {rowsShown}, newest first. Deliveries are stored for 30 days.</p>
      </div>
      {chosen === null ? (
        <p class="sm dim">Choose a delivery to see its attempts.</p>
      ) : (
        <DeliveryDetail
          key={chosen}
          webhookId={webhookId}
          id={chosen}
          stamp={stampOf(deliveries, chosen)}
          reload={reload}
        />
      )}
    </div>
  );
}

/** Changes after each attempt, so that the detail is loaded again. */
function stampOf(deliveries: readonly Delivery[], id: string): string {
  const found = deliveries.find((each) => each.id === id);
  return found === undefined ? '' : `${found.status} ${found.attempts} ${found.last_attempt_at}`;
}

function Result({ of: { status, next_attempt_at: nextAt, attempts } }: { of: Delivery }) {
  if (status === 'delivered') return <span class="st good">Delivered</span>;
  if (status === 'failed') return <span class="st bad">Failed</span>;
  if (attempts === 0 || nextAt === null) return <span class="st">Pending</span>;
  return <span class="st warn">Retry {untilText(nextAt)}</span>;
}

function untilText(instant: string): string {
  const minutes = Math.ceil((Date.parse(instant) - Date.now()) / 60_000);
  if (minutes <= 1) return 'in a minute';
  return minutes < 120 ? `in ${minutes} min` : `in ${Math.round(minutes / 60)} h`;
}

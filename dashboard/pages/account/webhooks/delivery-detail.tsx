// One delivery: its attempts from first to last, the body that was sent, and the button that sends it again.
import { useState } from 'preact/hooks';
import { accountApi } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import type { AnswerOf } from '../../../../clients/typescript/client.ts';
import { Problem, useAction } from '../../../components/forms/action.tsx';
import { CodePanel } from '../../../components/code-panel.tsx';
import { Waiting } from '../../../components/states.tsx';
import { numberText } from '../../../text/numbers.ts';
import { instantText } from '../../../text/times.ts';

type Attempt = AnswerOf<'get', '/v1/webhooks/{id}/deliveries/{delivery}'>['data']['log'][number];

interface DeliveryDetailProps {
  webhookId: string;
  id: string;
  /** When it changes, the detail is loaded again. */
  stamp: string;
  reload: () => void;
}

export function DeliveryDetail({ webhookId, id, stamp, reload }: DeliveryDetailProps) {
  const [isSent, setIsSent] = useState(false);
  const action = useAction();
  const at = { path: { id: webhookId, delivery: id } };
  const loaded = useLoad(
    async (signal) =>
      (await accountApi.get('/v1/webhooks/{id}/deliveries/{delivery}', { ...at, signal })).data,
    [webhookId, id, stamp],
  );
  const resend = () =>
    action.run(async () => {
      await accountApi.post('/v1/webhooks/{id}/deliveries/{delivery}/redeliver', at);
      setIsSent(true);
      reload();
    });
  return (
    <div class="panel">
      <Waiting for={loaded} failure="The delivery could not be loaded">
        {({ type, event, log, body }) => (
          <>
            <div class="sec-head">
              <h3 class="mono">{type}</h3>
              <button class="btn sml push" type="button" onClick={resend} disabled={action.isBusy}>
                Resend
              </button>
            </div>
            <p class="xs dim mono">{event}</p>
            <p class="sm" role="status">
              {isSent && action.error === undefined && 'It is being resent.'}
            </p>
            <Problem of={action.error} />
            <ol class="attempts">
              {log.map((attempt) => (
                <AttemptView key={attempt.at} of={attempt} />
              ))}
              {log.length === 0 && <li>No attempt yet</li>}
            </ol>
            <h4>Body</h4>
            <CodePanel code={indented(body)} copies={body} />
          </>
        )}
      </Waiting>
    </div>
  );
}

const answersShown = 1_024;

const errorNames: Record<NonNullable<Attempt['error']>, string> = {
  no_public_address: 'The host name has no public address',
  connection_failed: 'No connection',
  tls_failed: 'The certificate was not accepted',
  connection_closed: 'The connection was closed',
  invalid_response: 'The answer was not HTTP',
  timeout: 'No answer in 15 seconds',
};

function AttemptView({ of: { at, latency_ms: latencyMs, status, error, response } }: { of: Attempt }) {
  const isDelivered = status !== null && status >= 200 && status < 300;
  const latencyText =
    latencyMs < 1000 ? `${latencyMs} ms` : `${numberText(Math.round(latencyMs / 100) / 10)} s`;
  return (
    <li class={isDelivered ? 'ok' : undefined}>
      <span class="right">
        {instantText(at)} · {latencyText}
      </span>
      <b>{status ?? (error === null ? 'No answer' : errorNames[error])}</b>
      {response !== null && response !== '' && (
        <pre>
          {response}
          {response.length >= answersShown && <span class="dim"> … truncated after 1,024 characters</span>}
        </pre>
      )}
    </li>
  );
}

/** Formatted for people; the bytes that were sent have no line breaks. */
function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch (error) {
    if (error instanceof SyntaxError) return body;
    throw error;
  }
}

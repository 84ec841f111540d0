// Sample calls of the API with the address of this installation, and a response.
import { Link } from 'wouter-preact';
import type { AnswerOf } from '../../../clients/typescript/client.ts';
import { api } from '../../api/clients.ts';
import { shownIn, useLoad, type Loaded } from '../../api/use-load.ts';
import { CodePanel, CodeTabs } from '../../components/code-panel.tsx';
import { numberText } from '../../text/numbers.ts';
import { samplesOf } from '../../text/samples.ts';
import type { Home } from './load-home.ts';

export function HowToCall({ home }: { home: Loaded<Home> }) {
  const plans = useLoad((signal) => api.get('/v1/plans', { signal }), []);
  const loaded = shownIn(home);
  const series = loaded?.rows[0];
  const points = series === undefined ? [] : (loaded?.previews.get(series.id) ?? []).slice(-3);
  const from = points[0]?.date ?? series?.last_date ?? undefined;
  return (
    <div>
      <div class="sec-head">
        <h2>How to call it</h2>
        <Link class="push sm" href="/docs/reference">
          Reference
        </Link>
      </div>
      <CodeTabs
        samples={samplesOf({
          origin: location.origin,
          id: series?.id ?? 'SERIES-ID',
          query: from === undefined ? {} : { from },
        })}
      />
      {series !== undefined && points.length > 0 && (
        <>
          <p class="xs dim mt">The answer</p>
          <CodePanel code={answerText(series, points)} />
        </>
      )}
      <FreePlan plans={shownIn(plans)} />
    </div>
  );
}

type Row = AnswerOf<'get', '/v1/catalog'>['data'][number];

/** The most important parts of the answer, with their current values. */
function answerText(
  { id, unit, frequency, last_updated: updated }: Row,
  points: readonly { date: string; value: number }[],
) {
  const text = JSON.stringify;
  const rows = points.map(({ date, value }) => `{ "date": ${text(date)}, "value": ${text(value)} }`);
  return `{ "series": ${text(id)},
  "meta": { ${unit === null ? '' : `"unit": ${text(unit)}, `}"frequency": ${text(frequency)},
            "last_updated": ${text(updated)} },
  "data": [ ${rows.join(',\n            ')} ] }`;
}

function FreePlan({ plans }: { plans: AnswerOf<'get', '/v1/plans'> | undefined }) {
  const free = plans?.data.find(({ price_usd_month: price }) => price === 0);
  if (plans === undefined) return <p class="sm mt">{'\u00a0'}</p>;
  return (
    <p class="sm mt">
      {free !== undefined &&
        free.calls_month !== null &&
        `${numberText(free.calls_month)} calls a month are free, without a card. `}
      <Link href="/plans">See the plans</Link>
    </p>
  );
}

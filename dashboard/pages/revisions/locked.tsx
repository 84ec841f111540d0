// The page without the plan for vintages: an example with the public series, the plan and its price.
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { giveKey, keyInput } from '../../api/access-key.ts';
import { dayText } from '../../text/times.ts';
import { FanPreview } from './fan-preview.tsx';
import type { Plan } from '../../components/plan-cards.tsx';
import type { Loaded } from './load-revisions.ts';

type Locked = Extract<Loaded, { state: 'locked' }>;

/** @param onKey the page is loaded again with the key. */
export function LockedRevisions({ entry, plan, demo, failure, onKey }: Locked & { onKey: () => void }) {
  const name = plan?.name ?? 'a higher plan';
  return (
    <div class="frame">
      <div class="half locked">
        <div class="empty">
          <h2>Vintages come with {name}</h2>
          <p>
            Request the data as published on any day, play the revisions, and test a model on the data known
            at the time.{demo !== undefined && ` Try all of it here on ${demo.entry.name}.`}
          </p>
          <div class="actions">
            <Link class="btn main" href="/plans">
              {plan === undefined ? 'See the plans' : `Move to ${plan.name}${priceOf(plan)}`}
            </Link>
            {demo !== undefined && (
              <Link class="btn" href={`/series/${encodeURIComponent(demo.entry.id)}/revisions`}>
                Open the demo
              </Link>
            )}
          </div>
          {entry.first_vintage !== null && (
            <p class="basis">This series has vintages since {dayText(entry.first_vintage)}.</p>
          )}
          <KeyForm failure={failure} plan={name} onKey={onKey} />
        </div>
        {demo !== undefined && <FanPreview revisions={demo} />}
      </div>
    </div>
  );
}

function priceOf({ price_usd_month: price }: Plan): string {
  return price === null || price === 0 ? '' : `, $${price} a month`;
}

/** The key is stored only in memory. */
function KeyForm({ failure, plan, onKey }: { failure: string | undefined; plan: string; onKey: () => void }) {
  const [text, setText] = useState('');
  return (
    <form
      class="key-form"
      onSubmit={(event) => {
        event.preventDefault();
        giveKey(text.trim());
        setText('');
        onKey();
      }}
    >
      <label class="lab" for="data-key">
        Have a key of {plan}? It is kept only in this tab, until you leave.
      </label>
      <div class="actions">
        <input
          {...keyInput}
          id="data-key"
          class="in"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button class="btn" type="submit">
          Show the revisions
        </button>
      </div>
      {failure !== undefined && (
        <p class="key-failure" role="alert">
          {failure}
        </p>
      )}
    </form>
  );
}

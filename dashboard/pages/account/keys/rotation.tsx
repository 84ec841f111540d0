// Replaces a key by another one in three steps: create the new one, watch the calls move to it, revoke the old one. No step is automatic.
import { accountApi } from '../../../api/clients.ts';
import { usePoll } from '../../../api/poll.ts';
import { rowsOf } from '../../../api/rows.ts';
import { countText } from '../../../text/numbers.ts';
import { recentText, agoText, utcDay } from '../../../text/times.ts';
import { StackedBars } from '../usage/stacked-bars.tsx';
import { historyOf, viewOf } from '../usage/history.ts';
import type { Key, KeyUse } from './key-answers.ts';

const pollEveryMs = 5_000;

interface RotationProps {
  keys: readonly Key[];
  use: KeyUse;
  old: Key;
  /** The new key, once it is created. */
  to: Key | undefined;
  isFull: boolean;
  show: (wanted: Readonly<Record<string, string>>) => void;
  reload: () => void;
}

export function Rotation({ old, to, isFull, show }: RotationProps) {
  const isOver = old.status !== 'active';
  const traffic = usePoll(to === undefined ? null : (signal) => trafficOf(signal), pollEveryMs, [
    old.id,
    to?.id,
  ]);
  const oldNow = traffic?.keys.find(({ id }) => id === old.id) ?? old;
  const newNow = traffic?.keys.find(({ id }) => id === to?.id) ?? to;
  return (
    <section aria-labelledby="rotation">
      <div class="sec-head">
        <h2 id="rotation">Rotate “{old.name}”</h2>
        {to !== undefined && <p>Started {recentText(to.created_at)} UTC</p>}
        <button class="btn sml push" type="button" onClick={() => show({})}>
          {isOver ? 'Close' : 'Leave the rotation'}
        </button>
      </div>
      <ol class="steps">
        <li class={to === undefined ? 'on' : 'done'}>
          <h3>Create the new key</h3>
          {to === undefined ? (
            <NewStep
              isFull={isFull}
              create={() => show({ rotate: old.id, create: 'key' })}
              renew={() => show({ value: old.id })}
            />
          ) : (
            <p>“{to.name}” is created. Use it wherever the old key is used.</p>
          )}
        </li>
        <li class={to === undefined ? undefined : isOver ? 'done' : 'on'}>
          <h3>Watch the calls move</h3>
          <p aria-live="polite">
            {newNow === undefined ? 'This shows which key is used.' : usedText(oldNow, newNow)}
          </p>
        </li>
        <li class={isOver ? 'done' : undefined}>
          <h3>Revoke the old key</h3>
          {isOver ? (
            <p>“{old.name}” is revoked. The rotation is complete.</p>
          ) : (
            <>
              <p>Wait until the old key has had no calls for a day. It works until you revoke it.</p>
              {to !== undefined && (
                <button
                  class="btn sml danger"
                  type="button"
                  onClick={() => show({ rotate: old.id, to: to.id, revoke: old.id })}
                >
                  Revoke “{old.name}”
                </button>
              )}
            </>
          )}
        </li>
      </ol>
      {to !== undefined && traffic !== undefined && <Traffic rows={traffic.rows} old={old} to={to} />}
    </section>
  );
}

function NewStep({ isFull, create, renew }: { isFull: boolean; create: () => void; renew: () => void }) {
  const renewal = (
    <>
      <p>Or keep the key and regenerate its secret. The old secret expires after at most one week.</p>
      <button class="btn sml" type="button" onClick={renew}>
        Regenerate the secret
      </button>
    </>
  );
  if (isFull)
    return (
      <>
        <p>You have the maximum number of keys. Revoke an unused one first.</p>
        {renewal}
      </>
    );
  return (
    <>
      <p>Both keys work until you revoke the old one.</p>
      <button class="btn sml main" type="button" onClick={create}>
        Create the new key
      </button>
      {renewal}
    </>
  );
}

function usedText(old: Key, to: Key): string {
  const now = Date.now();
  const at = (key: Key) =>
    key.last_used_at === null ? 'has not been used yet' : `was last used ${agoText(key.last_used_at, now)}`;
  return `The new key ${at(to)}. The old one ${at(old)}.`;
}

async function trafficOf(signal: AbortSignal) {
  const now = Date.now();
  const query = { from: utcDay(now, -6), to: utcDay(now), by: 'key', limit: 1000 } as const;
  const [keys, history] = await Promise.all([
    accountApi.get('/v1/keys', { query: { limit: 1000 }, signal }),
    accountApi.get('/v1/usage/history', { query, signal }),
  ]);
  return { keys: rowsOf(keys), rows: rowsOf(history).map((row) => ({ ...row, key_id: row.key_id ?? '' })) };
}

type TrafficRow = { date: string; key_id: string; calls: number; billed: number };

function Traffic({ rows, old, to }: { rows: readonly TrafficRow[]; old: Key; to: Key }) {
  const own = rows.filter(({ key_id: id }) => id === old.id || id === to.id).map(plain);
  const { groups, bars } = historyOf(own, viewOf(new URLSearchParams('range=7d&by=key')), Date.now());
  const of = (id: string) => groups.find((group) => group.id === id)?.calls ?? 0;
  return (
    <div class="traffic">
      <StackedBars
        label={`${countText(of(old.id), 'call', 'calls')} with the old key and ${countText(of(to.id), 'call', 'calls')} with the new one in 7 days.`}
        bars={bars}
        groups={groups.map(({ id }) =>
          id === to.id ? { name: to.name, colour: 'var(--bar)' } : { name: old.name, colour: 'var(--ghost)' },
        )}
        interval="day"
      />
    </div>
  );
}

const plain = ({ date, key_id, calls, billed }: TrafficRow) => ({ date, key_id, calls, billed });

// The sessions of the account; each can be ended, or all others at once.
import { useState } from 'preact/hooks';
import { accountApi } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import { rowsOf } from '../../../api/rows.ts';
import { Problem, useAction } from '../../../components/forms/action.tsx';
import { actionsColumn, DataTable, RowButton } from '../../../components/data-table.tsx';
import { Waiting } from '../../../components/states.tsx';
import { countText } from '../../../text/numbers.ts';
import { instantText, agoText } from '../../../text/times.ts';
import type { OfAccount } from '../account-page.tsx';

export function Sessions({ account, reload }: OfAccount) {
  const [ended, setEnded] = useState<number>();
  const action = useAction();
  const loaded = useLoad(
    async (signal) => rowsOf(await accountApi.get('/auth/sessions', { query: { limit: 1000 }, signal })),
    [account],
  );
  const end = (id: string) =>
    action.run(async () => {
      await accountApi.delete('/auth/sessions/{id}', { path: { id } });
      loaded.reload();
      reload();
    });
  const endOthers = () =>
    action.run(async () => {
      const { data } = await accountApi.delete('/auth/sessions');
      setEnded(data.ended);
      loaded.reload();
      reload();
    });
  const now = Date.now();
  return (
    <section aria-labelledby="sessions">
      <div class="sec-head">
        <h2 id="sessions">Sessions</h2>
        <p role="status">
          {ended !== undefined &&
            action.error === undefined &&
            `${countText(ended, 'session', 'sessions')} ended.`}
        </p>
        <button class="btn sml push" type="button" onClick={endOthers} disabled={action.isBusy}>
          End all others
        </button>
      </div>
      <Problem of={action.error} />
      <Waiting for={loaded} failure="The sessions could not be loaded">
        {(sessions) => (
          <DataTable
            caption="Sessions"
            rows={sessions}
            keyOf={({ id }) => id}
            columns={[
              {
                label: 'Browser',
                cell: ({ user_agent: agent, current }) => (
                  <>
                    <b>{browserName(agent)}</b>
                    {current && <span class="tag acc">This one</span>}
                  </>
                ),
              },
              { label: 'IP address', cell: ({ ip }) => <span class="mono xs">{ip}</span> },
              { label: 'Signed in', cell: ({ created_at: at }) => `${instantText(at)} UTC` },
              { label: 'Last call', cell: ({ last_seen_at: at }) => agoText(at, now) },
              {
                ...actionsColumn,
                cell: ({ id, current, user_agent: agent }) =>
                  !current && <RowButton label="End" of={browserName(agent)} onClick={() => end(id)} />,
              },
            ]}
          />
        )}
      </Waiting>
    </section>
  );
}

/** The common name of the browser; else the first words of the header. */
function browserName(agent: string): string {
  const browser = [
    ['Edg/', 'Edge'],
    ['Firefox/', 'Firefox'],
    ['Chrome/', 'Chrome'],
    ['Safari/', 'Safari'],
  ].find(([mark = '']) => agent.includes(mark))?.[1];
  const system = ['Windows', 'Android', 'iPhone', 'iPad', 'Mac OS', 'Linux'].find((name) =>
    agent.includes(name),
  );
  if (browser === undefined) return agent.slice(0, 40);
  return system === undefined ? browser : `${browser} on ${system}`;
}

// /dashboard/operator/releases/:release: one load under embargo, with its expected changes and its history. It can be published or cancelled here.
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { AnswerOf } from '../../../../clients/typescript/client.ts';
import { accountApi } from '../../../api/clients.ts';
import { shownIn, useLoad } from '../../../api/use-load.ts';
import { usePoll } from '../../../api/poll.ts';
import { CodePanel } from '../../../components/code-panel.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import { Facts } from '../../../components/facts.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { bytesText } from '../../../text/amounts.ts';
import { commandLine } from '../../../text/command-line.ts';
import { instantText } from '../../../text/times.ts';
import { TypedConfirmation } from '../../account/typed-confirmation.tsx';
import { WaitingOrSignIn, operatorPage } from '../operator-page.tsx';
import { PointCounts } from '../point-counts.tsx';
import { countsOf, failureOf } from '../counts.ts';
import { ReleaseState } from './release-state.tsx';

const pollEveryMs = 1_000;

type Release = AnswerOf<'get', '/v1/operator/releases/{release}'>['data'];

export const OperatorRelease = operatorPage(({ params: { release: number = '' } }) => {
  const [reloads, setReloads] = useState(0);
  const request = async (signal: AbortSignal) =>
    (await accountApi.get('/v1/operator/releases/{release}', { path: { release: number }, signal })).data;
  const loaded = useLoad(request, [number, reloads]);
  const [seen, setSeen] = useState<Release>();
  usePoll(
    isBeingMade(seen ?? shownIn(loaded)) ? async (signal) => setSeen(await request(signal)) : null,
    pollEveryMs,
    [number, reloads],
  );
  const reload = () => {
    setSeen(undefined);
    setReloads((count) => count + 1);
  };
  return (
    <>
      <PageHead
        title={`Release ${number}`}
        crumb={<Link href="/dashboard/operator/releases">Releases</Link>}
      />
      <WaitingOrSignIn for={loaded} failure="The release could not be loaded">
        {(first) => <ReleaseContent release={seen ?? first} reload={reload} />}
      </WaitingOrSignIn>
    </>
  );
});

/** An operator has requested to publish it now, and a publisher is about to do so. */
function isBeingMade(release: Release | undefined): boolean {
  return release?.state === 'pending' && release.history.some(({ event }) => event === 'hastened');
}

interface OfRelease {
  release: Release;
  reload: () => void;
}

function ReleaseContent({ release, reload }: OfRelease) {
  return (
    <>
      <ReleaseFacts release={release} />
      <Outcome release={release} />
      <Actions release={release} reload={reload} />
      <History entries={release.history} />
    </>
  );
}

function ReleaseFacts({ release }: { release: Release }) {
  const { release_at: at, release_with: entry, ended_at: endedAt } = release;
  return (
    <Facts
      facts={[
        [
          'State',
          <span role="status">
            {isBeingMade(release) ? <span class="st">Being published</span> : <ReleaseState of={release} />}
          </span>,
          'state',
        ],
        [
          'Due',
          <>
            {at === null ? '–' : `${instantText(at)} UTC`}
            {entry !== null && <small>with the calendar entry {entry}</small>}
          </>,
        ],
        [
          'File',
          <>
            {release.source_name}
            <small>{bytesText(release.file_bytes)}</small>
          </>,
        ],
        ['Dataset', release.dataset],
        ['Accepted', `${instantText(release.accepted_at)} UTC`],
        [release.state === 'cancelled' ? 'Cancelled' : 'Ended', endedAt && `${instantText(endedAt)} UTC`],
      ]}
    />
  );
}

function Outcome({ release }: { release: Release }) {
  const [counts, failure] = [countsOf(release), failureOf(release)];
  return (
    <section aria-labelledby="outcome">
      <h2 id="outcome">{release.state === 'released' ? 'What it changed' : 'Expected changes'}</h2>
      {failure !== null && (
        <div class="note bad below" role="alert">
          <p>The release failed, and none of its data is stored. {failure}</p>
        </div>
      )}
      {counts === undefined ? <p class="sm dim">Unknown.</p> : <PointCounts of={counts} />}
    </section>
  );
}

/** The available actions by state; a release that was made or cancelled has none. */
const changes = {
  now: {
    path: '/v1/operator/releases/{release}/publication',
    button: 'Publish now',
    title: 'Publish now?',
    text: 'The data is visible to everybody at once, and its webhooks are sent.',
  },
  cancel: {
    path: '/v1/operator/releases/{release}/cancellation',
    button: 'Cancel the release',
    title: 'Cancel the release?',
    text: 'The release is never published, and its file is deleted.',
  },
} as const;
type Change = keyof typeof changes;

function Actions({ release: of, reload }: OfRelease) {
  const { release, state } = of;
  const [opened, setOpened] = useState<Change>();
  if (state === 'released' || state === 'cancelled' || isBeingMade(of)) return null;
  const path = { release: String(release) };
  return (
    <section aria-labelledby="change">
      <h2 id="change">{state === 'failed' ? 'Retry or cancel' : 'Publish now or cancel'}</h2>
      <p class="actions below">
        <button class="btn" type="button" onClick={() => setOpened('now')}>
          {changes.now.button}
        </button>
        <button class="btn danger" type="button" onClick={() => setOpened('cancel')}>
          {changes.cancel.button}
        </button>
      </p>
      {opened !== undefined && (
        <TypedConfirmation
          title={changes[opened].title}
          name={String(release)}
          button={changes[opened].button}
          change={async () => {
            await accountApi.post(changes[opened].path, { path });
            setOpened(undefined);
            reload();
          }}
          onClose={() => setOpened(undefined)}
        >
          <p>{changes[opened].text}</p>
          <p class="xs dim">The same on the command line</p>
          <CodePanel code={commandLine('almanac', 'releases', opened, String(release))} />
        </TypedConfirmation>
      )}
    </section>
  );
}

const events = {
  accepted: 'Accepted',
  hastened: 'Publish now requested',
  cancelled: 'Cancelled',
  released: 'Published',
  failed: 'Failed',
};

function History({ entries }: { entries: Release['history'] }) {
  return (
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      <DataTable
        caption="The events of the release"
        rows={entries}
        keyOf={({ at, event }) => `${at} ${event}`}
        dense
        columns={[
          { label: 'What', cell: ({ event }) => events[event] },
          { label: 'When (UTC)', cell: ({ at }) => <time dateTime={at}>{instantText(at)}</time> },
          { label: 'By', cell: ({ actor }) => actor },
          { label: 'Detail', cell: ({ detail }) => detail ?? '–' },
        ]}
      />
    </section>
  );
}

// /series/:id/revisions: plays the vintages of a series, and shows every value ever published and how much first prints are revised.
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { useLoad } from '../../api/use-load.ts';
import { accessKey, keyedApi } from '../../api/access-key.ts';
import { saveText } from '../../charts/files.ts';
import { DownloadIcon } from '../../components/icons.tsx';
import type { PageProps } from '../../shell/lazy-page.tsx';
import { Pick } from '../../components/pick.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Empty, Waiting } from '../../components/states.tsx';
import { countText } from '../../text/numbers.ts';
import { monthText } from '../../text/times.ts';
import { Explorer } from './revisions-explorer.tsx';
import { loadRevisions, type Combination, type Entry, type Loaded } from './load-revisions.ts';
import { LockedRevisions } from './locked.tsx';
import { useParameter } from './revisions-state.ts';
import '../../styles/revisions.css';

export function RevisionsPage({ params }: PageProps) {
  const id = params['id'] ?? '';
  const [tries, setTries] = useState(0);
  const loading = useLoad((signal) => loadRevisions(id, signal), [id, tries, accessKey.value]);
  return (
    <div class="wrap revisions">
      <Waiting for={loading} failure="The revisions could not be loaded" skeleton={<Skeleton />}>
        {(loaded) => <Content loaded={loaded} onKey={() => setTries(tries + 1)} />}
      </Waiting>
    </div>
  );
}

function Content({ loaded, onKey }: { loaded: Loaded; onKey: () => void }) {
  const [dims, setDims] = useParameter('dims');
  const { entry } = loaded;
  if (loaded.state === 'locked') {
    return (
      <>
        <Head entry={entry} lede={factsOf(entry)} />
        <LockedRevisions {...loaded} onKey={onKey} />
      </>
    );
  }
  const { combinations, isOpen } = loaded;
  const shown = combinations.find((each) => each.dims === dims) ?? combinations[0];
  if (shown === undefined) {
    return (
      <>
        <Head entry={entry} lede={factsOf(entry)} />
        <Empty title="Nothing has been published yet">
          <p>Revisions appear once the series has a vintage.</p>
        </Empty>
      </>
    );
  }
  return (
    <>
      <Head
        entry={entry}
        lede={`${spanOf(shown)} ${factsOf(entry)}`}
        download={<Download id={entry.id} isOpen={isOpen} />}
      />
      {combinations.length > 1 && (
        <p class="combination">
          <label class="lab" for="combination">
            {entry.dims.map(({ name }) => name).join(', ')}
          </label>
          <Pick
            id="combination"
            value={shown.dims}
            options={combinations.map(({ dims, name }) => ({ value: dims, label: name }))}
            onPick={setDims}
          />
        </p>
      )}
      <Explorer key={shown.dims} entry={entry} table={shown.table} />
    </>
  );
}

function Head({ entry, lede, download }: { entry: Entry; lede: string; download?: preact.ComponentChild }) {
  const series = `/series/${encodeURIComponent(entry.id)}`;
  return (
    <PageHead
      crumb={
        <>
          <Link href="/catalogue">Catalogue</Link>
          <span>/</span>
          {entry.category !== null && (
            <>
              <Link href={`/catalogue?${new URLSearchParams({ category: entry.category }).toString()}`}>
                {entry.category}
              </Link>
              <span>/</span>
            </>
          )}
          <Link href={series}>{entry.name}</Link>
        </>
      }
      title={`${entry.name}, and how it was revised`}
      lede={lede}
      actions={
        <>
          <Link class="btn" href={series}>
            Series
          </Link>
          {download}
        </>
      }
    />
  );
}

/** `18 vintages, July 2019 to December 2020.` */
function spanOf({ table: { vintages } }: Combination): string {
  const count = countText(vintages.length, 'vintage', 'vintages');
  const [first, last] = [monthText(vintages[0] ?? ''), monthText(vintages.at(-1) ?? '')];
  return first === last ? `${count}, ${first}.` : `${count}, ${first} to ${last}.`;
}

const adjustments: Readonly<Record<string, string>> = {
  SA: 'seasonally adjusted',
  NSA: 'not seasonally adjusted',
};

/** `Index, 2012 = 100, seasonally adjusted. Federal Reserve Board.` */
function factsOf({ unit, seasonal_adjustment: adjustment, source }: Entry): string {
  const adjusted = adjustment === null ? null : (adjustments[adjustment] ?? adjustment);
  const measured = [unit, adjusted].filter((part) => part !== null).join(', ');
  return [measured, source ?? '']
    .filter((part) => part !== '')
    .map((part) => `${part}.`)
    .join(' ');
}

/** With a key, the file is fetched and then saved: no URL may contain the key. */
function Download({ id, isOpen }: { id: string; isOpen: boolean }) {
  const [failure, setFailure] = useState<string>();
  if (isOpen) {
    return (
      <a class="btn" href={`/v1/catalog/${encodeURIComponent(id)}/triangle?format=csv`} download>
        <DownloadIcon />
        Triangle as CSV
      </a>
    );
  }
  async function save() {
    const text = await keyedApi.value?.getText('/v1/series/{id}/triangle', {
      path: { id },
      query: { format: 'csv' },
    });
    if (text !== undefined) saveText(text, `${id}-triangle.csv`, 'text/csv');
  }
  return (
    <button
      class="btn"
      type="button"
      title={failure}
      onClick={() => {
        save().catch((error: unknown) => setFailure(error instanceof Error ? error.message : String(error)));
      }}
    >
      <DownloadIcon />
      {failure === undefined ? 'Triangle as CSV' : 'Download failed; try again'}
    </button>
  );
}

function Skeleton() {
  return (
    <div aria-hidden="true">
      <span class="sk sk-title" />
      <span class="sk sk-fan" />
    </div>
  );
}

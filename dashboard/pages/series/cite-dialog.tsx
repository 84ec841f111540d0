// The citation of a view. With a key it is the API's own, whose URL always returns the same bytes; without one it is a sentence about this page.
import { useState } from 'preact/hooks';
import type { CallOptions, Client } from '../../../clients/typescript/client.ts';
import { keyedApi } from '../../api/access-key.ts';
import { useLoad } from '../../api/use-load.ts';
import { CodePanel } from '../../components/code-panel.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Waiting } from '../../components/states.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { citation } from './exports.ts';
import type { SeriesEntry, SeriesPoints } from './series-points.ts';

type CiteQuery = NonNullable<CallOptions<'get', '/v1/series/{id}/cite'>['query']>;

interface CiteDialogProps {
  entry: SeriesEntry;
  points: SeriesPoints;
  query: CiteQuery;
  onClose: () => void;
}

export function CiteDialog({ entry, points, query, onClose }: CiteDialogProps) {
  const client = keyedApi.value;
  return (
    <Dialog title="Cite this view" onClose={onClose}>
      {client === undefined ? (
        <PageCitation entry={entry} points={points} />
      ) : (
        <PinnedCitation client={client} id={entry.id} query={query} />
      )}
      <div class="actions">
        <button class="btn" type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function PageCitation({ entry, points }: Pick<CiteDialogProps, 'entry' | 'points'>) {
  const text = citation(entry, points.meta, location.href, new Date());
  return (
    <>
      <p class="sm cite">{text}</p>
      <p class="xs dim">
        With your key: a permanent address of these values, a checksum, BibTeX and CSL-JSON.
      </p>
      <p>
        <CopyButton class="btn" text={text} label="Copy the citation" />
      </p>
    </>
  );
}

const forms = [
  { id: 'text', label: 'Text' },
  { id: 'bibtex', label: 'BibTeX' },
  { id: 'csl', label: 'CSL-JSON' },
] as const;

function PinnedCitation({ client, id, query }: { client: Client; id: string; query: CiteQuery }) {
  const [form, setForm] = useState<string>('text');
  const cited = useLoad(
    (signal) => client.get('/v1/series/{id}/cite', { path: { id }, query, signal }),
    [client, id, JSON.stringify(query)],
  );
  return (
    <Waiting for={cited} failure="The citation could not be created">
      {({ data }) => (
        <>
          <Tabs label="Form of the citation" tabs={forms} selected={form} onSelect={setForm}>
            {form === 'text' ? (
              <>
                <p class="sm cite">{data.text}</p>
                <p>
                  <CopyButton class="btn" text={data.text} label="Copy the citation" />
                </p>
              </>
            ) : (
              <CodePanel code={form === 'bibtex' ? data.bibtex : JSON.stringify([data.csl], null, 2)} />
            )}
          </Tabs>
          <p class="xs dim cite">
            The URL returns the same {data.bytes} bytes permanently. Reading it needs a plan with vintages.
          </p>
        </>
      )}
    </Waiting>
  );
}

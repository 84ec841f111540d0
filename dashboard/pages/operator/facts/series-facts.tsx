// /dashboard/operator/facts: the metadata of many series in a table, filtered by text, source and missing fields; edited, previewed and saved together.
// The URL has the filters, the page and the shown fields; unsaved input survives changes of these.
import { useEffect, useState } from 'preact/hooks';
import { accountApi } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import { Problem, useAction } from '../../../components/forms/action.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { countText, numberText } from '../../../text/numbers.ts';
import { List, pageSize, useListUrl } from '../list.tsx';
import { LoadLink } from '../loads/load-state.tsx';
import { operatorPage } from '../operator-page.tsx';
import '../../../styles/facts.css';
import '../../../styles/publish.css';
import { Changes, type Report } from './changes.tsx';
import {
  countOf,
  facts,
  storeDraft,
  storedDraft,
  optionalFacts,
  requestedFacts,
  withText,
  type Draft,
  type Fact,
  type SeriesFacts,
} from './unsaved-facts.ts';
import { FactTable, type Fault } from './fact-table.tsx';
import { Fill } from './fill.tsx';
import { FactFilters } from './filters.tsx';

const shownByDefault: readonly Fact[] = ['name', 'unit', 'source', 'licence'];

export const OperatorFacts = operatorPage(() => {
  const url = useListUrl();
  const [saved, setSaved] = useState<Report>();
  const edit = useEdits();
  const missing = optionalFacts.find((fact) => fact === url.text('missing'));
  const query = {
    ...{ limit: pageSize, q: url.text('q'), source: url.text('source'), cursor: url.text('cursor') },
    missing: missing && [missing],
  };
  const loaded = useLoad(
    (signal) => accountApi.get('/v1/operator/series', { query, signal }),
    [JSON.stringify(query), saved?.load],
  );
  const named = url.text('facts')?.split(',');
  const shown = facts.filter(
    (fact) => fact === missing || (named ?? (shownByDefault as readonly string[])).includes(fact),
  );
  return (
    <>
      <PageHead
        title="Series metadata"
        lede="Metadata shown beside the values. Edit any number of cells, review the changes, and save them as one load."
      />
      <FactFilters url={url} missing={missing} shown={shown} />
      <div role="status">{saved !== undefined && <Saved report={saved} />}</div>
      <List
        for={loaded}
        url={url}
        what="series"
        empty={{
          title: 'No series matches',
          hint:
            missing === undefined
              ? 'Part of an id, a name or a source is enough.'
              : 'No series lacks this field.',
        }}
      >
        {(rows) => <Editor rows={rows} shown={shown} edit={edit} onShow={(fact) => show(fact)} />}
      </List>
      <Unsaved edit={edit} onSaved={setSaved} />
    </>
  );

  function show(fact: Fact): void {
    if (!shown.includes(fact)) url.change({ facts: [...shown, fact].join(',') });
  }
});

interface Edits {
  draft: Draft;
  faults: readonly Fault[];
  setDraft: (draft: Draft) => void;
  setFaults: (faults: readonly Fault[]) => void;
  type: (row: SeriesFacts, fact: Fact, text: string) => void;
}

function useEdits(): Edits {
  const [draft, setDraftState] = useState(storedDraft);
  const [faults, setFaults] = useState<readonly Fault[]>([]);
  useEffect(() => storeDraft(draft), [draft]);
  /** Also removes the faults of series that were edited, as these may be outdated. */
  function setDraft(next: Draft): void {
    setDraftState(next);
    setFaults(faults.filter(({ id }) => next[id] !== undefined && next[id] === draft[id]));
  }
  return {
    ...{ draft, faults, setDraft, setFaults },
    type: (row, fact, text) => setDraft(withText(draft, row, fact, text)),
  };
}

interface EditorProps {
  rows: readonly SeriesFacts[];
  shown: readonly Fact[];
  edit: Edits;
  onShow: (fact: Fact) => void;
}

function Editor({ rows, shown, edit, onShow }: EditorProps) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const select = (ids: readonly string[], isSelected: boolean) =>
    setSelected(new Set([...selected].filter((id) => !ids.includes(id)).concat(isSelected ? ids : [])));
  return (
    <>
      <Fill
        rows={rows}
        selected={selected}
        draft={edit.draft}
        onSelectAll={(isSelected) =>
          select(
            rows.map(({ id }) => id),
            isSelected,
          )
        }
        onFill={(draft, fact) => {
          edit.setDraft(draft);
          onShow(fact);
        }}
      />
      <FactTable
        rows={rows}
        shown={shown}
        draft={edit.draft}
        faults={edit.faults}
        selected={selected}
        onSelect={(id, isSelected) => select([id], isSelected)}
        onType={(row, fact, text) => edit.type(row, fact, text)}
      />
    </>
  );
}

interface UnsavedProps {
  edit: Edits;
  onSaved: (report: Report) => void;
}

/** The unsaved input of all pages: its faults, and the button that saves it. */
function Unsaved({ edit: { draft, faults, setDraft, setFaults }, onSaved }: UnsavedProps) {
  const [preview, setPreview] = useState<Report>();
  const action = useAction();
  const count = countOf(draft);
  if (count === 0) return null;
  const series = requestedFacts(draft);
  async function runDryRun(): Promise<void> {
    const { data } = await accountApi.patch('/v1/operator/series', { body: { series, dry_run: true } });
    setFaults(data.faults);
    setPreview(data.faults.length === 0 ? data : undefined);
  }
  async function save(reason: string): Promise<void> {
    const body = { series: series.map(withBefore), ...(reason === '' ? {} : { reason }) };
    const { data } = await accountApi.patch('/v1/operator/series', { body });
    setPreview(undefined);
    setDraft({});
    onSaved(data);
  }
  /** With the values that the dialog shows, so that a change by somebody else meanwhile is not overwritten. */
  function withBefore<Requested extends { id: string }>(requested: Requested) {
    const changes = preview?.series.find(({ id }) => id === requested.id)?.changes ?? [];
    return { ...requested, before: Object.fromEntries(changes.map(({ fact, from }) => [fact, from])) };
  }
  return (
    <section class="unsaved" aria-label="Not saved">
      {faults.length > 0 && <Faults faults={faults} />}
      <Problem of={action.error} />
      <div class="bar-ctl">
        <p class="sm" role="status">
          <b>{countText(count, 'change', 'changes')}</b> in {countText(series.length, 'series', 'series')} not
          saved
        </p>
        <p class="actions">
          <button class="btn" type="button" onClick={() => setDraft({})}>
            Discard
          </button>
          <button
            class="btn main"
            type="button"
            disabled={action.isBusy}
            onClick={() => action.run(runDryRun)}
          >
            See what changes
          </button>
        </p>
      </div>
      {preview !== undefined && (
        <Changes report={preview} onSave={save} onClose={() => setPreview(undefined)} />
      )}
    </section>
  );
}

const faultsShown = 5;

function Faults({ faults }: { faults: readonly Fault[] }) {
  return (
    <div class="note bad problem" role="alert">
      <div>
        <p>{countText(faults.length, 'error', 'errors')}. Correct these cells before you save.</p>
        <ul class="found-value">
          {faults.slice(0, faultsShown).map(({ id, fact, reason }) => (
            <li key={`${id} ${fact} ${reason}`}>
              <span class="mono">{id}</span> {reason}
            </li>
          ))}
        </ul>
        {faults.length > faultsShown && <p>and {numberText(faults.length - faultsShown)} more</p>}
      </div>
    </div>
  );
}

function Saved({ report: { load, series_changed: count } }: { report: Report }) {
  return (
    <div class="note good below">
      <p>
        {countText(count, 'series', 'series')} changed
        {load !== undefined && (
          <>
            , by <LoadLink to={load} />
          </>
        )}
        .
      </p>
    </div>
  );
}

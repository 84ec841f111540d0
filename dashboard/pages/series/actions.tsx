// The actions on a view: show the last years, download files, copy code that embeds it, cite it.
import { countText } from '../../text/numbers.ts';
import { useState } from 'preact/hooks';
import type { Transform } from '../../../domain/transforms.ts';
import { aggregationText } from '../../../domain/chart/captions.ts';
import type { ChartLine } from '../../../domain/chart/layout.ts';
import { periodName } from '../../../domain/chart/text.ts';
import type { Window } from '../../charts/window.ts';
import { saveChart, saveText } from '../../charts/files.ts';
import { keyedApi } from '../../api/access-key.ts';
import { asAlmanacError } from '../../api/clients.ts';
import { Choice } from '../../components/choice.tsx';
import { CodePanel } from '../../components/code-panel.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { DownloadIcon } from '../../components/icons.tsx';
import { dayText } from '../../text/times.ts';
import { CiteDialog } from './cite-dialog.tsx';
import { csvOf, embedCode } from './exports.ts';
import { newestYears, type Shown } from './shown.ts';
import type { SeriesEntry, SeriesPoints } from './series-points.ts';

interface ActionsProps {
  entry: SeriesEntry;
  shown: Shown;
  points: SeriesPoints;
  /** The lines of the chart that its legend has not hidden. */
  lines: ChartLine[];
  onWindow: (window: Window, isDone: boolean) => void;
}

export function Actions({ entry, shown, points, lines, onWindow }: ActionsProps) {
  const [open, setOpen] = useState<'embed' | 'cite'>();
  const [failure, setFailure] = useState<string>();
  const { chart, dates, window, query } = shown;
  const spanned = [dates[window.first], dates[window.last]].map((date) =>
    date === undefined ? '' : periodName(date, chart.frequency, true),
  );
  const { vintage, last_updated: updated } = points.meta;
  const state =
    vintage !== null
      ? `As published by ${dayText(vintage)}.`
      : updated === null
        ? ''
        : `Released ${dayText(updated)}.`;
  const credit = entry.attribution ?? (entry.source === null ? null : `Source: ${entry.source}`);
  const caption = [credit === null ? null : `${credit}.`, aggregationText(points.meta), state, location.host]
    .filter(Boolean)
    .join(' ');

  async function saveCsv() {
    const keyed = keyedApi.value;
    const text =
      keyed === undefined
        ? csvOf(
            shown,
            entry.dims.map(({ name }) => name),
          )
        : await keyed.getText('/v1/series/{id}', {
            path: { id: entry.id },
            query: { ...apiQuery(query), format: 'csv' },
          });
    saveText(text, `${entry.id}.csv`, 'text/csv');
  }
  function attempt(work: () => Promise<void>) {
    setFailure(undefined);
    work().catch((error: unknown) => setFailure(asAlmanacError(error).message));
  }
  return (
    <>
      <div class="bar-ctl chart-foot">
        <Ranges {...{ shown, onWindow }} />
        <span class="xs dim nb">{spanned.join(' – ')}</span>
        <span class="actions push">
          <button class="btn sml" type="button" aria-label="Download CSV" onClick={() => attempt(saveCsv)}>
            <DownloadIcon />
            CSV
          </button>
          {(['svg', 'png'] as const).map((type) => (
            <button
              key={type}
              class="btn sml"
              type="button"
              aria-label={`Download ${type.toUpperCase()}`}
              onClick={() =>
                attempt(() => saveChart({ ...chart, lines }, caption, `${entry.id}.${type}`, type))
              }
            >
              {type.toUpperCase()}
            </button>
          ))}
          <button class="btn sml" type="button" onClick={() => setOpen('embed')}>
            Embed
          </button>
          <button class="btn sml" type="button" onClick={() => setOpen('cite')}>
            Cite
          </button>
        </span>
      </div>
      {failure !== undefined && (
        <p class="xs" role="alert">
          The file could not be created: {failure}
        </p>
      )}
      {open === 'embed' && (
        <Dialog title="Embed this chart" onClose={() => setOpen(undefined)}>
          <p class="sm">
            An image that follows each release. It shows the newest values of the public preview, as
            published, and needs no key.
          </p>
          <CodePanel code={embedCode(location.origin, entry, query.dims)} />
          <div class="actions">
            <button class="btn" type="button" onClick={() => setOpen(undefined)}>
              Close
            </button>
          </div>
        </Dialog>
      )}
      {open === 'cite' && (
        <CiteDialog {...{ entry, points }} query={apiQuery(query)} onClose={() => setOpen(undefined)} />
      )}
    </>
  );
}

/** The query of a view in the client's format. */
function apiQuery(query: Shown['query']) {
  const { transform, dims, ...rest } = query;
  return {
    ...rest,
    ...(dims === undefined ? {} : { dims: [dims] }),
    ...(isTransform(transform) ? { transform } : {}),
  };
}

const isTransform = (text: string | undefined): text is Transform => text !== undefined;

const ranges = [1, 5, 15] as const;

function Ranges({ shown: { dates, window }, onWindow }: Pick<ActionsProps, 'shown' | 'onWindow'>) {
  const options = ranges
    .map((years) => ({ years, window: newestYears(dates, years) }))
    .filter((range) => range.window.first > 0)
    .map(({ years, window: range }) => ({
      value: String(years),
      label: countText(years, 'year'),
      window: range,
    }));
  const all = { value: 'all', label: 'All', window: { first: 0, last: dates.length - 1 } };
  const every = [...options, all];
  if (options.length === 0) return null;
  const current = every.find(
    (each) => each.window.first === window.first && each.window.last === window.last,
  );
  return (
    <Choice
      small
      label="Range"
      options={every}
      value={current?.value ?? ''}
      onChange={(value) => {
        const chosen = every.find((each) => each.value === value);
        if (chosen !== undefined) onWindow(chosen.window, true);
      }}
    />
  );
}

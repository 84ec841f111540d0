// The facts of a series beside its chart.
import { Link } from 'wouter-preact';
import { periodName } from '../../../domain/chart/text.ts';
import { unitName } from '../../../domain/chart/captions.ts';
import { dayText, timeText } from '../../text/times.ts';
import type { SeriesEntry } from './series-points.ts';

const adjustments: Readonly<Record<string, string>> = {
  SA: 'Seasonally adjusted',
  NSA: 'Not seasonally adjusted',
  SAAR: 'Seasonally adjusted, annual rate',
};

export function Facts({ entry }: { entry: SeriesEntry }) {
  const { frequency, first_date: first, last_date: last, first_vintage: vintage } = entry;
  const adjustment = entry.seasonal_adjustment;
  const unit = unitName({ unit: entry.unit, unitMultiplier: entry.unit_multiplier }, null);
  const named = frequency.charAt(0).toUpperCase() + frequency.slice(1);
  return (
    <dl class="dl facts">
      <dt>Series</dt>
      <dd class="mono xs">{entry.id}</dd>
      {last !== null && (
        <>
          <dt>Latest</dt>
          <dd>{periodName(last, frequency)}</dd>
        </>
      )}
      {entry.next_release !== null && (
        <>
          <dt>Next release</dt>
          <dd>
            {dayText(entry.next_release)}
            <small>
              {timeText(entry.next_release)} UTC, {untilText(entry.next_release)}
            </small>
          </dd>
        </>
      )}
      <dt>Frequency</dt>
      <dd>{first === null ? named : `${named}, from ${Number(first.slice(0, 4))}`}</dd>
      <dt>Unit</dt>
      <dd>{unit}</dd>
      {adjustment !== null && (
        <>
          <dt>Adjustment</dt>
          <dd>{adjustments[adjustment] ?? adjustment}</dd>
        </>
      )}
      {vintage !== null && (
        <>
          <dt>Vintages</dt>
          <dd>
            Since {dayText(vintage)}
            <small>
              <Link href={`/series/${encodeURIComponent(entry.id)}/revisions`}>See how it was revised</Link>
            </small>
          </dd>
        </>
      )}
    </dl>
  );
}

/** Who publishes the series, under which terms, by which methods, and what there is to know of its values. */
export function SourceAndLicence({ entry }: { entry: SeriesEntry }) {
  const { source, licence, licence_url: terms, methodology_url: methods, attribution, footnotes } = entry;
  return (
    <section class="terms" aria-labelledby="source-and-licence">
      <h2 class="xs dim" id="source-and-licence">
        Source and licence
      </h2>
      <dl class="dl facts">
        <dt>Source</dt>
        <dd>{source}</dd>
        {(licence !== null || terms !== null) && (
          <>
            <dt>Licence</dt>
            <dd>{terms === null ? licence : <a href={terms}>{licence ?? 'Terms of use'}</a>}</dd>
          </>
        )}
        {methods !== null && (
          <>
            <dt>Methods</dt>
            <dd>
              <a href={methods}>How it is made</a>
            </dd>
          </>
        )}
        {attribution !== null && (
          <>
            <dt>Attribution</dt>
            <dd>{attribution}</dd>
          </>
        )}
      </dl>
      <Breaks entry={entry} />
      {footnotes.map(({ mark, text, dims }) => (
        <p key={`${mark} ${text}`} class="xs dim footnote">
          {mark !== null && <sup>{mark}</sup>} {text}
          {Object.keys(dims).length > 0 && ` (${Object.values(dims).join(', ')})`}
        </p>
      ))}
    </section>
  );
}

/** Where the unit changes, and where the series goes on as another one or is what another one went on as. */
function Breaks({ entry: { breaks, continues } }: { entry: SeriesEntry }) {
  return (
    <>
      {breaks.map((each) => (
        <p key={each.date} class="xs dim">
          {'continued_by' in each ? (
            <>
              Goes on as <SeriesLink id={each.continued_by} />
              {` (${each.to.frequency}) from ${dayText(each.date)}.`}
            </>
          ) : (
            `Break on ${dayText(each.date)}: ${unitText(each.from)} until then, ${unitText(each.to)} from then on.`
          )}
          {each.note !== null && ` ${each.note}`}
        </p>
      ))}
      {continues.map((id) => (
        <p key={id} class="xs dim">
          Continues <SeriesLink id={id} />.
        </p>
      ))}
    </>
  );
}

function SeriesLink({ id }: { id: string }) {
  return <Link href={`/series/${encodeURIComponent(id)}`}>{id}</Link>;
}

function unitText({ unit, unit_multiplier: power }: Pick<SeriesEntry, 'unit' | 'unit_multiplier'>): string {
  return power === null || power === 0 ? unit : `${unit} (times 10^${power})`;
}

function untilText(instant: string): string {
  const days = Math.round(
    (Date.parse(instant.slice(0, 10)) - Date.parse(new Date().toISOString().slice(0, 10))) / 86_400_000,
  );
  if (days <= 0) return 'today';
  return days === 1 ? 'tomorrow' : `in ${days} days`;
}

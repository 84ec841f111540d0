// The metadata of a series beside its chart.
import { Link } from 'wouter-preact';
import { periodName } from '../../../domain/chart/text.ts';
import { unitName } from '../../../domain/chart/captions.ts';
import { Facts } from '../../components/facts.tsx';
import { dayText, timeText } from '../../text/times.ts';
import type { SeriesEntry } from './series-points.ts';

const adjustments: Readonly<Record<string, string>> = {
  SA: 'Seasonally adjusted',
  NSA: 'Not seasonally adjusted',
  SAAR: 'Seasonally adjusted, annual rate',
};

export function SeriesFacts({ entry }: { entry: SeriesEntry }) {
  const { frequency, first_date: first, last_date: last, first_vintage: vintage } = entry;
  const next = entry.next_release;
  const adjustment = entry.seasonal_adjustment;
  const unit = unitName({ unit: entry.unit, unitMultiplier: entry.unit_multiplier }, null);
  const named = frequency.charAt(0).toUpperCase() + frequency.slice(1);
  return (
    <Facts
      class="facts"
      facts={[
        ['Series', <span class="mono xs">{entry.id}</span>],
        ['Latest', last && periodName(last, frequency)],
        [
          'Next release',
          next && (
            <>
              {dayText(next)}
              <small>
                {timeText(next)} UTC, {untilText(next)}
              </small>
            </>
          ),
        ],
        ['Frequency', first === null ? named : `${named}, from ${Number(first.slice(0, 4))}`],
        ['Unit', unit === '' ? null : unit],
        ['Adjustment', adjustment && (adjustments[adjustment] ?? adjustment)],
        [
          'Vintages',
          vintage && (
            <>
              Since {dayText(vintage)}
              <small>
                <Link href={`/series/${encodeURIComponent(entry.id)}/revisions`}>See how it was revised</Link>
              </small>
            </>
          ),
        ],
      ]}
    />
  );
}

/** The publisher of the series, its terms and methodology, and the notes on its values. */
export function SourceAndLicence({ entry }: { entry: SeriesEntry }) {
  const { source, licence, licence_url: terms, methodology_url: methods, attribution, footnotes } = entry;
  const isKnown = [source, licence, terms, methods, attribution].some((fact) => fact !== null);
  if (!isKnown && footnotes.length + entry.breaks.length === 0 && entry.continues.length === 0) return null;
  return (
    <section class="terms" aria-labelledby="source-and-licence">
      <h2 class="xs dim" id="source-and-licence">
        Source and licence
      </h2>
      <Facts
        class="facts"
        facts={[
          ['Source', source],
          ['Licence', terms === null ? licence : <a href={terms}>{licence ?? 'Terms of use'}</a>],
          ['Methods', methods && <a href={methods}>Methodology</a>],
          ['Attribution', attribution],
        ]}
      />
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

/** The breaks of the unit, and the series that continue this one or that it continues. */
function Breaks({ entry: { breaks, continues } }: { entry: SeriesEntry }) {
  return (
    <>
      {breaks.map((each) => (
        <p key={each.date} class="xs dim">
          {'continued_by' in each ? (
            <>
              Continued by <SeriesLink id={each.continued_by} />
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
  const named = unit ?? 'another unit';
  return power === null || power === 0 ? named : `${named} (times 10^${power})`;
}

function untilText(instant: string): string {
  const days = Math.round(
    (Date.parse(instant.slice(0, 10)) - Date.parse(new Date().toISOString().slice(0, 10))) / 86_400_000,
  );
  if (days <= 0) return 'today';
  return days === 1 ? 'tomorrow' : `in ${days} days`;
}

// How reliable first prints are: the finding in a sentence, then the statistics behind it.
import { useMemo } from 'preact/hooks';
import {
  judgedFrom,
  revisionStatistics,
  verdictOf,
  type HorizonStatistics,
  type Verdict,
} from '../../../domain/chart/revisions/statistics.ts';
import { rebasingsOf } from '../../../domain/chart/revisions/comparable.ts';
import { changesOf, revisionCount, type RevisionTable } from '../../../domain/chart/revisions/table.ts';
import { DataTable, type Column } from '../../components/data-table.tsx';
import { countText, numberText } from '../../text/numbers.ts';
import { dayText } from '../../text/times.ts';
import type { Formats } from './formats.ts';

export function RevisionStatistics({ table, formats }: { table: RevisionTable; formats: Formats }) {
  const statistics = useMemo(() => revisionStatistics(table), [table]);
  const verdict = verdictOf(statistics);
  const unchanged = useMemo(() => unchangedText(table, formats), [table]);
  const bases = useMemo(() => basesText(table, formats), [table]);
  return (
    <section>
      <div class="sec-head">
        <h2>How far to trust a first print</h2>
      </div>
      <div class="trust">
        <div>
          <p class="verdict">{unchanged ?? sentenceOf(verdict, formats)}</p>
          {verdict !== undefined && unchanged === undefined && (
            <p class="basis">{basisOf(verdict, formats)}</p>
          )}
          {bases !== undefined && <p class="basis">{bases}</p>}
          <details class="basis">
            <summary>How this is computed</summary>
            <p>
              A revision is a later value minus the first print, the first published value, of the same{' '}
              {formats.periodName}. Only {formats.periodName}s first published in the vintages shown, with a
              value in the later release, are compared. Nothing is compared across a change of base or unit:
              “Latest” is the newest release, or the last one before such a change. t is the mean divided by
              its standard error; a bias is reported if |t| ≥ 2.
            </p>
          </details>
        </div>
        {statistics.length > 0 && (
          <div class="scrollx" tabIndex={0} role="region" aria-label="Statistics of revisions">
            <DataTable
              caption="Revisions of first prints, by number of later releases"
              columns={columnsOf(formats)}
              rows={statistics}
              keyOf={({ horizon }) => `${horizon}`}
              cards={false}
              dense
            />
          </div>
        )}
      </div>
    </section>
  );
}

function columnsOf({ change, mean: meanText, size, periodName }: Formats): Column<HorizonStatistics>[] {
  const right = { right: true } as const;
  return [
    { label: 'After', cell: ({ horizon }) => <span class="nb">{horizonText(horizon)}</span> },
    { label: `${periodName.charAt(0).toUpperCase()}${periodName.slice(1)}s`, cell: ({ count }) => numberText(count), phone: 'hide', ...right }, // prettier-ignore
    { label: 'Mean', cell: ({ mean }) => meanText(mean), ...right },
    { label: 't', cell: ({ t }) => (t === null ? '–' : numberText(t, 1)), phone: 'hide', ...right },
    { label: 'Mean size', cell: ({ meanSize }) => size(meanSize), ...right },
    { label: 'Largest', cell: ({ largest }) => change(largest), ...right },
    { label: 'Revised up', cell: ({ revisedUp, count }) => `${numberText(revisedUp)} of ${numberText(count)}`, phone: 'hide', ...right }, // prettier-ignore
  ];
}

function horizonText(horizon: HorizonStatistics['horizon']): string {
  return horizon === 'latest' ? 'Latest' : countText(horizon, 'release', 'releases');
}

/** States that nothing was ever revised, or names the only revision. */
function unchangedText(table: RevisionTable, formats: Formats): string | undefined {
  const vintages = countText(table.vintages.length, 'vintage', 'vintages');
  if (table.vintages.length === 1) return 'Only one vintage; revisions appear with the next release.';
  const count = revisionCount(table);
  if (count === 0) return `${vintages}, and no value was ever revised.`;
  if (count > 1) return undefined;
  for (let vintageNo = 1; vintageNo < table.vintages.length; vintageNo += 1) {
    const only = changesOf(table, vintageNo).find(({ before }) => before !== null);
    if (only === undefined) continue;
    const period = formats.period(table.dates[only.dateNo] ?? '');
    const day = dayText(table.vintages[vintageNo] ?? '');
    const after = only.after === null ? 'withdrawn' : `changed to ${formats.value(only.after)}`;
    return `${vintages}, and one value was revised: ${period}, ${formats.value(only.before ?? 0)} at first, was ${after} on ${day}.`;
  }
  return undefined;
}

/** The changes of base and unit, across which nothing is compared; undefined without such changes. */
function basesText(table: RevisionTable, formats: Formats): string | undefined {
  const changes = [
    ...rebasingsOf(table).map(({ vintageNo, factor }) => {
      const by = Number(factor.toPrecision(4));
      return `On ${dayText(table.vintages[vintageNo] ?? '')} all values were multiplied by ${by}, as in a change of base.`;
    }),
    ...(table.breaks ?? []).map(
      ({ date, declaredOn }) =>
        `On ${dayText(declaredOn)} the unit was changed for ${formats.period(date)} and later.`,
    ),
  ];
  if (changes.length === 0) return undefined;
  return `${changes.join(' ')} No revision is computed across such a change.`;
}

function sentenceOf(verdict: Verdict | undefined, formats: Formats): string {
  if (verdict === undefined) {
    return `No ${formats.periodName} has a first print with a later release to compare.`;
  }
  const { latest, lean, mostWithin } = verdict;
  if (lean === 'unknown') {
    return `${countText(latest.count, `${formats.periodName} is`, `${formats.periodName}s are`)} too few to judge.`;
  }
  const leans = { up: 'mostly up', down: 'mostly down', none: 'with no clear bias up or down' }[lean];
  const within =
    mostWithin === undefined
      ? ''
      : ` Most of the revision comes within ${countText(mostWithin, 'release', 'releases')}.`;
  return `A first print is revised by ${formats.size(latest.meanSize)} on average, ${leans}.${within}`;
}

function basisOf(
  { latest: { count, mean, t }, lean }: Verdict,
  { unit, periodName, mean: meanText }: Formats,
): string {
  const basis = `${unit === '' ? '' : `${unit}; `}${countText(count, periodName, `${periodName}s`)} with a known first print.`;
  if (count < judgedFrom || t === null) return basis;
  const finding = lean === 'none' ? 'no statistically significant bias' : 'a statistically significant bias';
  return `${basis} The mean revision is ${meanText(mean)} (t = ${numberText(t, 1)}): ${finding}.`;
}

// How far to trust a first print: the finding in a sentence, then the figures behind it.
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
import type { Words } from './formats.ts';

export function Trust({ table, words }: { table: RevisionTable; words: Words }) {
  const statistics = useMemo(() => revisionStatistics(table), [table]);
  const verdict = verdictOf(statistics);
  const unchanged = useMemo(() => unchangedText(table, words), [table]);
  const bases = useMemo(() => basesText(table, words), [table]);
  return (
    <section>
      <div class="sec-head">
        <h2>How far to trust a first print</h2>
      </div>
      <div class="trust">
        <div>
          <p class="verdict">{unchanged ?? sentenceOf(verdict, words)}</p>
          {verdict !== undefined && unchanged === undefined && <p class="basis">{basisOf(verdict, words)}</p>}
          {bases !== undefined && <p class="basis">{bases}</p>}
          <details class="basis">
            <summary>How this is computed</summary>
            <p>
              A revision is a later value minus the first print of the same {words.periodName}. Compared are
              the {words.periodName}s that were first printed in the vintages shown here and have a value at
              the later release. Nothing is compared across a change of base or unit: “Latest” is the newest
              release before it. t is the mean divided by its standard error; from 2 on, or from −2 down, a
              lean is reported.
            </p>
          </details>
        </div>
        {statistics.length > 0 && (
          <div class="scrollx" tabIndex={0} role="region" aria-label="Statistics of revisions">
            <DataTable
              caption="Revisions of first prints, by how long after"
              columns={columnsOf(words)}
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

function columnsOf({ change, mean: meanText, size, periodName }: Words): Column<HorizonStatistics>[] {
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

/** States that nothing was ever changed, or names the only change. */
function unchangedText(table: RevisionTable, words: Words): string | undefined {
  const vintages = countText(table.vintages.length, 'vintage', 'vintages');
  if (table.vintages.length === 1) return 'The first vintage; revisions appear with the next release.';
  const count = revisionCount(table);
  if (count === 0) return `${vintages}, no figure was ever changed.`;
  if (count > 1) return undefined;
  for (let vintageNo = 1; vintageNo < table.vintages.length; vintageNo += 1) {
    const only = changesOf(table, vintageNo).find(({ before }) => before !== null);
    if (only === undefined) continue;
    const period = words.period(table.dates[only.dateNo] ?? '');
    const day = dayText(table.vintages[vintageNo] ?? '');
    const after = only.after === null ? 'taken back' : `changed to ${words.value(only.after)}`;
    return `${vintages}, and one figure was changed: ${period}, ${words.value(only.before ?? 0)} at first, was ${after} on ${day}.`;
  }
  return undefined;
}

/** The changes of base and unit, across which nothing is compared; undefined without such changes. */
function basesText(table: RevisionTable, words: Words): string | undefined {
  const changes = [
    ...rebasingsOf(table).map(({ vintageNo, factor }) => {
      const by = Number(factor.toPrecision(4));
      return `On ${dayText(table.vintages[vintageNo] ?? '')} all figures were multiplied by ${by}, as by a change of base.`;
    }),
    ...(table.breaks ?? []).map(
      ({ date, declaredOn }) =>
        `On ${dayText(declaredOn)} the unit was changed from ${words.period(date)} on.`,
    ),
  ];
  if (changes.length === 0) return undefined;
  return `${changes.join(' ')} Revisions are compared up to such a change, and after it.`;
}

function sentenceOf(verdict: Verdict | undefined, words: Words): string {
  if (verdict === undefined) {
    return `No ${words.periodName} was printed early enough to be revised since.`;
  }
  const { latest, lean, mostWithin } = verdict;
  if (lean === 'unknown') {
    return `${countText(latest.count, `${words.periodName} is`, `${words.periodName}s are`)} too few to judge.`;
  }
  const leans = { up: 'mostly up', down: 'mostly down', none: 'with no clear lean up or down' }[lean];
  const within =
    mostWithin === undefined
      ? ''
      : ` Most of it comes within ${countText(mostWithin, 'release', 'releases')}.`;
  return `A first print is revised by ${words.size(latest.meanSize)} on average, ${leans}.${within}`;
}

function basisOf(
  { latest: { count, mean, t }, lean }: Verdict,
  { unit, periodName, mean: meanText }: Words,
): string {
  const basis = `${unit === '' ? '' : `${unit}; `}${countText(count, periodName, `${periodName}s`)} with a known first print.`;
  if (count < judgedFrom || t === null) return basis;
  const finding =
    lean === 'none' ? 'a lean cannot be distinguished from chance' : 'the lean is not due to chance';
  return `${basis} With a mean of ${meanText(mean)} (t = ${numberText(t, 1)}) ${finding}.`;
}

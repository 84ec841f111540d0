// How often the points of the series of a table come: the dates of each series, and what most of them say.
import { entryAt } from '../../../kernel/entries.ts';
import type { Columns } from './columns.ts';
import { detectFrequency, type DateSpan, type FrequencyFound } from './date-forms.ts';
import { dateText, periodTitle, type Layout } from './layout.ts';

/** The dates of each series, and how often they come where enough series agree. */
export function frequencyOf(
  { dates, titles }: Layout,
  columns: Columns,
  rows: readonly string[][],
): FrequencyFound {
  if (dates.kind === 'across') {
    const periods = dates.columns.map((at) => periodTitle(entryAt(titles, at)));
    const years = [...new Set(rows.map((row) => dateText(row, dates)))];
    const texts = years.flatMap((year) => periods.map((period) => `${year} ${period}`.trim()));
    return detectFrequency(texts.map((text) => dates.form.value.read(text)).filter((span) => span !== null));
  }
  if (dates.kind !== 'column')
    return {
      value: 'monthly',
      isSure: false,
      repeated: 0,
      evidence: 'the file is of one day; a month is the most common distance',
    };
  const groups = spansByKey((row) => dateText(row, dates), dates.form.value.read, columns, rows);
  const found = [...groups.values()].slice(0, 200).map((spans) => detectFrequency(spans));
  const telling = found.filter(({ isSure }) => isSure);
  const [first = found[0]] = telling;
  if (first === undefined) return detectFrequency([]);
  const agree = telling.filter(({ value }) => value === first.value);
  if (agree.length >= telling.length * 0.9) return first;
  const common =
    [...Map.groupBy(telling, ({ value }) => value)].toSorted((a, b) => b[1].length - a[1].length)[0]?.[1] ??
    telling;
  const most = entryAt(common, 0);
  return {
    ...most,
    isSure: false,
    evidence: `${common.length} of ${telling.length} series: ${most.evidence}`,
  };
}

function spansByKey(
  dateOf: (row: readonly string[]) => string,
  read: (text: string) => DateSpan | null,
  { key, dimensions }: Columns,
  rows: readonly string[][],
): Map<string, DateSpan[]> {
  const by = [...(key === null ? [] : [key]), ...dimensions];
  const groups = new Map<string, DateSpan[]>();
  const known = new Map<string, DateSpan | null>();
  for (const row of rows) {
    const text = dateOf(row);
    let span = known.get(text);
    if (span === undefined) known.set(text, (span = read(text)));
    if (span === null) continue;
    const group = by.map((at) => (row[at] ?? '').trim()).join('\u001f');
    const spans = groups.get(group);
    if (spans === undefined) groups.set(group, [span]);
    else spans.push(span);
  }
  return groups;
}

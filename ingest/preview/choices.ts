// Turns the guesses of an entry into choices: for each guess that can be picked, its present value and its alternatives, with a cell of the
// file that shows the difference. The readings come from the code that detects and loads; this file asks the questions.
import { cellOf, isNumberText } from '../cells/cell-forms.ts';
import { dateChoice, fiscalYearChoice, frequencyChoice, vintageChoice } from './date-choices.ts';
import type { LoadableTable, TableDescription } from '../entry/entry-schema.ts';
import { isUntitled } from '../detect/table/header-lines.ts';
import { filledDown } from '../detect/table/layout.ts';
import type { EncodingCandidate } from '../read/encodings.ts';
import type { ReshapePlan } from '../reshape/reshape-plan.ts';
import type { Sample } from '../read/table-rows.ts';
import { decimalChoice, flagsChoice, missingChoice, multiplesChoice } from './number-choices.ts';
import type { Choice, EntryChange, EntryValue } from '../entry/resolve-guesses.ts';
import { missingFacts } from '../entry/missing-facts.ts';
import { choiceBetween, factOf, type Guessed } from './choice-between.ts';

/** The entry in another encoding: its texts are read again. */
export type ByEncoding = (encoding: string) => Promise<EntryChange>;

/**
 * The choices of an entry, in the order of its guesses. Guesses without a choice can only be confirmed.
 * @param plan how its rows are read; null if the entry cannot read them.
 */
export async function choicesOf(
  entry: TableDescription,
  {
    sample,
    plan,
    fileName,
    today,
  }: { sample: Sample; plan: ReshapePlan | null; fileName: string; today: string },
  byEncoding: ByEncoding,
): Promise<Choice[]> {
  const choices: Choice[] = [];
  if (entry.skip !== undefined || entry.dataset !== undefined) return choices;
  for (const key of entry.guessed ?? []) {
    const found =
      key === 'encoding'
        ? await encodingChoice(entry, sample.encodings ?? [], byEncoding)
        : (textChoice(key, entry) ??
          (plan === null
            ? null
            : (makers[key]?.(guessedOf(entry as LoadableTable, plan, sample, { fileName, today })) ?? null)));
    if (found !== null) choices.push(found);
  }
  return [...choices, ...missingFacts(entry, plan === null ? [] : valueTitles(plan))];
}

/** The titles of the columns of values; none if the dates are across the columns. */
function valueTitles({ date, titles, values }: ReshapePlan): string[] {
  return 'across' in date ? [] : values.flatMap(({ at }) => titles[at] ?? []);
}

function guessedOf(
  entry: LoadableTable,
  plan: ReshapePlan,
  sample: Sample,
  { fileName, today }: { fileName: string; today: string },
): Guessed {
  const first = Math.max(
    0,
    sample.lines.findIndex((line) => line >= entry.first),
  );
  const rows = filledDown(sample.rows.slice(first), plan.filled);
  const above = sample.rows.slice(0, first);
  return { entry, plan, above, rows, lines: sample.lines.slice(first), fileName, today };
}

const makers: Readonly<Record<string, (guessed: Guessed) => Choice | null>> = {
  date: dateChoice,
  vintage: vintageChoice,
  'series.frequency': frequencyChoice,
  'series.fiscal_year_end': fiscalYearChoice,
  decimal: decimalChoice,
  thousands: decimalChoice,
  missing: missingChoice,
  flags: flagsChoice,
  multiples: multiplesChoice,
  leave_out: leaveOutChoice,
  only: onlyChoice,
  repeated: ({ entry }) =>
    choiceBetween(entry, 'repeated', 'Rows that state a point which an earlier row states', [
      ['the first is loaded, the others are left out', null],
      ['the load stops at them', { repeated: null }],
    ]),
  fill: ({ entry }) =>
    choiceBetween(entry, 'fill', `Empty cells in ${(entry.fill ?? []).join(', ')}`, [
      ['they repeat the cell above', null],
      ['they stay empty', { fill: null }],
    ]),
  'series.unit_multiplier': ({ entry }) =>
    choiceBetween(entry, 'series.unit_multiplier', 'The numbers', [
      [`they are in units of 10^${factOf(entry, 'unit_multiplier') ?? '0'}`, null],
      ['they are in the unit itself', { 'series.unit_multiplier': null }],
    ]),
  columns: columnsChoice,
  values: valuesChoice,
  ignore: ignoreChoice,
  status: statusChoice,
};

const texts: Readonly<Record<string, string>> = {
  'series.unit': 'The unit of the values',
  'series.source': 'Who publishes the values',
  'series.name': 'The name of the series',
};

/** Facts that files rarely have: the user types them. */
function textChoice(key: string, { series }: TableDescription): Choice | null {
  const question = texts[key];
  if (question === undefined) return null;
  const now = (series as Record<string, string> | undefined)?.[key.slice('series.'.length)] ?? '';
  return { key, question: `${question}, now "${now}":`, options: [], text: key };
}

/** Columns of values whose frequency differs from that of the table. */
function columnsChoice({ entry }: Guessed): Choice | null {
  const own = Object.entries(entry.columns ?? {}).filter(([, { frequency }]) => frequency !== undefined);
  if (own.length === 0) return null;
  const named = own.map(([title, { frequency }]) => `${title}: ${frequency}`).join(', ');
  const asTable = own.map(([title]) => [`columns.${title}.frequency`, null] as const);
  return choiceBetween(entry, 'columns', 'The frequency of the columns', [
    [named, null],
    [`${entry.series.frequency}, as the other columns`, Object.fromEntries(asTable)],
  ]);
}

/** An id that a series already has is kept, or another one is typed. */
export function idChoice(id: string, existing: string, name: string): Choice {
  return {
    ...{ key: 'series.id', text: 'series.id' },
    question: `The series ${existing}, "${name}", exists, and would be revised:`,
    options: [{ label: 'it is this series: its points are revised', set: { 'series.id': id } }],
  };
}

async function encodingChoice(
  entry: TableDescription,
  candidates: readonly EncodingCandidate[],
  byEncoding: ByEncoding,
): Promise<Choice | null> {
  const now = candidates.find(({ name }) => name === entry.encoding);
  const others = candidates.filter(({ name }) => name !== entry.encoding);
  if (now === undefined || others.length === 0) return null;
  const options: [string, EntryChange | null][] = [[`${now.words} (${now.name})`, null]];
  for (const { name, words } of others) options.push([`${words} (${name})`, await byEncoding(name)]);
  return choiceBetween(entry as LoadableTable, 'encoding', 'The text of the file is', options);
}

/** Rows that are left out by their text: another reading loads them, or fails on them. */
function leaveOutChoice({ entry, plan, rows, lines }: Guessed): Choice | null {
  const all = entry.leave_out ?? {};
  const options: [string, EntryChange | null][] = [['they are left out', null]];
  const shown: string[] = [];
  for (const [title, leftOut] of Object.entries(all)) {
    const at = plan.titles.indexOf(title);
    const row = rows.findIndex((cells) => leftOut.includes((cells[at] ?? '').trim()));
    if (row >= 0)
      shown.push(
        `line ${lines[row] ?? 0}, with "${(rows[row]?.[at] ?? '').trim().slice(0, 60)}" in ${title}`,
      );
    const { [title]: _, ...rest } = all;
    const set = { leave_out: Object.keys(rest).length === 0 ? null : (rest as EntryValue) };
    const which = Object.keys(all).length === 1 ? null : `those left out by ${title}`;
    const isDimension = plan.dimensions.includes(at);
    options.push([
      isDimension ? `${which ?? 'they'} are loaded` : `the load stops at ${which ?? 'them'}`,
      set,
    ]);
  }
  return choiceBetween(entry, 'leave_out', `Rows such as ${shown.join('; ')}`, options);
}

function onlyChoice({ entry, plan, rows, lines }: Guessed): Choice | null {
  const [title = '', form = ''] = Object.entries(entry.only ?? {})[0] ?? [];
  const at = plan.titles.indexOf(title);
  const expression = new RegExp(form);
  const row = rows.findIndex(
    (cells) => !expression.test((cells[at] ?? '').trim()) && cells.some((cell) => isNumberText(cell)),
  );
  const text = (rows[row]?.[at] ?? '').trim().slice(0, 60);
  return choiceBetween(
    entry,
    'only',
    row < 0
      ? `Rows whose text in ${title} does not have the form of the others`
      : `Rows such as line ${lines[row] ?? 0}, with ${text === '' ? 'no text' : `"${text}"`} in ${title}`,
    [
      ['they are left out', null],
      ['they are loaded, or stop the load where the cell is empty', { only: null }],
    ],
  );
}

/** Columns of values without a title may not be values. */
function valuesChoice({ entry }: Guessed): Choice | null {
  const { values } = entry;
  if (!Array.isArray(values)) return null;
  const isMade = (title: string) =>
    /^column \d+$/.test(title) && isUntitled(title, Number(title.slice(7)) - 1);
  const untitled = values.filter(isMade);
  const rest = values.filter((title) => !isMade(title));
  if (untitled.length === 0 || rest.length === 0) return null;
  return choiceBetween(entry, 'values', `Columns with numbers and no title (${untitled.join(', ')})`, [
    ['they are loaded', null],
    ['they are left out', { values: rest }],
  ]);
}

/** A column that has texts beside some of the values only. */
function statusChoice({ entry }: Guessed): Choice | null {
  const { status, ignore = [] } = entry;
  if (typeof status !== 'string') return null;
  return choiceBetween(entry, 'status', `The texts in ${status} are`, [
    ['the status of the points', null],
    ['left out', { status: null, ignore: [...ignore, status] }],
  ]);
}

/** Columns of numbers that are left out may be values. */
function ignoreChoice({ entry, plan, rows }: Guessed): Choice | null {
  const { values, ignore = [] } = entry;
  if (values === undefined || values === '*') return null;
  const isNumbers = (title: string) => {
    const at = plan.titles.indexOf(title);
    const cells = rows.slice(0, rowsExamined).flatMap((row) => {
      const text = (row[at] ?? '').trim();
      return text === '' ? [] : [text];
    });
    return cells.length > 0 && cells.every((text) => cellOf(text).kind === 'number');
  };
  const options: [string, EntryChange | null][] = [['left out', null]];
  for (const title of ignore.filter(isNumbers).slice(0, columnsAsked)) {
    const rest = ignore.filter((each) => each !== title);
    options.push([
      `values: ${title} is a series of its own`,
      { values: [...[values].flat(), title], ignore: rest.length === 0 ? null : rest },
    ]);
  }
  return options.length === 1
    ? null
    : choiceBetween(entry, 'ignore', `The numbers in ${ignore.filter(isNumbers).join(', ')} are`, options);
}

const [rowsExamined, columnsAsked] = [500, 4];

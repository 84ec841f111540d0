// A file from a seed: a layout, a language, forms of dates and numbers, marks, surroundings, a format and an encoding; and the truth of it.
import { dateForms, type DateForm } from './date-forms.ts';
import { layouts, type Layout } from './layouts/layouts.ts';
import {
  exponents,
  isSignOpen,
  numberForm,
  plainNumbers,
  somePercent,
  workbookNumbers,
  type NumberForm,
} from './number-forms.ts';
import type { Frequency, OfficeFile, Question, Sheet } from './office-file.ts';
import { somePeriods } from './periods.ts';
import { randomOf, type Random } from './random.ts';
import { noMarks, someMarks, type Statistics } from './statistics.ts';
import { surround } from './surroundings.ts';
import { languages } from './words/months.ts';
import { namesOf } from './words/names.ts';
import { fileOf, formats, textStyle, type Format } from './writing/files.ts';
import type { TextStyle } from './writing/text-files.ts';

/** A table before it becomes a file: it can be changed, and written in other ways. */
export interface Draft {
  seed: number;
  random: Random;
  layout: Layout;
  statistics: Statistics;
  sheet: Sheet;
  around: string;
  format: Format;
  style: TextStyle;
}

export function officeFile(seed: number): OfficeFile {
  return written(draftOf(seed));
}

export function draftOf(seed: number): Draft {
  const random = randomOf(seed);
  const layout = random.weighted(layouts);
  const format = formatOf(random, layout);
  const statistics = statisticsOf(random, layout, format);
  const plain = layout.write(statistics);
  const { sheet, name: around } =
    layout.bare === true ? bareOf(plain) : surround(plain, statistics, layout.sumsDown === true);
  const isComma = statistics.numbers.write('1.5').includes(',');
  const style = textStyle(random, format.name, isComma);
  return { seed, random, layout, statistics, sheet: withQuestions(sheet, statistics), around, format, style };
}

const bareOf = (sheet: Sheet) => ({
  sheet: { ...sheet, table: { ...sheet.table, end: sheet.table.rows.length } },
  name: 'nothing',
});

const fileNames = [
  'prices',
  'gdp',
  'table',
  'statistics',
  'labour',
  'trade-data',
  'housing',
  'export',
  'data',
];

export function written({
  seed,
  random,
  layout,
  statistics,
  sheet,
  around,
  format,
  style,
}: Draft): OfficeFile {
  const { content, ending, encoding } = fileOf(sheet.table, format.name, {
    random,
    language: statistics.language,
    style,
    names: sheet.series.map(({ labels }) => labels.map(([text]) => text).join(', ') || 'The series'),
  });
  const isOpen = !/^(?:utf|of the format)/.test(encoding);
  const suffix = random.chance(0.05) ? '-2026-11' : '';
  return {
    seed,
    kind: {
      layout: layout.name,
      frequency: statistics.frequency,
      language: statistics.language,
      dates: layout.ownDates ?? statistics.dates.name,
      numbers: statistics.numbers.name,
      marks: statistics.marks.name,
      around,
      encoding,
      format: format.name,
    },
    name: `${random.pick(fileNames)}${suffix}${ending}`,
    content,
    series: sheet.series,
    questions: [...sheet.questions, ...(isOpen ? (['encoding'] as const) : [])],
  };
}

function formatOf(random: Random, layout: Layout): Format {
  if (layout.format !== undefined) return formats.find(({ name }) => name === layout.format)!;
  return random.weighted(formats);
}

const frequencyWeights: readonly { frequency: Frequency; weight: number }[] = [
  { frequency: 'annual', weight: 4 },
  { frequency: 'semiannual', weight: 1 },
  { frequency: 'quarterly', weight: 4 },
  { frequency: 'monthly', weight: 7 },
  { frequency: 'weekly', weight: 1 },
  { frequency: 'daily', weight: 3 },
];

function statisticsOf(random: Random, layout: Layout, format: Format): Statistics {
  const language = layout.language ?? (random.chance(0.25) ? 'en' : random.pick(languages));
  const { frequency } = random.weighted(
    frequencyWeights.filter((each) => layout.frequencies.includes(each.frequency)),
  );
  const dates = someDates(random, layout, { frequency, language, inWorkbook: format.isWorkbook });
  const decimals = random.pick([0, 1, 1, 2, 2, 3]);
  const draft: Statistics = {
    ...{ random, language, names: namesOf(language), frequency, dates, decimals },
    periods: somePeriods(random, frequency, layout.wholeYears),
    marks: layout.plainNumbers === true ? noMarks : someMarks(random),
    numbers: plainNumbers,
    inWorkbook: format.isWorkbook,
  };
  const numbers = someNumbers(draft, layout);
  if (numbers !== exponents) return { ...draft, numbers };
  return { ...draft, numbers, decimals: 6, level: 0.0015 };
}

function someDates(
  random: Random,
  { ownDates }: Layout,
  { frequency, language, inWorkbook }: { frequency: Frequency; language: string; inWorkbook: boolean },
): DateForm {
  const forms = dateForms(frequency, language, inWorkbook, random);
  if (ownDates === undefined) return withMark(random, frequency, random.pick(forms));
  return { name: ownDates, write: ({ first }) => ({ text: first }) };
}

/** A sign behind the last dates, as in `2023p`. */
function withMark(random: Random, frequency: Frequency, form: DateForm): DateForm {
  const isMarked = ['annual', 'quarterly', 'monthly'].includes(frequency) && random.chance(0.05);
  if (!isMarked || form.name.startsWith('date cell')) return form;
  const mark = random.pick(['p', '*', ' p', ' (p)', 'r', ' e']);
  const since = random.whole(2015, 2022);
  return {
    ...form,
    name: `${form.name}, marked ${mark.trim()}`,
    write: (period) => (period.year < since ? form.write(period) : { text: form.write(period).text + mark }),
  };
}

function someNumbers({ random, language, inWorkbook, decimals }: Statistics, layout: Layout): NumberForm {
  if (inWorkbook && random.chance(0.8)) return workbookNumbers(random, decimals);
  if (layout.plainNumbers === true) return plainNumbers;
  if (random.chance(0.03)) return exponents;
  if (random.chance(0.03)) return somePercent;
  return numberForm(random, language, true);
}

/** The open questions of a table of any layout. */
function withQuestions(sheet: Sheet, { dates, numbers }: Statistics): Sheet {
  const values = sheet.series.flatMap(({ points }) =>
    points.flatMap(({ value }) => (value === null ? [] : [value])),
  );
  const isOpen = numbers.format === undefined && isSignOpen(values.map(numbers.write));
  const questions: Question[] = [
    ...sheet.questions,
    ...(dates.question === undefined ? [] : [dates.question]),
    ...(numbers.question === undefined ? [] : [numbers.question]),
    ...(isOpen ? (['numbers'] as const) : []),
  ];
  return { ...sheet, questions };
}

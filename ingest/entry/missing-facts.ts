// The missing facts of the series of a table: readers expect them of every series, and files rarely have them. A terminal asks for them,
// other callers report them; the table is loaded without them.
import type { Choice } from './resolve-guesses.ts';
import type { TableDescription } from './entry-schema.ts';

/** With more columns than this, one question asks for the unit of all of them. */
const columnsAsked = 12;
const notGiven = 'is not given in the file or its metadata.';

/**
 * A question for each missing fact, answered with a text: the unit of each column of values, and the source.
 * @param columns the titles of the columns of values, if these are series of their own.
 */
export function missingFacts(entry: TableDescription, columns: readonly string[]): Choice[] {
  if (entry.series === undefined || entry.skip !== undefined) return [];
  const { unit, source } = entry.series;
  return [
    ...(unit === undefined ? missingUnits(entry, columns) : []),
    ...(source === undefined && !columns.some((title) => entry.columns?.[title]?.source !== undefined)
      ? [asked('series.source', `The publisher of the values ${notGiven}`)]
      : []),
  ];
}

function missingUnits(entry: TableDescription, columns: readonly string[]): Choice[] {
  const lacking = columns.filter((title) => entry.columns?.[title]?.unit === undefined);
  const [only] = columns;
  if (columns.length < 2)
    return only !== undefined && lacking.length === 0
      ? []
      : [asked('series.unit', `The unit of ${only === undefined ? 'the values' : `"${only}"`} ${notGiven}`)];
  if (lacking.length > columnsAsked)
    return [
      asked(
        'series.unit',
        `The unit of ${lacking.length} columns, such as "${lacking[0] ?? ''}", ${notGiven}`,
      ),
    ];
  return lacking.map((title) => asked(`columns.${title}.unit`, `The unit of "${title}" ${notGiven}`));
}

/** The question for the title of a table that is named by its file. */
export function titleQuestion({ series }: TableDescription): Choice {
  const { title } = titleIn(series?.name ?? '');
  return asked(
    'series.name',
    `The table has no title, and the name of its file is not descriptive: "${title}".`,
  );
}

const asked = (key: string, question: string): Choice => ({ key, question, options: [], text: key });

/** Whether the choice is for a fact that is missing, and not for a guess. */
export const isMissing = ({ guessed = [] }: TableDescription, { key, options }: Choice): boolean =>
  options.length === 0 && !guessed.includes(key);

/** A typed title with the placeholders that distinguish the series of the table, such as `{column}`, as in the present name. */
export function titled({ series }: TableDescription, title: string): string {
  return title.includes('{') ? title : `${title}${titleIn(series?.name ?? '').placeholders}`;
}

function titleIn(name: string): { title: string; placeholders: string } {
  const placeholders = /(?:, \{[^{}]*\})+$/.exec(name)?.[0] ?? '';
  return { title: name.slice(0, name.length - placeholders.length), placeholders };
}

/** Whether the fact is a guess, or one of those that are asked for and missing. */
export function isOpenFact({ series, columns = {}, guessed = [] }: TableDescription, name: string): boolean {
  if (guessed.includes(`series.${name}`)) return true;
  const isStated = (of: object | undefined) => Object.hasOwn(of ?? {}, name);
  return (
    (name === 'unit' || name === 'source') &&
    series !== undefined &&
    ![series, ...Object.values(columns)].some(isStated)
  );
}

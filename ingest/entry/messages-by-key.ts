// Rewrites messages of a load, which name the flags of `almanac ingest`, to name the keys of almanac.yml.
import { shellWord } from '../datasets/shell-word.ts';
import { IngestFailure } from '../failure.ts';
import type { LoadSummary } from '../load/store/load-options.ts';
import type { TableDescription } from './entry-schema.ts';
import { entryFlags } from './flags.ts';

const keyOf = new Map(entryFlags.map(({ flag, key }) => [flag.slice(2), key]));
const names = [...keyOf.keys()].toSorted((a, b) => b.length - a.length).join('|');
/** A flag, and the column that it is for: `--map date=…`, `--set unit=Percent`, `--multiply nav: …`. */
const flagInText = new RegExp(`(?<=^|[\\s("])--(${names})(?![\\w-])(?: ([A-Za-z_]\\w*)(=…|(?=[=:])))?`, 'g');

type OfEntry = Pick<TableDescription, 'dataset'>;

/** The text with keys in place of flags: `--map date=…` is `map: { date: … }`. A fact of the series of a layout is `series.unit`. */
const namedByKey = (text: string, { dataset }: OfEntry): string =>
  text.replaceAll(flagInText, (_, flag: string, column: string | undefined, given: string | undefined) => {
    const key = flag === 'set' && dataset === undefined ? 'series' : (keyOf.get(flag) ?? flag);
    if (column === undefined) return key;
    return given === '=…' ? `${key}: { ${column}: … }` : `${key}.${column}`;
  });

/** The same failure with keys in place of flags. Missing options are written as an entry would have them. */
export function failureNamedByKey(failure: IngestFailure, entry: OfEntry): IngestFailure {
  const { code, message, rowsRejected, rejects, cause, fix, due } = failure;
  const words = `${fix.map(shellWord).join(' ')}.`;
  const reason = fix.length > 0 && message.endsWith(words) ? message.slice(0, -words.length) : null;
  const text = namedByKey(reason ?? message, entry) + (reason === null ? '' : `${keysOf(fix)}.`);
  return new IngestFailure(code, text, {
    ...{ rowsRejected, cause, due },
    rejects: rejects.map((each) => ({ ...each, expected: namedByKey(each.expected, entry) })),
  });
}

/** @param fix flags and their values in turn: all that a load offers is of --map or --ignore. */
function keysOf(fix: readonly string[]): string {
  const values = (flag: string) =>
    fix.filter((_, at) => fix[at - 1] === flag).map((text) => JSON.stringify(text));
  const map = values('--map').map((pair) => pair.replace(/^"([^=]+)=/, '$1: "'));
  const ignore = values('--ignore');
  return [
    ...(map.length > 0 ? [`map: { ${map.join(', ')} }`] : []),
    ...(ignore.length > 0 ? [`ignore: [${ignore.join(', ')}]`] : []),
  ].join(' ');
}

/** The summary with keys in place of flags. */
export const summaryNamedByKey = (summary: LoadSummary, entry: OfEntry): LoadSummary => ({
  ...summary,
  notes: summary.notes.map((note) => namedByKey(note, entry)),
  rejects: summary.rejects.map((each) => ({ ...each, expected: namedByKey(each.expected, entry) })),
});

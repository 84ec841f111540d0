// Describes a run before it starts: the tables with certain and guessed facts, their rows as they will be served, the effects of edits, and
// the tables that are left out.
import type { TableDescription } from '../entry/entry-schema.ts';
import type { Plan, PlannedTable } from './plan.ts';
import type { Inspected } from '../entry/table-preview.ts';
import type { Preview, PreviewPoint } from '../entry/table-preview.ts';
import { isMissing } from '../entry/missing-facts.ts';
import { tableEndings } from '../read/file-kind.ts';
import { flow, linesOf, type Choice } from '../entry/resolve-guesses.ts';
import { counted, nounOf } from '../../kernel/text/counted.ts';

const tablesShown = 40;
/** With more tables than this, three rows of each are shown. */
const tablesWithAllRows = 5;

interface Shown {
  /** Facts of tables besides their entries. */
  inspected: ReadonlyMap<TableDescription, Inspected>;
  /** Whether to show the lines that settle a guess, because no question is asked. */
  withLines: boolean;
}

/** Lines of text; empty if nothing has changed. */
export function previewOf(plan: Plan, { inspected, withLines }: Shown): string {
  const lines: string[] = [];
  const fresh = plan.newEntries;
  if (fresh.length > 0)
    lines.push(`${plan.descriptionPath}: ${counted(fresh.length, 'new entry', 'new entries')}`);
  const areFew = inspected.size <= tablesWithAllRows;
  for (const { entry, evidence, title } of fresh.slice(0, tablesShown)) {
    if (entry.skip !== undefined) {
      lines.push('', `${nameOf(entry)}: left out, ${entry.skip}`);
      continue;
    }
    lines.push('', `${nameOf(entry)}: ${title}`);
    const guessed = new Set(entry.guessed ?? []);
    for (const [key, why] of Object.entries(evidence)) {
      const text = valueAt(entry, key);
      lines.push(
        `  ${guessed.has(key) ? 'guess' : 'sure '}  ${key}${text === '' ? '' : `: ${text}`}  (${shortened(why)})`,
      );
    }
    for (const choice of inspected.get(entry)?.choices ?? [])
      if (isMissing(entry, choice) && choice.key !== 'series.name')
        lines.push(
          `  missing  ${choice.key}: ${shortened(choice.question)} Write in almanac.yml  ${missingLine(choice)}`,
        );
    lines.push(...inspectedOf(entry, inspected.get(entry), { withLines, areFew }));
  }
  if (fresh.length > tablesShown) lines.push(`… and ${fresh.length - tablesShown} more`);
  const isNew = new Set(fresh.map(({ entry }) => entry));
  for (const table of plan.tables.filter(({ entry }) => !isNew.has(entry)).slice(0, tablesShown)) {
    if (table.state === 'entry changed') lines.push(...editOf(table));
    const of = inspected.get(table.entry);
    if (of === undefined) continue;
    if (table.state !== 'entry changed') lines.push(`${table.path}: its guesses are not confirmed`);
    lines.push(...inspectedOf(table.entry, of, { withLines, areFew }));
  }
  for (const { path, reason } of plan.unreadable) lines.push(`${path}: cannot be read. ${reason}`);
  for (const { file } of plan.withoutFile.slice(0, tablesShown)) lines.push(withoutFile(plan, [file].flat()));
  if (plan.withoutFile.length > tablesShown)
    lines.push(`… and ${plan.withoutFile.length - tablesShown} more entries without a file`);
  return lines.length === 0 ? '' : `${lines.join('\n')}\n\n`;
}

const withoutFile = ({ descriptionPath }: Plan, names: readonly string[]): string =>
  `${descriptionPath}: no file that is read (${tableEndings.join(', ')}) is named ${names.join(', ')}: its entry loads nothing. Correct its file, or delete the entry`;

export const nameOf = ({ file, sheet }: TableDescription): string =>
  `${[file].flat()[0] ?? ''}${sheet === undefined ? '' : `, sheet ${sheet}`}`;

function editOf({ path, changes }: PlannedTable): string[] {
  return [`${path}: its entry was edited since it was loaded`, ...changes.map((change) => `  ${change}`)];
}

function inspectedOf(
  entry: TableDescription,
  of: Inspected | undefined,
  { withLines, areFew }: { withLines: boolean; areFew: boolean },
): string[] {
  if (of === undefined) return [];
  const guesses = of.choices.filter((choice) => !isMissing(entry, choice));
  const choices = withLines ? guesses.flatMap((choice) => linesOfChoice(entry, choice)) : [];
  return [...choices, ...rowsOf(of.preview, areFew ? undefined : 3)];
}

/** The line that reports a missing fact. */
function missingLine({ key }: Choice): string {
  const [root = '', ...parts] = key.split('.');
  const fact = parts.pop() ?? '';
  return `${fact}: … under ${[root, ...(parts.length > 0 ? [parts.join('.')] : [])].join(', ')}`;
}

function linesOfChoice(entry: TableDescription, { key, question, options, text }: Choice): string[] {
  const others = options
    .slice(1)
    .map(({ label, set }) => `    ${label}: write in almanac.yml  ${shortened(linesOf(entry, set))}`);
  const part = text?.split('.').at(-1) ?? '';
  const typed = text === null ? [] : [`    another: write in almanac.yml  ${part}: … under series`];
  const [now] = options;
  return [
    `  to settle ${key}: ${shortened(question)}`,
    ...(now === undefined ? [] : [`    ${now.label}: it is so now; remove ${key} from guessed`]),
    ...others,
    ...typed,
  ];
}

/** The rows of a table, and its parts that are not loaded. @param most how many rows. */
export function rowsOf(preview: Preview, most = preview.points.length): string[] {
  const { points, points_read: count, is_whole: isWhole, fault } = preview;
  if (fault !== null) return [`  its rows cannot be shown: ${fault}`];
  const lines: string[] = [];
  if (points.length > 0) {
    lines.push(
      `  as it will be served, of ${counted(count, 'point')}${isWhole ? '' : ' of the rows that were read'}:`,
    );
    lines.push(...tableOf(some(points, most)).map((line) => `    ${line}`));
  }
  for (const { reason, count: rows, examples } of preview.left_out)
    lines.push(
      `  left out: ${counted(rows, 'row')}, ${reason}; ${examples.map(({ line, text }) => `line ${line}: ${text}`).join('; ')}`,
    );
  for (const { title, reason } of preview.columns_left_out)
    lines.push(`  not loaded: the column ${title}, ${shortened(reason)}`);
  for (const { line, column, text, expected } of preview.refused)
    lines.push(`  refused: line ${line}, ${column}: "${text}", expected ${expected}`);
  const more = preview.refused_count - preview.refused.length;
  if (more > 0) lines.push(`  and ${more} more ${nounOf(more, 'is', 'are')} refused`);
  return lines;
}

/** The first, the last and some between. */
function some(points: readonly PreviewPoint[], most: number): readonly PreviewPoint[] {
  if (points.length <= most) return points;
  return Array.from({ length: most }, (_, at) => Math.round((at * (points.length - 1)) / (most - 1))).flatMap(
    (at) => points[at] ?? [],
  );
}

/** Columns without a value in any point are omitted. */
function tableOf(points: readonly PreviewPoint[]): string[] {
  const dims = [...new Set(points.flatMap((point) => Object.keys(point.dims)))];
  const columns: [title: string, cell: (point: PreviewPoint) => string][] = [
    ['line', ({ line }) => String(line)],
    ['series', ({ series }) => series],
    ...dims.map((name): (typeof columns)[number] => [name, (point) => point.dims[name] ?? '']),
    ['date', ({ date }) => date],
    ['value', ({ value }) => value ?? 'missing'],
    ['status', ({ status }) => status ?? ''],
    ['vintage', ({ vintage }) => vintage ?? ''],
  ];
  const used = columns.filter(([, cell]) => points.some((point) => cell(point) !== ''));
  const rows = [used.map(([title]) => title), ...points.map((point) => used.map(([, cell]) => cell(point)))];
  const widths = used.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

const textMax = 160;
const shortened = (text: string) => (text.length > textMax ? `${text.slice(0, textMax)}…` : text);

/** The value of a key such as `series.unit`, on one line; empty for none. */
export function valueAt(entry: object, key: string): string {
  let value: unknown = entry;
  for (const part of key.split('.')) value = (value as Record<string, unknown> | undefined)?.[part];
  if (value === undefined) return '';
  return shortened(typeof value === 'string' ? value : flow(value));
}

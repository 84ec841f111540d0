// A mutation: one change at one place in one file, as offsets into its text. Hides how a change is applied and shown.

/** The kind of change; `weights` below decides how often a kind is drawn. */
export type Operator = keyof typeof weights;

/** Common mistakes are drawn more often than typing errors in constants, which are the most frequent. */
export const weights = {
  'comparison bound': 3,
  'comparison negated': 2,
  'and/or': 3,
  'condition fixed': 2,
  'negation dropped': 2,
  'arms swapped': 2,
  number: 1,
  string: 0.3,
  boolean: 1.5,
  'regex anchor': 1,
  'statement dropped': 3,
  'arguments swapped': 1,
  'property dropped': 1.5,
  'element dropped': 0.7,
  'fallback dropped': 2,
  'min/max': 3,
  arithmetic: 2,
  'some/every': 3,
  'link dropped': 2,
  'template part dropped': 0.7,
  'SQL term dropped': 4,
  'SQL comparison': 1.5,
  'SQL and/or': 2,
  'SQL null': 2,
  'SQL min/max': 3,
  'SQL order': 2,
  'SQL union': 2,
  'SQL distinct': 2,
  'SQL lock dropped': 2,
  'SQL number': 1,
  'SQL string': 0.3,
  'SQL constraint dropped': 3,
  'SQL trigger dropped': 10,
} as const;

export interface Change {
  start: number;
  end: number;
  /** The replacement of the text from `start` to `end`. */
  text: string;
  operator: Operator;
}

export interface Candidate extends Change {
  /** Path from the project's root, with `/`. */
  file: string;
}

/** The text with the change made. */
export function applied(source: string, { start, end, text }: Change): string {
  return source.slice(0, start) + text + source.slice(end);
}

/** The number of the line an offset is in, from 1. */
export function lineOf(source: string, offset: number): number {
  let line = 1;
  for (let at = source.indexOf('\n'); at !== -1 && at < offset; at = source.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** Where a change begins: the first character that is not white space. */
export function placeOf(source: string, { start, end }: Change): number {
  return start + Math.max(0, source.slice(start, end).search(/\S/));
}

/** The change in one line: `before → after`, as much of the lines as it touches. */
export function shown(source: string, change: Change): string {
  const place = placeOf(source, change);
  const lineStart = source.lastIndexOf('\n', place - 1) + 1;
  const from = Math.min(lineStart, change.start);
  const lineEnd = source.indexOf('\n', Math.max(change.end, place));
  const to = lineEnd === -1 ? source.length : lineEnd;
  const before = source.slice(from, to);
  const after = applied(source, change).slice(from, to + change.text.length - (change.end - change.start));
  return `${oneLine(before)} → ${oneLine(after)}`;
}

function oneLine(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ');
  return line.length <= 160 ? line : `${line.slice(0, 100)} … ${line.slice(-50)}`;
}

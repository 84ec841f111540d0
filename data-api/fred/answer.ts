// Answers in the form of FRED: one document with attributes and rows, as XML or JSON. Hides how a long one is sent in parts.
import type { Content, Reply } from '../../kernel/http/answer.ts';
import { oneOfParam } from '../../kernel/http/params.ts';
import { xmlAttributes, xmlHead, xmlText } from '../../kernel/wire/xml.ts';

export const fileTypes = ['xml', 'json'] as const;
export type FileType = (typeof fileTypes)[number];
export const fileTypeParam = oneOfParam(fileTypes)
  .default('xml')
  .describe('The format of the answer. The Accept header does not choose it.');

type Attributes = Readonly<Record<string, string | number>>;

/** A document of FRED. */
export interface FredDocument {
  /** The attributes of the root in XML, the members before the rows in JSON. */
  head: Attributes;
  /** The name of the root in XML, and of the rows in JSON, such as `seriess`. */
  root: string;
  /** The name of a row's element. */
  item: string;
  /** A row is its attributes, or its text. */
  rows: Iterable<Attributes | string>;
}

/** Approximate, in characters. */
const partLength = 65_536;

/** A reply whose body is read when it is needed. */
export function fredReply(
  format: FileType,
  { read, ...reply }: Omit<Reply, 'format' | 'read'> & { read: () => Promise<FredDocument> },
): Reply {
  return { ...reply, format, read: async () => contentOf(await read(), format) };
}

function contentOf(document: FredDocument, format: FileType): Content {
  const pieces = format === 'json' ? jsonPieces(document) : xmlPieces(document);
  let first = '';
  for (let next = pieces.next(); next.done !== true; next = pieces.next()) {
    first += next.value;
    if (first.length > partLength) return { parts: inParts(first, pieces) };
  }
  return { text: first };
}

// oxlint-disable-next-line require-await
async function* inParts(first: string, rest: Iterable<string>): AsyncGenerator<string> {
  let part = first;
  for (const piece of rest) {
    part += piece;
    if (part.length < partLength) continue;
    yield part;
    part = '';
  }
  yield part;
}

function* jsonPieces({ head, root, rows }: FredDocument): Generator<string> {
  const members = JSON.stringify(head).slice(0, -1);
  yield `${members}${members === '{' ? '' : ','}"${root}":[`;
  let separator = '';
  for (const row of rows) {
    yield separator + JSON.stringify(row);
    separator = ',';
  }
  yield ']}\n';
}

function* xmlPieces({ head, root, item, rows }: FredDocument): Generator<string> {
  yield `${xmlHead}<${root}${xmlAttributes(head)}>\n`;
  for (const row of rows)
    yield typeof row === 'string'
      ? `  <${item}>${xmlText(row)}</${item}>\n`
      : `  <${item}${xmlAttributes(row)}/>\n`;
  yield `</${root}>\n`;
}

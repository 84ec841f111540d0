// Answers in the form of FRED: one document with attributes and rows, as XML or JSON, and the parameters and pages of its lists.
// Hides how a long one is sent in parts.
import { z } from 'zod';
import type { Content, Reply } from '../../kernel/http/answer.ts';
import { integerParam, oneOfParam } from '../../kernel/http/params.ts';
import { xmlAttributes, xmlHead, xmlText } from '../../kernel/wire/xml.ts';

export const fileTypes = ['xml', 'json'] as const;
export type FileType = (typeof fileTypes)[number];
export const fileTypeParam = oneOfParam(fileTypes)
  .default('xml')
  .describe('The format of the answer. The Accept header does not choose it.');

export const sortOrders = ['asc', 'desc'] as const;
export type SortOrder = (typeof sortOrders)[number];
export const sortOrderParam = oneOfParam(sortOrders).default('asc');
export const offsetParam = integerParam(0, 999_999_999)
  .default(0)
  .meta({ description: 'How many rows are left out at the beginning.', override: { default: 0 } });
export const limitParam = (most: number) =>
  integerParam(1, most)
    .default(most)
    .meta({ description: 'The most rows of the answer.', override: { default: most } });

/** The attributes of a list in pages. */
export const pageShape = {
  sort_order: z.enum(sortOrders),
  count: z.int().describe('Of all rows.'),
  offset: z.int(),
  limit: z.int(),
};
export const realtimeShape = { realtime_start: z.iso.date(), realtime_end: z.iso.date() };

type Attributes = Readonly<Record<string, string | number | boolean>>;

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
  /** The attribute that is the text of a row's element in XML. */
  text?: string;
}

/** Approximate, in characters. */
const partLength = 65_536;

/** A reply whose body is read when it is needed. */
export function fredReply(
  format: FileType,
  { read, ...reply }: Omit<Reply, 'format' | 'read'> & { read: () => Promise<FredDocument> | FredDocument },
): Reply {
  return { ...reply, format, read: async () => contentOf(await read(), format) };
}

interface PageQuery {
  sort_order: SortOrder;
  offset: number;
  limit: number;
}

/** A page of rows in an order. @param orders what the rows are compared by, one after the other; only the first is reversed by `desc`. */
export function pageOf<Row>(
  rows: readonly Row[],
  orders: readonly ((row: Row) => string | number)[],
  { sort_order, offset, limit }: PageQuery,
): Row[] {
  const compare = (a: Row, b: Row): number => {
    for (const [i, keyOf] of orders.entries()) {
      const [one, other] = [keyOf(a), keyOf(b)];
      if (one !== other) return one < other === (i > 0 || sort_order === 'asc') ? -1 : 1;
    }
    return 0;
  };
  return rows.toSorted(compare).slice(offset, offset + limit);
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

function* xmlPieces({ head, root, item, rows, text: textName }: FredDocument): Generator<string> {
  yield `${xmlHead}<${root}${xmlAttributes(head)}>\n`;
  for (const row of rows) {
    const { text, attributes } = elementOf(row, textName);
    yield text === undefined
      ? `  <${item}${xmlAttributes(attributes)}/>\n`
      : `  <${item}${xmlAttributes(attributes)}>${xmlText(text)}</${item}>\n`;
  }
  yield `</${root}>\n`;
}

function elementOf(row: Attributes | string, textName: string | undefined) {
  if (typeof row === 'string') return { text: row, attributes: {} };
  if (textName === undefined) return { text: undefined, attributes: row };
  const { [textName]: text, ...attributes } = row;
  return { text: String(text), attributes };
}

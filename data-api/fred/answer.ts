// Answers in FRED's format: one document with attributes and rows, as XML or JSON, and the parameters and pages of its lists. Long
// documents are sent in parts.
import { z } from 'zod';
import type { Content, Reply } from '../../kernel/http/answer.ts';
import { integerParam, oneOfParam } from '../../kernel/http/params.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import { xmlAttributes, xmlHead, xmlText } from '../../kernel/wire/xml.ts';
import type { Dependencies } from '../dependencies.ts';
import { endpoint } from '../endpoint.ts';
import { realtimeFacts, realtimeOf, realtimeParams, type Realtime } from './real-time.ts';

export const fileTypes = ['xml', 'json'] as const;
export type FileType = (typeof fileTypes)[number];
export const fileTypeParam = oneOfParam(fileTypes)
  .default('xml')
  .describe('The format of the answer. The Accept header does not choose it.');
/** Declares an endpoint whose answers, XML or JSON, are the same for every caller. */
export const fredEndpoint: typeof endpoint = (declared) =>
  endpoint({ formats: fileTypes, caching: 'public', ...declared });

/** The parameters of all endpoints but those for graphs and for whole releases. */
export const answerParams = { file_type: fileTypeParam, ...realtimeParams };

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

type Key<Row> = (row: Row) => string | number;

/** The content and form of an endpoint's answer: releases, sources, tags or series. */
export interface Kind<Row, Orders extends string = never> {
  /** The name of a row's element; the root is the same with an `s`. */
  item: string;
  schema: z.ZodType;
  shown: (row: Row, realtime: Realtime, publicUrl: string) => Attributes;
  /** Value of `order_by` → the sort key of the rows. */
  orders: Readonly<Record<Orders, Key<Row>>>;
  /** The order of equal rows, ascending. */
  last: Key<Row>;
}

const namesOf = <Orders extends string>(orders: Readonly<Record<Orders, unknown>>) =>
  Object.keys(orders) as [Orders, ...Orders[]];

/** The schema of an answer with all rows. */
export const allOf = ({ item, schema }: Pick<Kind<never>, 'item' | 'schema'>) =>
  z.object({ ...realtimeShape, [`${item}s`]: z.array(schema) });

/** The schema of an answer with a page of the rows. */
export const pageOf = <Orders extends string>({ item, schema, orders }: Kind<never, Orders>) =>
  z.object({
    ...realtimeShape,
    order_by: z.enum(namesOf(orders)),
    ...pageShape,
    [`${item}s`]: z.array(schema),
  });

/** The parameter that names an order. */
export const orderParam = <Orders extends string>({ orders }: Kind<never, Orders>) =>
  oneOfParam(namesOf(orders));

interface PageQuery<Orders extends string> {
  order_by: Orders;
  sort_order: SortOrder;
  offset: number;
  limit: number;
}

interface Rows<Row> {
  /** Distinguishes the answer from others of the same query. */
  name: string;
  query: Readonly<Record<string, unknown>> & {
    file_type: FileType;
    realtime_start?: string | undefined;
    realtime_end?: string | undefined;
  };
  /** The state of the data shown. */
  state: { version: unknown; changedAt: Date | null };
  rows: readonly Row[];
}

/** An answer with rows. @param page undefined: all rows, in their order. @throws Failure `invalid_parameter`. */
export function rowsReply<Row, Orders extends string>(
  dependencies: Dependencies,
  call: ServiceCall,
  { item, shown, orders, last }: Kind<Row, Orders>,
  { name, query, state, rows }: Rows<Row>,
  page?: PageQuery<Orders>,
): Reply {
  const realtime = realtimeOf(query, dependencies, call);
  return fredReply(query.file_type, {
    identity: [name, query, realtime, state.version],
    lastModified: state.changedAt,
    read: () => ({
      head: {
        ...realtimeFacts(realtime),
        ...(page && {
          order_by: page.order_by,
          sort_order: page.sort_order,
          count: rows.length,
          offset: page.offset,
          limit: page.limit,
        }),
      },
      root: `${item}s`,
      item,
      rows: (page === undefined ? rows : pagedRows(rows, [orders[page.order_by], last], page)).map((row) =>
        shown(row, realtime, dependencies.publicUrl),
      ),
    }),
  });
}

/** A page of rows in an order. @param orders the sort keys, in order; `desc` reverses only the first. */
function pagedRows<Row>(
  rows: readonly Row[],
  orders: readonly Key<Row>[],
  { sort_order, offset, limit }: Omit<PageQuery<string>, 'order_by'>,
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

// Loads commodity prices: each row becomes a row of a long file of observations, in the series `commodity.<item>`. Items and cities are
// looked up here, and created with --create; load-points.ts stores the points.
import type { Transaction } from '../../kernel/database.ts';
import { entryAt, entryOf, memberOf } from '../../kernel/entries.ts';
import { cellReader, type CellReader } from '../cells/cells.ts';
import { datasetCells, failLacking, refuseIdleFactors, type DatasetCell } from '../datasets/columns.ts';
import type { CsvBatch, RefusedCell } from '../read/csv-batch.ts';
import { datasetNamed, notWide } from '../datasets/datasets.ts';
import { usageError } from '../failure.ts';
import type { LoadInput, LoadOptions, LoadResult } from './store/load-options.ts';
import { loadPoints } from './points/load-points.ts';
import { findCities, findItems, insertRows, type NewRow } from './load-prices.sql.ts';
import { UnusedFacts } from './points/unused-facts.ts';
import { cellText, hasCells, isEmpty } from './points/points.ts';

/** The cells of a row by the names of the dataset's columns; null where the cell is empty. */
type Row = Map<string, string | null>;

const prices = datasetNamed('commodity-prices');
const itemFacts = factsOf('commodity-items', ['item_id', 'name', 'active']);
/** The facts without which an item cannot be made. */
const requiredFacts = ['unit', 'currency', 'frequency', 'source'];
const cityFacts = factsOf('commodity-cities', ['city_id', 'name']);
/** Columns that the observations dataset parses by its own rules. */
const pointColumns = ['date', 'price', 'status', 'vintage'];
const defaults: Readonly<Record<string, string>> = { price_type: 'retail', stat: 'avg' };

/** @throws IngestFailure if a row is rejected and `skipInvalid` is not set. */
export async function loadPrices(
  on: Transaction,
  input: LoadInput,
  options: LoadOptions,
): Promise<LoadResult> {
  if (options.wide === true) usageError(notWide(prices));
  const cells = planCells(input.header, options);
  const isNamed = (name: string) => cells.some(({ column }) => column.name === name);
  const create = options.create === true;
  const lacking = requiredFacts.filter((name) => !isNamed(name));
  if (create && lacking.length > 0)
    usageError(
      `--create makes items from columns of the file and from --set, and lacks ${lacking.join(', ')}: ` +
        `add --set ${lacking.map((name) => `${name}=…`).join(' --set ')}, or --map them to columns of the file.`,
    );
  const titleOf = (name: string) => cells.find(({ column }) => column.name === name)?.title ?? name;
  const targets = ['series_id', 'city', 'price_type', 'stat', ...pointColumns.filter(isNamed)];
  const sources: Record<string, string> = { series_id: 'item', value: 'price' };
  // The rows keep the file's own titles, so that messages name its columns.
  const header = targets.map((name) => titleOf(sources[name] ?? name));
  const map = Object.fromEntries(
    targets.map((name, at) => [name === 'price' ? 'value' : name, entryAt(header, at)]),
  );
  return loadPoints(
    on,
    {
      ...input,
      header,
      batches: pointRows(on, cells, input, { reader: cellReader(options), create }),
      batchesAsk: true,
      hasHappened: true,
    },
    {
      ...options,
      map,
      set: {},
      ignore: [],
      create: false,
      multiply: options.multiply?.['price'] === undefined ? {} : { value: options.multiply['price'] },
    },
  );
}

function factsOf(dataset: string, others: readonly string[]): string[] {
  return datasetNamed(dataset)
    .columns.map(({ name }) => name)
    .filter((name) => !others.includes(name));
}

/** @throws IngestFailure if the header lacks a required column, or has an unknown one. */
function planCells(header: readonly string[], options: LoadOptions): DatasetCell[] {
  const cells = datasetCells(prices, header, options);
  for (const { name, required } of prices.columns)
    if (required && !cells.some(({ column }) => column.name === name)) failLacking(name, header);
  refuseIdleFactors(cells, options.multiply);
  // The unit is used without --create too: it must be that of the item.
  const idle = Object.keys(options.set ?? {}).filter(
    (name) => name !== 'unit' && [...itemFacts, ...cityFacts].includes(name),
  );
  if (options.create !== true && idle.length > 0)
    usageError(`--set ${idle.join(', ')} describes new items and cities and needs --create.`);
  return cells;
}

/** Converts the rows to rows of observations. A row that is not valid, or of an unknown item or city, is passed on as refused. */
async function* pointRows(
  on: Transaction,
  cells: readonly DatasetCell[],
  input: LoadInput,
  { reader, create }: { reader: CellReader; create: boolean },
): AsyncGenerator<CsvBatch> {
  const units = new Map((await findItems(on)).map(({ item_id, unit }) => [item_id, unit]));
  const cities = new Set((await findCities(on)).map(({ city_id }) => city_id));
  const used = { item: new Set<string>(), city: new Set<string>() };
  for await (const batch of input.batches) {
    const read = batch.rows.map((texts) => readRow(texts, cells, reader, input.header.length));
    if (create) {
      const rows = read.filter((row) => row instanceof Map);
      for (const row of rows) {
        used.item.add(textIn(row, 'item'));
        used.city.add(textIn(row, 'city'));
      }
      await createItems(on, rows, units);
      await createCities(on, rows, cities);
    }
    const refused = new Map<number, RefusedCell>();
    const points: CsvBatch = { rows: [], lines: [], refused };
    for (const [at, row] of read.entries()) {
      if (row === null) continue;
      const fault = row instanceof Map ? faultOf(row, cells, { units, cities, create }) : row;
      if (fault !== null) refused.set(points.rows.length, fault);
      points.rows.push(row instanceof Map ? pointOf(row, cells) : []);
      points.lines.push(entryAt(batch.lines, at));
    }
    yield points;
  }
  // Items and cities created here already have the constants.
  const items = new UnusedFacts(on, 'commodity-items', constantsOf(cells, itemFacts, reader));
  const places = new UnusedFacts(on, 'commodity-cities', constantsOf(cells, cityFacts, reader));
  await items.compare([...used.item]);
  await places.compare([...used.city]);
  input.notes.push(...items.notes(), ...places.notes());
}

/** The constants of --set among the facts, as the table stores them. */
function constantsOf(
  cells: readonly DatasetCell[],
  facts: readonly string[],
  reader: CellReader,
): Record<string, string | null> {
  const given = cells.filter(({ column, index }) => index === -1 && facts.includes(column.name));
  return Object.fromEntries(
    given.map(({ column, constant }) => [column.name, reader.read(column, constant) ?? null]),
  );
}

/** The row, or why it is not valid; null for an empty one. */
function readRow(
  texts: readonly string[],
  cells: readonly DatasetCell[],
  reader: CellReader,
  width: number,
): Row | RefusedCell | null {
  if (isEmpty(texts)) return null;
  if (!hasCells(texts, width))
    return { title: 'row', text: texts.join(','), expected: `${width} cells, as in the header` };
  const row = new Map<string, string | null>();
  for (const cell of cells) {
    const { column, title } = cell;
    const text = cellText(texts, cell);
    const value = pointColumns.includes(column.name) ? text : reader.read(column, text);
    if (value === undefined || (value === null && column.required))
      return { title, text, expected: reader.expected(column) };
    row.set(column.name, value);
    row.set(`${column.name} as written`, text);
  }
  return row;
}

/** Null if the item and the city exist and the price is in the item's unit. */
function faultOf(
  row: Row,
  cells: readonly DatasetCell[],
  known: { units: ReadonlyMap<string, string>; cities: ReadonlySet<string>; create: boolean },
): RefusedCell | null {
  const refuse = (name: string, expected: string): RefusedCell => ({
    title: cells.find(({ column }) => column.name === name)?.title ?? name,
    text: textIn(row, `${name} as written`),
    expected,
  });
  const unit = known.units.get(textIn(row, 'item'));
  if (unit === undefined)
    return refuse(
      'item',
      known.create
        ? 'an item with unit, currency, frequency and source'
        : 'an item that exists; --create makes new ones',
    );
  if (!known.cities.has(textIn(row, 'city')))
    return refuse('city', 'a city that exists; --create makes new ones');
  const given = row.get('unit') ?? unit;
  return given === unit ? null : refuse('unit', `${unit}, the unit of the item`);
}

/** The text of a required column. */
function textIn(row: Row, name: string): string {
  const text = entryOf(row, name);
  if (text === null) throw new TypeError(`an empty cell in the column ${name}`);
  return text;
}

function pointOf(row: Row, cells: readonly DatasetCell[]): string[] {
  const named = pointColumns.filter((name) => cells.some(({ column }) => column.name === name));
  return [
    `commodity.${textIn(row, 'item')}`,
    textIn(row, 'city'),
    ...['price_type', 'stat'].map((name) => row.get(name) ?? memberOf(defaults, name)),
    ...named.map((name) => textIn(row, name)),
  ];
}

async function createItems(on: Transaction, rows: readonly Row[], units: Map<string, string>): Promise<void> {
  const complete = rows.filter((row) => requiredFacts.every((fact) => (row.get(fact) ?? null) !== null));
  const made = newRows(complete, 'item', itemFacts, units);
  await insertRows(on, 'data.commodity_items', ['item_id', 'name', ...itemFacts], made);
  for (const { item_id: id, unit } of made) units.set(String(id), String(unit));
}

async function createCities(on: Transaction, rows: readonly Row[], cities: Set<string>): Promise<void> {
  const made = newRows(rows, 'city', cityFacts, cities);
  await insertRows(on, 'data.commodity_cities', ['city_id', 'name', ...cityFacts], made);
  for (const { city_id: id } of made) cities.add(String(id));
}

/** The first row of each unknown id, as the table stores it; the name is the file's text. */
function newRows(
  rows: readonly Row[],
  name: 'item' | 'city',
  facts: readonly string[],
  known: { has(id: string): boolean },
): NewRow[] {
  const made = new Map<string, NewRow>();
  for (const row of rows) {
    const id = textIn(row, name);
    if (known.has(id) || made.has(id)) continue;
    const given = Object.fromEntries(facts.map((fact) => [fact, row.get(fact) ?? null]));
    made.set(id, { ...given, [`${name}_id`]: id, name: textIn(row, `${name} as written`) });
  }
  return [...made.values()];
}

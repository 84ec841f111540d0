// The effect of each flag of `almanac ingest` and each key of an entry of almanac.yml: with it and without it.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { utils, write as writeWorkbook } from '@e965/xlsx';

type Stored = Record<string, string | null>;
export interface Change {
  /** `<id>` represents a series of this run alone, here and in the words. */
  file: string | Buffer;
  /** Loaded before the file, as of the first of January. */
  before?: string;
  /** The other arguments, besides the dataset, the file and the flag; by default, those that create a daily series. */
  words?: readonly string[];
  /** The same as keys. */
  keys?: object;
  flag: readonly string[];
  /** The same as a key. */
  key: object;
  /** The name that the file has to have. */
  name?: string;
  /** The points of <id>, or of `series`, with the flag. */
  stores: Stored;
  series?: string;
  /** The vintage that is looked at; the newest unless given. */
  at?: string;
  /** The points without the flag, or the message if nothing is stored. */
  otherwise: Stored | RegExp;
}

export const made = ['--create', '--set', 'frequency=daily,unit=One,source=Tests'];
/** The same as keys. */
export const makes = { create: true, set: { frequency: 'daily', unit: 'One', source: 'Tests' } };

const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
let files = 0;

/** Writes a file into a folder of the test's own. @returns its path. */
export function write(content: string | Buffer, name = `${++files}.csv`): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

const fields = ['series_id', 'date', 'value'].map((name) => ({ name }));
const resources = ['resource.without', 'resource.with'].map((name) => ({
  name,
  path: path.basename(write(`series_id,date,value\n${name},2024-01-01,1`, `${name}.csv`)),
  schema: { fields },
}));
const dataPackage = write(JSON.stringify({ name: 'p', resources }), 'datapackage.json');

const sheets = utils.book_new();
utils.book_append_sheet(sheets, utils.aoa_to_sheet([['About']]), 'About');
const rows = [
  ['Key', 'date', 'value'],
  ['SHEET', '2024-01-01', 1],
];
utils.book_append_sheet(sheets, utils.aoa_to_sheet(rows), 'Points');
const workbook = writeWorkbook(sheets, { type: 'buffer', bookType: 'xlsx' }) as Buffer;

/** By the name of the flag. */
export const changes: Readonly<Record<string, Change>> = {
  map: {
    file: 'Series,date,Price\n<id>,2024-01-01,1',
    flag: ['--map', 'value=Price,series_id=Series'],
    key: { map: { value: 'Price', series_id: 'Series' } },
    stores: { '2024-01-01': '1' },
    otherwise: /no column series_id/,
  },
  set: {
    file: 'date,value\n2024-01-01,1',
    flag: ['--set', 'series_id=<id>,side=buy, to keep'],
    key: { set: { series_id: '<id>', side: 'buy, to keep' } },
    stores: { '2024-01-01 buy, to keep': '1' },
    otherwise: /no column series_id/,
  },
  ignore: {
    file: 'series_id,date,value,note,more\n<id>,2024-01-01,1,a,b',
    flag: ['--ignore', 'note,more'],
    key: { ignore: ['note', 'more'] },
    stores: { '2024-01-01': '1' },
    otherwise: { '2024-01-01 b a': '1' },
  },
  create: {
    file: 'series_id,date,value,frequency,unit,source\n<id>,2024-01-01,1,daily,One,Tests',
    words: [],
    keys: {},
    flag: ['--create'],
    key: { create: true },
    stores: { '2024-01-01': '1' },
    otherwise: /line 2, series_id: "create.without"/,
  },
  wide: {
    file: 'date,<id>\n2024-01-01,1',
    flag: ['--wide'],
    key: { wide: true },
    stores: { '2024-01-01': '1' },
    otherwise: /would be a dimension/,
  },
  full: {
    before: 'series_id,date,value\n<id>,2024-01-01,1\n<id>,2024-01-02,2',
    file: 'series_id,date,value\n<id>,2024-01-01,1',
    flag: ['--full'],
    key: { full: true },
    stores: { '2024-01-01': '1' },
    otherwise: { '2024-01-01': '1', '2024-01-02': '2' },
  },
  'skip-invalid': {
    file: 'series_id,date,value\n<id>,2024-01-01,1\n<id>,2024-01-02,x',
    flag: ['--skip-invalid'],
    key: { skip_invalid: true },
    stores: { '2024-01-01': '1' },
    otherwise: /line 3, value: "x"/,
  },
  'skip-rows': {
    file: 'series_id,date,value\nunit,of,each\nand,its,source\n<id>,2024-01-01,1',
    flag: ['--skip-rows', '2'],
    key: { skip_rows: 2 },
    stores: { '2024-01-01': '1' },
    otherwise: /line 2/,
  },
  'skip-where': {
    file: 'series_id,date,value\n<id>,2024-01-01,1\n<id>,2024-01-02,"n/k, see below"',
    flag: ['--skip-where', 'value=n/k, see below'],
    key: { leave_out: { value: ['n/k, see below'] } },
    stores: { '2024-01-01': '1' },
    otherwise: /line 3/,
  },
  'map-value': {
    file: 'series_id,date,value\n<id>,2024-01-01,one',
    flag: ['--map-value', 'value=one=1'],
    key: { map_value: { value: { one: '1' } } },
    stores: { '2024-01-01': '1' },
    otherwise: /line 2, value: "one"/,
  },
  'date-format': {
    file: 'series_id,date,value\n<id>,03/02/2024,1',
    flag: ['--date-format', 'DD/MM/YYYY'],
    key: { date: { format: 'DD/MM/YYYY' } },
    stores: { '2024-02-03': '1' },
    otherwise: /line 2, date: "03\/02\/2024"/,
  },
  missing: {
    file: 'series_id,date,value\n<id>,2024-01-01,n/a\n<id>,2024-01-02,..',
    flag: ['--missing', 'n/a', '--missing', '..'],
    key: { missing: ['n/a', '..'] },
    stores: { '2024-01-01': null, '2024-01-02': null },
    otherwise: /line 2, value: "n\/a"/,
  },
  decimal: {
    file: 'series_id,date,value\n<id>,2024-01-01,"1,5"',
    flag: ['--decimal', ','],
    key: { decimal: ',' },
    stores: { '2024-01-01': '1.5' },
    otherwise: /line 2, value: "1,5"/,
  },
  multiply: {
    file: 'series_id,date,value\n<id>,2024-01-01,1.5',
    flag: ['--multiply', 'value=1000'],
    key: { multiply: { value: 1000 } },
    stores: { '2024-01-01': '1500' },
    otherwise: { '2024-01-01': '1.5' },
  },
  thousands: {
    file: "series_id,date,value\n<id>,2024-01-01,1'234.5",
    flag: ['--thousands', "'"],
    key: { thousands: "'" },
    stores: { '2024-01-01': '1234.5' },
    otherwise: /line 2, value: "1'234.5"/,
  },
  prefix: {
    file: 'date,X\n2024-01-01,1',
    words: [...made, '--wide'],
    keys: { ...makes, wide: true },
    flag: ['--prefix', '<id>.'],
    key: { prefix: '<id>.' },
    series: '<id>.X',
    stores: { '2024-01-01': '1' },
    otherwise: {},
  },
  resource: {
    file: dataPackage,
    flag: ['--resource', 'resource.with'],
    key: { resource: 'resource.with' },
    stores: { '2024-01-01': '1' },
    otherwise: /choose one with --resource/,
  },
  delimiter: {
    file: 'series_id,date,value,Side; of\n<id>,2024-01-01,1,a; b',
    words: [...made, '--map', 'side=Side; of'],
    keys: { ...makes, map: { side: 'Side; of' } },
    flag: ['--delimiter', ','],
    key: { delimiter: ',' },
    stores: { '2024-01-01 a; b': '1' },
    otherwise: /no column "Side; of"/,
  },
  encoding: {
    file: 'series_id,date,value,side\n<id>,2024-01-01,1,é',
    flag: ['--encoding', 'windows-1252'],
    key: { encoding: 'windows-1252' },
    stores: { '2024-01-01 Ã©': '1' },
    otherwise: { '2024-01-01 é': '1' },
  },
  'header-line': {
    file: 'A title\n\nseries_id,date,value\n<id>,2024-01-01,1',
    flag: ['--header-line', '3'],
    key: { header: 3 },
    stores: { '2024-01-01': '1' },
    otherwise: /would be a dimension/,
  },
  vintage: {
    file: 'series_id,date,value\n<id>,2024-01-01,1',
    flag: ['--vintage', '2024-02-01'],
    key: { vintage: '2024-02-01' },
    at: '2024-02-01',
    stores: { '2024-01-01': '1' },
    otherwise: {},
  },
  sheet: {
    file: workbook,
    name: 'points.xlsx',
    words: [...made, '--map', 'series_id=Key'],
    keys: { ...makes, map: { series_id: 'Key' } },
    flag: ['--sheet', 'Points'],
    key: { sheet: 'Points' },
    series: 'SHEET',
    stores: { '2024-01-01': '1' },
    otherwise: /no column "Key"/,
  },
};

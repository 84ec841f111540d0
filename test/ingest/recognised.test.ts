// Every example of docs/recognised.md, in a file that almanac publish loads: the stored data must be what the page states.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { utils, write, type BookType } from '@e965/xlsx';
import test from 'ava';
import { parse } from 'yaml';
import { otherFormats } from '../../ingest/read/file-kind.ts';
import { languages } from '../../ingest/cells/dates/month-names.ts';
import { projectRoot } from '../../kernel/project.ts';
import { encodedExample } from '../../openapi/recognised.ts';
import { commandLine, settingsOf } from '../cli/terminal.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { openDatabase } from '../../kernel/database.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await testDatabase.drop();
});
const almanac = commandLine(settingsOf(testDatabase.url));
const page = readFileSync(path.join(projectRoot, 'docs/recognised.md'), 'utf8');

/** The text of the page between the comments of a table. */
function partOf(name: string): string {
  const text = page.split(`<!-- recognised: ${name} -->\n`)[1]?.split('\n<!-- end -->')[0];
  if (text === undefined) throw new Error(`The page has no ${name}.`);
  return text;
}

/** The cells of the rows of a table of the page. */
function rowsOf(name: string): string[][] {
  const lines = partOf(name).split('\n').filter((line) => line.startsWith('|')); // prettier-ignore
  return lines.slice(2).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll(String.raw`\|`, '|')),
  );
}

/** The texts of a cell that are formatted as code. */
const textsIn = (cell = ''): string[] =>
  [...cell.matchAll(/`` (.+?) ``|`([^`]+)`/g)].map(([, long, short]) => long ?? short ?? '');

interface Stored {
  frequency: string;
  unit_multiplier: string | null;
  points: { date: string; value: string | null; status: string | null; dims: string }[];
}

/** The file name of an example, without digits, which would make files share an entry. */
const nameOf = (kind: string, at: number): string =>
  `${kind}-${at.toString(26).replaceAll(/./g, (digit) => String.fromCharCode(97 + parseInt(digit, 26)))}`;

/** Publishes the files of a folder, and fails the test if one is not loaded. @returns the stored data, by file name. */
async function published(
  files: ReadonlyMap<string, string | Buffer>,
  flags: readonly string[] = [],
): Promise<{
  stored: Map<string, Stored>;
  formats: Map<string, string | undefined>;
  stderr: string;
  printed: string;
}> {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), 'examples');
  mkdirSync(folder);
  for (const [name, content] of files)
    writeFileSync(path.join(folder, /\./.test(name) ? name : `${name}.csv`), content);
  const ran = await almanac([
    'publish',
    folder,
    '--yes',
    '--set',
    'source=Tests',
    '--set',
    'unit=Index',
    ...flags,
  ]);
  const rows = await database.query<Stored & { id: string }>(
    `select s.series_id as id, s.frequency, s.unit_multiplier::text as unit_multiplier,
       json_agg(json_build_object('date', o.date, 'value', o.value::text, 'status', coalesce(o.status, ''), 'dims', d.dims::text) order by o.date) as points
     from data.observations o join data.series_dims d using (line_no) join data.series s using (series_no) group by s.series_no`,
  );
  const { tables } = parse(readFileSync(path.join(folder, 'almanac.yml'), 'utf8')) as {
    tables: { file: string; date?: { format?: string } }[];
  };
  return {
    stored: new Map(rows.map(({ id, ...row }) => [id, row])),
    formats: new Map(tables.map(({ file, date }) => [file.replace(/\..*$/, ''), date?.format])),
    stderr: ran.stderr.slice(-2_000),
    printed: ran.stderr,
  };
}

test.serial('each date text is loaded as the day stated on the page', async (t) => {
  const examples = rowsOf('dates').flatMap(([texts, , date = '']) =>
    textsIn(texts).map((text) => ({ text, date })),
  );
  const isFiscal = ({ date }: { date: string }) => date.startsWith('the end of');
  t.true(examples.length > 60);
  for (const [kind, flags] of [
    ['date', ['--set', 'frequency=irregular']],
    ['fiscal', ['--set', 'fiscal_year_end=06-30']],
  ] as const) {
    const group = examples.filter((example) => isFiscal(example) === (kind === 'fiscal'));
    const { stored, stderr } = await published(
      new Map(group.map(({ text }, at) => [nameOf(kind, at), `Date\tRate\n${text}\t7.5\n`])),
      flags,
    );
    t.deepEqual(
      group.map(({ text }, at) => [text, stored.get(nameOf(kind, at))?.points[0]?.date]),
      group.map(({ text, date }) => [text, date.replace(/^the end of .* (\d{4})$/, '$1-06-30')]),
      stderr,
    );
  }
});

test.serial('each named format reads its text as the day stated on the page', async (t) => {
  const rows = rowsOf('date formats').map(([format, text, , date = '']) => ({
    format: textsIn(format)[0] ?? '',
    text: textsIn(text)[0] ?? '',
    date: date.replace(/^the end of .* (\d{4})$/, '$1-06-30'),
    isFiscal: date.startsWith('the end of'),
  }));
  t.true(rows.length > 20);
  const facts = { name: 'Rate', unit: 'Index', source: 'Tests' };
  const tables = rows.map(({ format, isFiscal }, at) => ({
    ...{
      file: `${nameOf('format', at)}.csv`,
      header: 1,
      first: 2,
      date: { column: 'Date', format },
      values: 'Rate',
    },
    series: {
      ...{ id: nameOf('format', at), ...facts, frequency: isFiscal ? 'annual' : 'irregular' },
      ...(isFiscal && { fiscal_year_end: '06-30' }),
    },
  }));
  const { stored, stderr } = await published(
    new Map([
      ...rows.map(({ text }, at) => [nameOf('format', at), `Date\tRate\n${text}\t7.5\n`] as const),
      ['almanac.yml', JSON.stringify({ version: 1, name: 'formats', tables })],
    ]),
  );
  t.deepEqual(
    rows.map(({ format }, at) => [format, stored.get(nameOf('format', at))?.points[0]?.date]),
    rows.map(({ format, date }) => [format, date]),
    stderr,
  );
});

test.serial('each purely numeric column is detected in the form stated on the page', async (t) => {
  const rows = rowsOf('date columns').map(([title = '', texts, format = '']) => ({
    ...{ title, texts: textsIn(texts), format: textsIn(format)[0] },
  }));
  t.true(rows.length > 10);
  const files = rows.map(
    ({ title, texts }, at) =>
      [
        nameOf('column', at),
        `${title}\tRate\n${texts.map((text, row) => `${text}\t${row}.5\n`).join('')}`,
      ] as const,
  );
  const { formats, stderr } = await published(new Map(files), ['--set', 'fiscal_year_end=06-30']);
  t.deepEqual(
    rows.map(({ texts }, at) => [texts.join(), formats.get(nameOf('column', at))]),
    rows.map(({ texts, format }) => [texts.join(), format]),
    stderr,
  );
});

test.serial('each mark after a date becomes the status stated on the page', async (t) => {
  const rows = rowsOf('date marks').map(([text, , date, status = '']) => ({
    ...{ text: textsIn(text)[0] ?? '', date, status: textsIn(status)[0] ?? '' },
  }));
  t.true(rows.length > 10);
  const { stored, stderr } = await published(
    new Map(rows.map(({ text }, at) => [nameOf('marked', at), `Date\tRate\n${text}\t7.5\n`])),
  );
  t.deepEqual(
    rows.map(({ text }, at) => {
      const point = stored.get(nameOf('marked', at))?.points[0];
      return [text, point?.date, point?.status];
    }),
    rows.map(({ text, date, status }) => [text, date, status]),
    stderr,
  );
});

test.serial('month names are read in each language on the page', async (t) => {
  t.is(partOf('languages').split(/,\s/).length, languages.length);
  const months = Array.from({ length: 12 }, (_, at) => new Date(Date.UTC(2023, at, 15)));
  const { stored, stderr } = await published(
    new Map(
      languages.map((language, at) => {
        const form = new Intl.DateTimeFormat(`${language}-u-ca-gregory`, { month: 'long', timeZone: 'UTC' });
        const rows = months.map((month, row) => `${form.format(month)} 2023\t${row}.5\n`);
        return [nameOf('language', at), `Period\tRate\n${rows.join('')}`];
      }),
    ),
  );
  const ends = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].map((day, at) => `2023-${String(at + 1).padStart(2, '0')}-${day}`); // prettier-ignore
  for (const [at, language] of languages.entries())
    t.deepEqual(stored.get(nameOf('language', at))?.points.map(({ date }) => date), ends, `${language}\n${stderr}`); // prettier-ignore
});

test.serial('the frequency of each series is detected as stated on the page', async (t) => {
  const rows = rowsOf('frequencies').map(([texts, frequency]) => ({
    ...{ texts: textsIn(texts), frequency: textsIn(frequency)[0] },
  }));
  t.true(rows.length > 10);
  const { stored, stderr } = await published(
    new Map(
      rows.map(({ texts }, at) => [
        nameOf('frequency', at),
        `Date\tRate\n${texts.map((text, row) => `${text}\t${row}.5\n`).join('')}`,
      ]),
    ),
  );
  t.deepEqual(
    rows.map(({ texts }, at) => [texts.join(), stored.get(nameOf('frequency', at))?.frequency]),
    rows.map(({ texts, frequency }) => [texts.join(), frequency]),
    stderr,
  );
});

/** A text among plain numbers. */
const among = (text: string): string => `Month\tRate\n2024-01\t7\n2024-02\t8\n2024-03\t${text}\n2024-04\t9\n`;

test.serial(
  'each text of a number, each mark, currency and multiple is the value and the status that the page states',
  async (t) => {
    const numbers = rowsOf('numbers').map(([, text, value, status]) => ({
      ...{ text: textsIn(text)[0] ?? '', value: textsIn(value)[0] ?? null, status: textsIn(status)[0] ?? '' },
    }));
    const marks = rowsOf('marks').flatMap(([texts, meaning = '']) =>
      textsIn(texts).map((text) => ({
        ...{ text, value: null },
        status: meaning.endsWith('as the status')
          ? text.replaceAll(/[()[\]{}]/g, '')
          : (textsIn(meaning)[0] ?? ''),
      })),
    );
    const currencies = textsIn(partOf('currencies')).map((sign) => ({
      text: `1.5 ${sign}`,
      value: '1.5',
      status: '',
    }));
    const multiples = rowsOf('multiples').flatMap(([signs, factor = '']) =>
      textsIn(signs).map((sign) => ({
        ...{ text: `1.5 ${sign}`, value: String(1.5 * Number(factor.replaceAll(/\D/g, ''))), status: '' },
      })),
    );
    for (const group of [numbers, marks, currencies, multiples]) t.true(group.length > 15);
    const examples = [...numbers, ...marks, ...currencies, ...multiples];
    const { stored, stderr } = await published(
      new Map(examples.map(({ text }, at) => [nameOf('number', at), among(text)])),
    );
    const numberOf = (value: string | null | undefined) =>
      typeof value === 'string' ? Number(value) : value;
    t.deepEqual(
      examples.map(({ text }, at) => {
        const point = stored.get(nameOf('number', at))?.points.find(({ date }) => date === '2024-03-31');
        return [text, numberOf(point?.value), point?.status];
      }),
      examples.map(({ text, value, status }) => [text, numberOf(value), status]),
      stderr,
    );
  },
);

test.serial('each line, title and word of a scale is the unit multiplier that the page states', async (t) => {
  const lines = rowsOf('scales').map(([text, exponent]) => ({
    ...{ content: `${textsIn(text)[0] ?? ''}\n\n${among('9')}`, exponent: textsIn(exponent)[0] ?? '' },
  }));
  const words = rowsOf('scale words').flatMap(([texts, exponent = '']) =>
    textsIn(texts).map((word) => ({
      content: `Month\tScale\tRate\n2024-01\t${word}\t7\n2024-02\t${word}\t8\n2024-03\t${word}\t9\n`,
      exponent,
    })),
  );
  t.true(lines.length > 5 && words.length > 30);
  const examples = [...lines, ...words];
  const { stored, stderr } = await published(
    new Map(examples.map(({ content }, at) => [nameOf('scale', at), content])),
  );
  t.deepEqual(
    examples.map(({ content }, at) => [content, stored.get(nameOf('scale', at))?.unit_multiplier]),
    examples.map(({ content, exponent }) => [content, exponent]),
    stderr,
  );
});

test.serial('the words of each encoding are read as written on the page', async (t) => {
  const rows = rowsOf('encodings')
    .filter(([, , , asked = '']) => !asked.includes('first reading'))
    .map(([name, , words = '']) => ({ name: textsIn(name)[0] ?? '', words }));
  t.true(rows.length > 20);
  const { stored, stderr } = await published(
    new Map(rows.map(({ name, words }, at) => [nameOf('encoding', at), encodedExample(name, words)])),
  );
  for (const [at, { name, words }] of rows.entries()) {
    const points = stored.get(nameOf('encoding', at))?.points ?? [];
    const regions = new Set(points.map(({ dims }) => Object.values(JSON.parse(dims) as object)[0] as string));
    t.deepEqual([...regions].toSorted(), words.split(' ').toSorted(), `${name}\n${stderr}`);
  }
});

test.serial(
  'a file of each ending and each delimiter of the page is read, and each format that it refuses is refused as it says',
  async (t) => {
    const endings = textsIn(partOf('endings'));
    const rows = [['Month', 'Rate'], ['2024-01', 7], ['2024-02', 8]]; // prettier-ignore
    const contentOf = (ending: string): string | Buffer => {
      const text = rows.map((row) => row.join('\t')).join('\n');
      if (ending.endsWith('.gz')) return gzipSync(text);
      if (['.csv', '.tsv', '.txt'].includes(ending)) return text;
      const workbook = { SheetNames: ['Sheet1'], Sheets: { Sheet1: utils.aoa_to_sheet(rows) } };
      return write(workbook, { type: 'buffer', bookType: ending.slice(1) as BookType }) as Buffer;
    };
    const delimiters = partOf('delimiters').split(', ').map((each) => textsIn(each)[0] ?? '\t'); // prettier-ignore
    const refused = rowsOf('refused files').slice(0, otherFormats.length);
    const files: [name: string, content: string | Buffer][] = [
    ...endings.map((ending, at): [string, string | Buffer] => [`${nameOf('ending', at)}${ending}`, contentOf(ending)]),
    ...delimiters.map((sign, at): [string, string] => [nameOf('delimiter', at), rows.map((row) => row.join(sign)).join('\n')]),
    ...otherFormats.map(({ example }, at): [string, string] => [nameOf('refused', at), example]),
  ]; // prettier-ignore
    const { stored, stderr, printed } = await published(new Map(files));
    t.true(endings.length === 10 && delimiters.length === 4 && refused.length === otherFormats.length);
    for (const at of endings.keys()) t.is(stored.get(nameOf('ending', at))?.points.length, 2, `${endings[at] ?? ''}\n${stderr}`); // prettier-ignore
    for (const at of delimiters.keys()) t.is(stored.get(nameOf('delimiter', at))?.points.length, 2, stderr);
    for (const [name = '', advice = ''] of refused)
      t.true(printed.includes(`The file is ${name}, which is not read: ${advice}.`), `${name}\n${stderr}`);
  },
);

// /v1/operator/uploads/{id}/check and /publication: the changes that a table would make, its publication now or under embargo, all or nothing.
import test from 'ava';
import { utils, write } from '@e965/xlsx';
import { lockLoads } from '../../../ingest/load/lock/load-lock.sql.ts';
import { withFile } from '../../../ingest/publisher/uploads/spool.ts';
import { codeOf, type Answer } from '../../auth/people.ts';
import { until } from '../../run/until.ts';
import { startServices } from '../../services/services.ts';
import { dataOf, messageOf, newOperator, type Operating } from './operating.ts';

interface Upload {
  id: string;
  published: number[];
  tables: {
    table: number;
    sheet: string | null;
    guesses: { path: string }[];
    sure: { path: string; evidence: string }[];
    entry: string;
  }[];
}
interface Published {
  load: number | null;
  release: number | null;
  series_ids: string[];
}

const services = await startServices({ publisher: true });
let operator: Operating;
let key = '';
test.before(async () => {
  operator = await newOperator(services);
  ({ key } = await services.accountWithKey('enterprise'));
});
test.after.always(() => services.close());

const set = { unit: 'Index', source: 'Tests', frequency: 'monthly' };
const newUpload = async (name: string, content: string | Buffer) => {
  const answer = await operator.upload(name, content);
  if (answer.status !== 201) throw new Error(answer.text);
  return dataOf<Upload>(answer);
};
const check = (id: string, body: object) => operator.post(`/uploads/${id}/check`, body);
const publish = (id: string, body: object) => operator.post(`/uploads/${id}/publication`, body);
const loads = async () => dataOf<{ load: number; by: string }[]>(await operator.get('/loads?limit=1000'));

/** The points of a series as served: date → value; null: the series does not exist. */
async function served(id: string): Promise<Record<string, number> | null> {
  const { status, json } = await services.call(`/v1/series/${id}`, { key });
  if (status === 404) return null;
  return Object.fromEntries(
    (json as { data: { date: string; value: number }[] }).data.map(({ date, value }) => [date, value]),
  );
}
const idOf = (answer: Answer): string => dataOf<Published>(answer).series_ids[0] ?? '';

const rows = (...values: string[]) =>
  `date,value\n${values.map((value, at) => `2024-0${at + 1}-15,${value}\n`).join('')}`;

const daily = `date,value\n${Array.from({ length: 28 }, (_, day) => `2024-01-${String(day + 1).padStart(2, '0')},${day + 1}\n`).join('')}`;

test.serial(
  'a check leaves no trace; after its publication a table is served, and the upload is deleted',
  async (t) => {
    const { id } = await newUpload('first.csv', rows('1.5', '2'));
    const before = await loads();
    const checked = await check(id, { table: 0, set });
    t.is(checked.status, 200, checked.text);
    const report = dataOf<{ series: { id: string }[] }>(checked);
    t.like(report, {
      ...{ publishable: true, rows_read: 2, rows_rejected: 0, points_new: 2, points_revised: 0 },
      ...{ points_unchanged: 0, points_deleted: 0, rejects: [], largest_changes: [] },
      ...{ series_count: 1, series_changed: 1 },
      command:
        'almanac publish first.csv --dry-run --set unit=Index --set source=Tests --set frequency=monthly',
    });
    t.like(report.series, [{ is_new: true, points_new: 2, points_revised: 0, points_deleted: 0 }]);
    t.is(await served(report.series[0]?.id ?? ''), null);
    t.deepEqual(await loads(), before);
    const answer = await publish(id, { table: 0, set });
    t.is(answer.status, 201, answer.text);
    const published = dataOf<Published>(answer);
    const [newest, ...others] = await loads();
    t.deepEqual(others, before);
    t.like(published, { load: newest?.load, release: null, points_new: 2, series_count: 1 });
    t.is(newest?.load, (before[0]?.load ?? 0) + 1); // the check has used no load number
    t.regex(newest?.by ?? '', new RegExp(` by almanac operators for ${operator.accountId}$`));
    t.deepEqual(
      published.series_ids,
      report.series.map(({ id: series }) => series),
    );
    t.deepEqual(await served(idOf(answer)), { '2024-01-31': 1.5, '2024-02-29': 2 });
    t.is(codeOf(await operator.get(`/uploads/${id}`)), 'not_found');
  },
);

test.serial(
  'a publication of an upload that is gone by its turn is a conflict, and no fault of its file',
  async (t) => {
    const { id } = await newUpload('gone.csv', rows('1', '2'));
    const upload = { id, name: 'gone.csv', publication: 'uploads', sha256: '', today: '2026-11-20' };
    t.is(await withFile(services.database, upload, () => Promise.resolve('read')), 'read');
    t.is((await operator.delete(`/uploads/${id}`)).status, 204);
    await t.throwsAsync(
      withFile(services.database, upload, () => Promise.resolve('read')),
      { message: 'The upload was published or deleted meanwhile; nothing was published by this call.' },
    );
  },
);

test.serial(
  'a later file of the same name is read like the previous one, and its largest revisions are reported',
  async (t) => {
    const { id: first } = await newUpload('again.csv', rows('100', '10', '0', '5'));
    const before = await publish(first, { table: 0, set });
    const series = idOf(before);
    const { id, tables } = await newUpload('again.csv', rows('101', '20', '3', '5', '7'));
    t.deepEqual(tables[0]?.guesses, []);
    t.regex(tables[0]?.sure.find(({ path }) => path === 'series.unit')?.evidence ?? '', /published before/);
    const report = dataOf<{ largest_changes: object[] }>(await check(id, { table: 0 }));
    t.like(report, { points_new: 1, points_revised: 3, points_unchanged: 1, series_changed: 1 });
    t.deepEqual(report.largest_changes, [
      { series, dims: {}, date: '2024-02-29', before: 10, after: 20, percent: 100 },
      { series, dims: {}, date: '2024-01-31', before: 100, after: 101, percent: 1 },
      { series, dims: {}, date: '2024-03-31', before: 0, after: 3, percent: null },
    ]);
    t.is((await publish(id, { table: 0, set: { unit: 'Percent' } })).status, 201);
    const { json } = await services.call(`/v1/series/${series}`, { key });
    t.is((json as { meta: { unit: string } }).meta.unit, 'Percent');
    t.like(await served(series), { '2024-02-29': 20, '2024-05-31': 7 });
  },
);

test.serial(
  'facts of single columns and a title can be given by `set`, and become those of the series',
  async (t) => {
    const columns = `date,Level,Index\n2024-01-15,1,100\n2024-02-15,2,101\n2024-03-15,3,102\n`;
    const upload = dataOf<WithChoices>(await operator.upload('two-columns.csv', columns));
    t.deepEqual(
      upload.tables[0]?.choices.filter(({ options }) => options.length === 0).map(({ text }) => text),
      ['columns.Level.unit', 'columns.Index.unit', 'series.source'],
    );
    const facts = { 'columns.Level.unit': 'USD', 'columns.Index.unit': '2020 = 100' };
    const given = { ...facts, source: 'Tests', name: 'National accounts', frequency: 'monthly' };
    const unknown = await check(upload.id, { table: 0, set: { 'columns.Price.unit': 'USD' } });
    t.is(codeOf(unknown), 'invalid_body');
    t.regex(messageOf(unknown), /Price/);
    const report = dataOf<{ command: string }>(await check(upload.id, { table: 0, set: given }));
    t.regex(report.command, /--set source=Tests --set 'name=National accounts' --set frequency=monthly$/);
    const answer = await publish(upload.id, { table: 0, set: given });
    t.is(answer.status, 201, answer.text);
    const metas = await Promise.all(
      dataOf<Published>(answer).series_ids.map(
        async (id) => (await services.call(`/v1/series/${id}`, { key })).json as { meta: object },
      ),
    );
    t.like(metas[0]?.meta, { name: 'National accounts, Level', unit: 'USD', source: 'Tests' });
    t.like(metas[1]?.meta, { name: 'National accounts, Index', unit: '2020 = 100', source: 'Tests' });
  },
);

test.serial(
  'rows that are invalid are reported by the check, and they prevent the whole publication',
  async (t) => {
    const { id } = await newUpload('faulty.csv', daily.replace(',3\n', ',x3x\n'));
    const before = await loads();
    const { tables } = dataOf<Upload>(await operator.get(`/uploads/${id}`));
    const entry = tables[0]?.entry ?? '';
    const checked = await check(id, { table: 0, set: { ...set, frequency: 'daily' }, entry });
    t.is(checked.status, 200, checked.text);
    const report = dataOf<{ rejects: object[] }>(checked);
    t.like(report, { publishable: false, rows_rejected: 1, points_new: 0, series: [] });
    t.like(report.rejects, [{ line: 4 }]);
    for (const body of [{}, { release_at: '2099-01-01T00:00:00Z' }]) {
      const refused = await publish(id, { table: 0, set: { ...set, frequency: 'daily' }, entry, ...body });
      t.is(codeOf(refused), 'invalid_body');
      t.regex(messageOf(refused), /1 row is not valid; nothing was stored\.\n {2}line 4, /);
    }
    t.deepEqual(await loads(), before);
    t.is((await operator.get(`/uploads/${id}`)).status, 200);
    t.deepEqual(dataOf(await operator.get('/releases')), []);
  },
);

test.serial('a workbook stays until all its tables are published', async (t) => {
  const book = utils.book_new();
  for (const name of ['One', 'Two'])
    utils.book_append_sheet(
      book,
      utils.aoa_to_sheet([
        ['date', name],
        ['2024-01-31', 1],
        ['2024-02-29', 2],
      ]),
      name,
    );
  utils.book_append_sheet(book, utils.aoa_to_sheet([['Notes'], ['of the source']]), 'Notes');
  const { id } = await newUpload('book.xlsx', write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer);
  const second = await publish(id, { table: 1, set });
  t.is(second.status, 201, second.text);
  t.deepEqual(dataOf<Upload>(await operator.get(`/uploads/${id}`)).published, [1]);
  t.is((await publish(id, { table: 1, set })).status, 201);
  t.is((await publish(id, { table: 0, set })).status, 201);
  t.is(codeOf(await publish(id, { table: 0, set })), 'not_found');
});

test.serial(
  'under embargo a table is invisible until its instant, and is then the same as published at once',
  async (t) => {
    const { id } = await newUpload('secret, "quoted".csv', rows('1.50', '2').replaceAll('2024', '2023'));
    const before = await loads();
    const answer = await publish(id, { table: 0, set, release_at: '2099-01-01T00:00:00+05:00' });
    t.is(answer.status, 201, answer.text);
    const { release, load } = dataOf<Published>(answer);
    t.is(load, null);
    t.like(dataOf(answer), { points_new: 2, command: null, series_count: 1 });
    t.is(await served(idOf(answer)), null);
    t.deepEqual(await loads(), before);
    t.is(codeOf(await operator.get(`/uploads/${id}`)), 'not_found');
    const one = dataOf<{ history: { actor: string }[] }>(await operator.get(`/releases/${release}`));
    t.like(one, {
      state: 'pending',
      release_at: '2098-12-31T19:00:00Z',
      source_name: 'secret, "quoted".csv',
    });
    t.regex(one.history[0]?.actor ?? '', new RegExp(` for ${operator.accountId}$`));
    await operator.post(`/releases/${release}/publication`);
    await until(
      'it is released',
      async () => dataOf<{ state: string }>(await operator.get(`/releases/${release}`)).state === 'released',
    );
    await until('it is served', async () => (await served(idOf(answer))) !== null);
    t.deepEqual(await served(idOf(answer)), { '2023-01-31': 1.5, '2023-02-28': 2 });
  },
);

test.serial(
  'invalid embargoes are refused: an instant in the past, an invalid instant, facts that would change',
  async (t) => {
    const { id: first } = await newUpload('facts.csv', rows('1', '2'));
    t.is((await publish(first, { table: 0, set })).status, 201);
    const { id } = await newUpload('facts.csv', rows('1', '2', '3'));
    await services.database.query(
      `insert into data.releases (release_id, title, source, release_at, time_zone, time_confirmed)
       values ('past-entry', 'Past', 'Tests', '2020-01-01T09:00:00Z', 'UTC', true)`,
    );
    for (const [body, param, why] of [
      [
        { release_at: '2020-01-01T00:00:00Z' },
        'release_at',
        /^"release_at": 2020-01-01T00:00:00\.000Z is past \(it is /,
      ],
      [
        { release_at: 'tomorrow' },
        'release_at',
        /^"release_at" must be an instant with its offset, such as /,
      ],
      [{ release_at: '2099-02-30T00:00:00Z' }, 'release_at', /^"release_at" must be an instant/],
      [{ release_with: 'a\u0000b' }, 'release_with', /^"release_with" must have no control characters/],
      [
        { release_with: 'no-such-entry' },
        'release_with',
        /^"release_with" must be the release_id of a calendar entry .*; "no-such-entry": the calendar has no such entry\.$/,
      ],
      [{ release_with: 'past-entry' }, 'release_with', /^"release_with": 2020-01-01T09:00:00\.000Z is past/],
      [{ release_at: '2099-01-01T00:00:00Z', release_with: 'x' }, 'release_with', /exclude each other/],
      [
        { release_at: '2099-01-01T00:00:00Z', set: { unit: 'Percent' } },
        undefined,
        /the facts of series that exist stay as they are/,
      ],
    ] as const) {
      const refused = await publish(id, { table: 0, ...body });
      t.is(codeOf(refused), 'invalid_body', JSON.stringify(body));
      t.is((refused.json as { error: { param?: string } }).error.param, param);
      t.regex(messageOf(refused), why);
      t.notRegex(messageOf(refused), /--/, 'it names no flag of the command line');
    }
    const whole = await newUpload('whole.csv', 'date,A,B\n2024-01-31,1,\n2024-02-29,2,\n');
    const entry = `file: whole.csv\nheader: 1\nfirst: 2\ndate: { column: date }\nvalues: '*'\nfull: true\nseries: { id: 'W.{column}', name: '{column}', unit: Index, frequency: monthly, source: Tests }`;
    const absent = await publish(whole.id, { table: 0, set, entry, release_at: '2099-01-01T00:00:00Z' });
    t.is(codeOf(absent), 'invalid_body');
    t.regex(messageOf(absent), /^full: the file has no row of W\.B, which would delete the series/);
    t.is((await operator.get(`/uploads/${id}`)).status, 200);
  },
);

test.serial(
  'an entry that is invalid is refused by its line and key, and an edited entry is used',
  async (t) => {
    const { id, tables } = await newUpload('edited-2024.csv', rows('1', '2'));
    const entry = tables[0]?.entry ?? '';
    for (const [body, why] of [
      [{ table: 1 }, /has no table 1: the last is 0/],
      [{ table: 0, entry: 'file: [' }, /The entry cannot be used:\n {2}line 1/],
      [
        { table: 0, entry: `${entry}frist: 2\n` },
        /line \d+, frist: is not a key here\. Did you mean "first"\?/,
      ],
      [{ table: 0, entry: '- a' }, /The entry cannot be used/],
      [{ table: 0, entry: 'file: &a [*a]' }, /The entry cannot be used/],
      [
        { table: 0, entry: entry.replace('edited-2024.csv', 'other.csv') },
        /does not match the uploaded file/,
      ],
      [{ table: 0, entry: `${entry}skip: no need\n` }, /excludes the table \(skip: no need\)/],
      [{ table: 0, entry: 'file: edited-2024.csv\n' }, /the entry lacks header, first, date, series/],
      [{ table: 0, set: { nonsense: 'x' } }, /must be facts of series/],
      [{ table: '0' }, /must be the number of a table/],
    ] as const) {
      const refused = await check(id, body);
      t.is(codeOf(refused), 'invalid_body', JSON.stringify(body));
      t.regex(messageOf(refused), why);
    }
    const edited = entry.replace('edited-2024.csv', 'edited-*.csv').replace(/^( +id:).*$/m, '$1 EDITED');
    const answer = await publish(id, { table: 0, set, entry: edited });
    t.is(answer.status, 201, answer.text);
    t.is(idOf(answer), 'EDITED');
    const next = await newUpload('edited-2025.csv', rows('1', '2', '3'));
    t.regex(next.tables[0]?.entry ?? '', /^ +id: EDITED$/m);
  },
);

interface WithChoices {
  id: string;
  tables: {
    entry: string;
    preview: Preview | null;
    choices: { key: string; question: string; options: { label: string }[]; text: string | null }[];
  }[];
}
interface Preview {
  points: { line: number; series: string; date: string; value: string | null }[];
  points_read: number;
  left_out: { reason: string; count: number; examples: { line: number; text: string }[] }[];
  refused: { line: number; column: string; text: string }[];
}
const dated = `Date,Rate\n${Array.from({ length: 12 }, (_, at) => `01/${String(at + 1).padStart(2, '0')}/2023,${at + 1}\n`).join('')}`;

test.serial(
  'an upload is shown as it will be served, and a picked reading is used for the check, the preview and the publication',
  async (t) => {
    const upload = dataOf<WithChoices>(await operator.upload('picked.csv', dated));
    const [table] = upload.tables;
    t.like(table?.preview, { points_read: 12, refused: [], left_out: [] });
    t.like(table?.preview?.points[1], { line: 3, series: 'picked', date: '2023-01-02', value: '2' });
    const date = table?.choices.find(({ key }) => key === 'date');
    t.is(date?.question, '"01/02/2023" in Date is:');
    t.deepEqual(
      date?.options.map(({ label }) => label),
      ['2 January 2023 (M/D/YYYY)', '1 February 2023 (D/M/YYYY): monthly'],
    );
    t.like(
      table?.choices.find(({ key }) => key === 'series.unit'),
      { options: [], text: 'series.unit' },
    );
    const wish = { table: 0, set: { unit: 'Index', source: 'Tests' } };
    for (const [choose, why] of [
      [{ date: 2 }, /^"choose": date has 2 options, numbered from 0\.$/],
      [{ date: -1 }, /number of an option, from 0/],
      [{ dates: 1 }, /^"choose": table 0 has no choice dates\. There are date\.$/],
      [{ 'series.unit': 0 }, /^"choose": series\.unit has 0 options/],
    ] as const) {
      const refused = await check(upload.id, { ...wish, choose });
      t.is(codeOf(refused), 'invalid_body', JSON.stringify(choose));
      t.regex(messageOf(refused), why);
    }
    const checked = await check(upload.id, { ...wish, choose: { date: 1 } });
    t.is(checked.status, 200, checked.text);
    const { entry, preview } = dataOf<{ entry: string; preview: Preview }>(checked);
    t.regex(entry, /^date: \{ column: Date, format: D\/M\/YYYY \}$/m);
    t.regex(entry, /^ +frequency: monthly$/m);
    t.like(preview.points[1], { line: 3, date: '2023-02-28', value: '2' });
    const reverted = await check(upload.id, { ...wish, entry, choose: { date: 0 } });
    t.regex(dataOf<{ entry: string }>(reverted).entry, /^date: \{ column: Date, format: M\/D\/YYYY \}$/m);
    const answer = await publish(upload.id, { ...wish, entry });
    t.is(answer.status, 201, answer.text);
    t.like(await served(idOf(answer)), { '2023-02-28': 2, '2023-12-31': 12 });
  },
);

test.serial('the preview of an upload names omitted parts and cells that will be refused', async (t) => {
  const { tables } = dataOf<WithChoices>(
    await operator.upload(
      'left.csv',
      'Year,Price\n2020,1\n2021,x9x\n2022,3\n2023,4\nTotal,8\nSource: Office,\n',
    ),
  );
  const [{ preview } = { preview: null }] = tables;
  t.like(preview, { points_read: 3, refused: [{ line: 3, column: 'Price', text: 'x9x' }] });
  t.deepEqual(
    preview?.left_out.map(({ count, examples }) => [count, examples]),
    [
      [1, [{ line: 6, text: 'Total, 8' }]],
      [1, [{ line: 7, text: 'Source: Office' }]],
    ],
  );
  const words = dataOf<WithChoices>(await operator.upload('words.csv', 'a\nb\nc\n'));
  t.like(words.tables[0], { preview: null, choices: [] });
  await services.database.query('delete from embargo.uploads');
});

test.serial('neither a check nor a publication waits for another load', async (t) => {
  const { id } = await newUpload('busy.csv', rows('1', '2'));
  await services.database.transaction(async (on) => {
    await lockLoads(on);
    for (const answer of [await check(id, { table: 0, set }), await publish(id, { table: 0, set })]) {
      t.is(codeOf(answer), 'unavailable');
      t.regex(messageOf(answer), /A load is running/);
    }
  });
  t.is((await check(id, { table: 0, set })).status, 200);
});

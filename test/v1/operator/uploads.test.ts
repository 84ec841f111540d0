// /v1/operator/uploads: files uploaded by operators, the tables detected in them, and their deletion in time.
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { utils, write } from '@e965/xlsx';
import { codeOf } from '../../auth/people.ts';
import { startServices } from '../../services/services.ts';
import { dataOf, messageOf, newOperator, type Operating } from './operating.ts';

interface Finding {
  path: string;
  value: string;
  evidence: string;
}
interface Upload {
  id: string;
  name: string;
  bytes: number;
  sha256: string;
  account: string;
  created_at: string;
  expires_at: string;
  tables: {
    table: number;
    sheet: string | null;
    lines_read: number;
    sure: Finding[];
    guesses: Finding[];
    choices: { key: string }[];
    skip: string | null;
    entry: string;
    sample: string[][];
  }[];
}

const services = await startServices({ publisher: true });
let operator: Operating;
test.before(async () => {
  operator = await newOperator(services);
});
test.after.always(() => services.close());

const csv = 'date,value\n2024-01-31,1.5\n2024-02-29,2\n';

/** A workbook whose parts claim to have 4 GB each. */
function bomb(): Buffer {
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet([['a']]), 'One');
  const archive = write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer;
  for (let at = archive.indexOf('PK\x03\x04'); at >= 0; at = archive.indexOf('PK\x03\x04', at + 1))
    archive.writeUInt32LE(0xffffffff, at + 22);
  return archive;
}

/** The stored rows, including those of incomplete uploads. */
const stored = async () => {
  const [row] = await services.database.query<{ uploads: number; pieces: number }>(
    'select (select count(*)::int from embargo.uploads) as uploads, (select count(*)::int from embargo.upload_pieces) as pieces',
  );
  return row;
};
const nothing = { uploads: 0, pieces: 0 };
const deleteAll = () => services.database.query('delete from embargo.uploads');
test.afterEach.always(deleteAll);

test.serial(
  'a CSV file is stored, and reported with its certain and guessed facts, its entry and its first lines',
  async (t) => {
    const answer = await operator.upload('Consumer prices.csv', csv);
    t.is(answer.status, 201, answer.text);
    const upload = dataOf<Upload>(answer);
    t.like(upload, { name: 'Consumer prices.csv', bytes: csv.length, account: operator.accountId });
    t.is(new Date(upload.expires_at).getTime() - new Date(upload.created_at).getTime(), 86_400_000);
    const [table, ...others] = upload.tables;
    t.deepEqual(others, []);
    t.like(table, { table: 0, sheet: null, lines_read: 3, skip: null });
    t.deepEqual(table?.sample, [
      ['date', 'value'],
      ['2024-01-31', '1.5'],
      ['2024-02-29', '2'],
    ]);
    t.true(table?.sure.some(({ path, evidence }) => path === 'date' && evidence !== ''));
    t.deepEqual(
      table?.choices.map(({ key }) => key),
      ['series.frequency', 'series.unit', 'series.source'],
    );
    t.regex(table?.entry ?? '', /^file: Consumer prices\.csv$/m);
    t.notRegex(table?.entry ?? '', /^guessed:/m);
    t.deepEqual(dataOf(await operator.get(`/uploads/${upload.id}`)), upload);
    const list = dataOf<Upload[]>(await operator.get('/uploads'));
    t.deepEqual(
      list.map(({ id }) => id),
      [upload.id],
    );
  },
);

test.serial(
  'lines_read counts only the sampled lines of a file that is too long to be read whole',
  async (t) => {
    const months = Array.from(
      { length: 1_000 },
      (_, at) => `${1900 + Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, '0')}`,
    );
    const areas = Array.from({ length: 60 }, (_, at) => `Area ${at}`);
    const rows = areas.flatMap((area) => months.map((month, at) => `${month},${area},${at}.5`));
    const { tables } = dataOf<Upload>(
      await operator.upload('long.csv', `date,area,value\n${rows.join('\n')}\n`),
    );
    const read = tables[0]?.lines_read ?? 0;
    t.true(read > 50_000 && read < rows.length, String(read));
  },
);

test.serial('each sheet of a workbook is a table, and a gzip file is read like its content', async (t) => {
  const book = utils.book_new();
  const sheet = [
    ['date', 'value'],
    ['2024-01-31', 1],
    ['2024-02-29', 2],
  ];
  for (const name of ['One', 'Two']) utils.book_append_sheet(book, utils.aoa_to_sheet(sheet), name);
  const workbook = write(book, { type: 'buffer', bookType: 'xlsx', compression: true }) as Buffer;
  const { tables } = dataOf<Upload>(await operator.upload('a.xlsx', workbook));
  t.deepEqual(
    tables.map(({ table, sheet: name, sample }) => [table, name, sample.length]),
    [
      [0, null, 3],
      [1, 'Two', 3],
    ],
  );
  const packed = dataOf<Upload>(await operator.upload('a.csv.gz', gzipSync(csv)));
  t.is(packed.bytes, gzipSync(csv).length);
  t.is(packed.tables[0]?.sample.length, 3);
});

test.serial(
  'a file that is not a table is reported as such, and an unreadable one is refused and not stored',
  async (t) => {
    const { tables } = dataOf<Upload>(await operator.upload('words.csv', 'a\nb\nc\n'));
    t.regex(tables[0]?.skip ?? '', /./);
    await deleteAll();
    for (const [name, content, why] of [
      ['a.xlsx', 'PK\u0003\u0004 is an archive', /^a\.xlsx cannot be read as a workbook/],
      [
        'b.xlsx',
        bomb(),
        /^b\.xlsx cannot be read as a workbook: it is \d+ MB unpacked; the limit is 512 MB\./,
      ],
      ['a.csv.gz', gzipSync(csv).subarray(0, 20), /^The gzip file is damaged/],
      ['a.csv', '', /The body is empty/],
    ] as const) {
      const answer = await operator.upload(name, content);
      t.is(codeOf(answer), 'invalid_body', name);
      t.regex(messageOf(answer), why);
    }
    t.deepEqual(await stored(), nothing);
  },
);

test.serial('the name is a label: no path, no hidden file, and with a supported ending', async (t) => {
  for (const name of [
    '../a.csv',
    'a/b.csv',
    'a\\b.csv',
    '.a.csv',
    'a\n.csv',
    'a.exe',
    '',
    `${'a'.repeat(200)}.csv`,
  ]) {
    const answer = await operator.upload(name, csv);
    t.is(codeOf(answer), 'invalid_parameter', name);
  }
  t.is(codeOf(await operator.upload('a.csv', csv, '&publication=../x')), 'invalid_parameter');
  t.deepEqual(await stored(), nothing);
});

test.serial('a deleted upload and one that has expired are gone, with their files', async (t) => {
  const [one, two] = [
    dataOf<Upload>(await operator.upload('one.csv', csv)),
    dataOf<Upload>(await operator.upload('two.csv', csv)),
  ];
  t.is((await operator.delete(`/uploads/${one.id}`)).status, 204);
  for (const answer of [
    await operator.get(`/uploads/${one.id}`),
    await operator.delete(`/uploads/${one.id}`),
  ])
    t.is(codeOf(answer), 'not_found');
  t.is((await operator.get(`/uploads/${two.id}`)).status, 200);
  await services.database.query(`update embargo.uploads set expires_at = now() where upload_id = $1`, [
    two.id,
  ]);
  t.is(codeOf(await operator.get(`/uploads/${two.id}`)), 'not_found');
  t.deepEqual(dataOf(await operator.get('/uploads')), []);
  for (const id of ['x', '1', '00000000-0000-4000-8000-000000000000'])
    t.is(codeOf(await operator.get(`/uploads/${id}`)), 'not_found', id);
});

test.serial('an account can have ten uploads, and the next is refused with the reason', async (t) => {
  await services.database.query(
    `insert into embargo.uploads (upload_id, account_id, name, publication, created_at, expires_at)
     select gen_random_uuid(), $1, 'a.csv', 'uploads', now(), now() + interval '1 hour' from generate_series(1, 9)`,
    [operator.accountId],
  );
  const both = await Promise.all([operator.upload('a.csv', csv), operator.upload('b.csv', csv)]);
  const [refused, ...others] = both.filter(({ status }) => status !== 201);
  t.deepEqual(others, []);
  t.is(refused && codeOf(refused), 'conflict');
  t.regex(refused === undefined ? '' : messageOf(refused), /already has 10 uploads, the limit/);
  t.is((await (await newOperator(services)).upload('other.csv', csv)).status, 201);
  await services.database.query(
    `update embargo.uploads set expires_at = now() where upload_id =
       (select upload_id from embargo.uploads where account_id = $1 and bytes is null limit 1)`,
    [operator.accountId],
  );
  t.is((await operator.upload('again.csv', csv)).status, 201);
});

test.serial('a file of many pieces arrives unchanged', async (t) => {
  const rows = randomBytes(3_000_000)
    .toString('hex')
    .replaceAll(/.{20}/g, (text) => `2024-01-31,${text}\n`);
  const upload = dataOf<Upload>(await operator.upload('large.csv', `date,name\n${rows}`));
  t.is(upload.bytes, 10 + rows.length);
  t.true(((await stored())?.pieces ?? 0) > 2);
});

// Crosstabs, whose columns have a period and a group in two lines, and periods below one text, as almanac publish loads them, with a real PostgreSQL.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { utils, write } from '@e965/xlsx';
import test from 'ava';
import { openDatabase } from '../../kernel/database.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { commandLine, settingsOf } from '../cli/terminal.ts';
import { published, seriesRow } from './loading.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await testDatabase.drop();
});
const almanac = commandLine(settingsOf(testDatabase.url));
const publish = (file: string) =>
  almanac(['publish', file, '--set', 'source=Tests', '--set', 'unit=Persons', '--set', 'name=Residents']);
const newFile = (name: string) => path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), name);

test('years over groups become points of each group; a later year is read by the same entry, and another group is refused', async (t) => {
  const file = newFile('residents.csv');
  const written = (...lines: string[]) => writeFileSync(file, lines.join('\n'));
  const notes = ['', 'Source: Register of residents'];
  written('Region,2021,,2022,', ',Men,Women,Men,Women', 'North,10,11,12,13', 'South,20,..,22,23', ...notes);
  const ran = await publish(file);
  t.is(ran.code, 0, ran.stderr);
  const first = {
    ...{ '2021-12-31 Men North': '10', '2021-12-31 Women North': '11' },
    ...{ '2022-12-31 Men North': '12', '2022-12-31 Women North': '13' },
    ...{ '2021-12-31 Men South': '20', '2022-12-31 Men South': '22', '2022-12-31 Women South': '23' },
  };
  t.deepEqual(await published(database, 'residents'), first);
  written('Region,2021,,2022,,2023,', ',Men,Women,Men,Women,Men,Women', 'North,10,11,12,13,14,15', ...notes);
  const later = await publish(file);
  t.is(later.code, 0, later.stderr);
  const added = { '2023-12-31 Men North': '14', '2023-12-31 Women North': '15' };
  t.deepEqual(await published(database, 'residents'), { ...first, ...added });
  written('Region,2021,,2022,,', ',Men,Women,Men,Women,Other', 'North,10,11,12,13,1', ...notes);
  const another = await publish(file);
  t.is(another.code, 1);
  t.regex(another.stderr, /has "Other", which the entry does not mention/);
  written('Region,2021,', ',Men,Women', 'North,21,25', ...notes);
  const narrowed = await publish(file);
  t.is(narrowed.code, 1);
  t.regex(narrowed.stderr, /No column has a period on line 1 and a group on line 2/);
  t.deepEqual(await published(database, 'residents'), { ...first, ...added });
});

test('years below one text become points once confirmed, and the text is in the name', async (t) => {
  const file = newFile('over.csv');
  writeFileSync(file, ['Region,Births,', ',2021,2022', 'North,10,11', 'South,20,..'].join('\n'));
  const flags = ['--set', 'source=Tests', '--set', 'unit=Persons'];
  t.is((await almanac(['publish', file, ...flags])).code, 1);
  const ran = await almanac(['publish', file, '--yes', ...flags]);
  t.is(ran.code, 0, ran.stderr);
  t.deepEqual(await published(database, 'over'), {
    ...{ '2021-12-31 North': '10', '2022-12-31 North': '11', '2021-12-31 South': '20' },
  });
  t.like(await seriesRow(database, 'over'), { name: 'over, Births' });
});

test('groups over years in merged cells of a workbook become points of each group', async (t) => {
  const file = newFile('employed.xlsx');
  const sheet = utils.aoa_to_sheet([
    ['Region', 'Men', null, 'Women', null],
    [null, 2021, 2022, 2021, 2022],
    ['North', 10.5, 11.25, 12, 13],
    ['South', 20, 21, 22, 23],
  ]);
  sheet['!merges'] = ['A1:A2', 'B1:C1', 'D1:E1'].map((range) => utils.decode_range(range));
  const book = utils.book_new(sheet, 'Table 1');
  writeFileSync(file, write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer);
  const ran = await publish(file);
  t.is(ran.code, 0, ran.stderr);
  t.deepEqual(await published(database, 'employed'), {
    ...{ '2021-12-31 Men North': '10.5', '2022-12-31 Men North': '11.25' },
    ...{ '2021-12-31 Women North': '12', '2022-12-31 Women North': '13' },
    ...{ '2021-12-31 Men South': '20', '2022-12-31 Men South': '21' },
    ...{ '2021-12-31 Women South': '22', '2022-12-31 Women South': '23' },
  });
});

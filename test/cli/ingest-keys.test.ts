// A key of almanac.yml and the flag of `almanac ingest` for it mean the same: the same entry, the same points, the same refusal.
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { stringify } from 'yaml';
import { entryFlags, entryOfFlags, isRepeatable, type EntryFlag } from '../../ingest/entry/flags.ts';
import { parseEntry } from '../../ingest/entry/entry-file.ts';
import { tableSchema } from '../../ingest/entry/entry-schema.ts';
import { openDatabase } from '../../kernel/database.ts';
import { projectRoot } from '../../kernel/project.ts';
import { published } from '../ingest/loading.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { changes, made, makes, write, type Change } from './ingest-changes.ts';
import { commandLine, declaredCommands, settingsOf } from './terminal.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await testDatabase.drop();
});

const almanac = commandLine(settingsOf(testDatabase.url));

/** A folder with the file, the files that it needs, and an almanac.yml with its entry. */
function folderOf(file: string, entry: object): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  const isPackage = file.endsWith('.json');
  for (const name of isPackage ? readdirSync(path.dirname(file)) : [path.basename(file)])
    copyFileSync(path.join(path.dirname(file), name), path.join(folder, name));
  const tables = [{ file: path.basename(file), dataset: 'observations', ...entry }];
  writeFileSync(
    path.join(folder, 'almanac.yml'),
    stringify({ version: 1, name: path.basename(folder), tables }),
  );
  return folder;
}

/** The records of both keys together, as flags add up. */
function together(keys: object, key: object): object {
  const [before, more] = [keys, key] as Record<string, unknown>[];
  const set = { ...(before?.['set'] as object), ...(more?.['set'] as object) };
  return { ...keys, ...key, ...(Object.keys(set).length > 0 && { set }) };
}

async function sameByKey(t: ExecutionContext, name: string, change: Change): Promise<void> {
  const { file, before, words = made, keys = makes, key, stores, at, otherwise } = change;
  for (const [id, entry, outcome] of [
    [`${name}.without`, keys, otherwise],
    [`${name}.with`, together(keys, key), stores],
  ] as const) {
    const named = (text: string) => text.replaceAll('<id>', id);
    if (before !== undefined) {
      const input = write(named(before));
      t.is((await almanac(['ingest', 'observations', input, ...words, '--vintage', '2024-01-01'])).code, 0);
    }
    const isPath = typeof file === 'string' && path.isAbsolute(file);
    const input = isPath ? file : write(typeof file === 'string' ? named(file) : file, change.name);
    const folder = folderOf(input, JSON.parse(named(JSON.stringify(entry))) as object);
    const { code, stderr } = await almanac(['publish', path.join(folder, path.basename(input))]);
    const stored = await published(database, named(change.series ?? '<id>'), at);
    t.deepEqual(stored, outcome instanceof RegExp ? {} : outcome, stderr);
    t.is(code, outcome instanceof RegExp ? 1 : 0, stderr);
    if (outcome instanceof RegExp)
      for (const { flag } of entryFlags) t.false(stderr.includes(flag), `${flag} in: ${stderr}`);
  }
}

for (const [name, change] of Object.entries(changes))
  test.serial(`the key for --${name} has the effect that the flag has, and messages name keys`, (t) =>
    sameByKey(t, name, change),
  );

/** The texts of a flag among the words, as the command line gives them. */
function typed(words: readonly string[], flag: EntryFlag): unknown {
  const texts = words.flatMap((word, at) => (word === flag.flag ? [words[at + 1] ?? ''] : []));
  if (texts.length === 0) return undefined;
  if (flag.form === 'true') return true;
  return isRepeatable(flag) ? texts : texts[0];
}

test('the flags that are typed make the entry that almanac.yml would have', (t) => {
  for (const { words = made, keys = makes, flag, key } of Object.values(changes)) {
    const all = [...words, ...flag];
    const entry = { file: 'x.csv', dataset: 'observations', ...together(keys, key) };
    // A text of --ignore is a list, unless a title is spelled like it: only the file can say.
    const ofFlags = entryOfFlags('observations', 'x.csv', (each) => typed(all, each));
    const ignore = ofFlags.ignore?.flatMap((text) => text.split(','));
    t.deepEqual({ ...ofFlags, ...(ignore && { ignore }) }, parseEntry(stringify(entry)));
  }
});

test('every flag that is a key of an entry is compared with it here', (t) => {
  t.deepEqual(entryFlags.map(({ flag }) => flag.slice(2)).sort(), Object.keys(changes).sort());
});

test('docs/entries.md lists every key of an entry with its flag, and every flag of almanac ingest', async (t) => {
  const page = readFileSync(path.join(projectRoot, 'docs/entries.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([^`]+)` \|(?: (?:`([^`]*)`)?)?/gm)].map(([, first = '', second]) => [
    first,
    second,
  ]);
  const keys = rows.filter(([first = '']) => !first.startsWith('--'));
  t.deepEqual(new Set(keys.map(([key = '']) => key.split('.')[0])), new Set(Object.keys(tableSchema.shape)));
  const listed = rows.flatMap((cells) => cells.filter((cell) => cell?.startsWith('--')));
  const declared = (await declaredCommands()).find((command) => command.path.join() === 'ingest');
  t.deepEqual(listed.map((cell) => cell?.split(' ')[0]).sort(), declared?.flags.toSorted());
  for (const { key, flag } of entryFlags)
    t.deepEqual(
      keys.filter(([, given]) => given === flag),
      [[key, flag]],
    );
});

test.serial(
  'a folder of several datasets is loaded in the order in which they refer to each other',
  async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
    const event = 'BEGIN:VEVENT\nUID:r1\nSUMMARY:Prices\nDTSTART:21990101T100000Z\nEND:VEVENT';
    const contents: Record<string, string> = {
      'a.csv': 'item,city,date,price\ntea,lahore,2024-01-04,6',
      'b.csv': 'city_id,name\nlahore,Lahore',
      'c.csv': 'item_id,name,unit,currency,frequency,source\ntea,Tea,kg,PKR,weekly,Office',
      'd.ics': `BEGIN:VCALENDAR\n${event}\nEND:VCALENDAR\n`,
    };
    for (const [name, text] of Object.entries(contents)) writeFileSync(path.join(folder, name), text);
    const tables = [
      { file: 'a.csv', dataset: 'commodity-prices' },
      { file: 'b.csv', dataset: 'commodity-cities' },
      { file: 'c.csv', dataset: 'commodity-items' },
      { file: 'd.ics', dataset: 'calendar', set: { source: 'Office' } },
    ];
    writeFileSync(path.join(folder, 'almanac.yml'), stringify({ version: 1, name: 'ordered', tables }));
    const { code, stdout, stderr } = await almanac(['publish', folder]);
    t.is(code, 0, stderr);
    t.regex(
      stdout,
      /c\.csv: commodity-items, 1 new.*\n.*a\.csv: commodity-prices, 1 new.*\nd\.ics: calendar, 1 new/s,
    );
    t.regex((await almanac(['publish', folder])).stdout, /0 tables loaded, 4 unchanged/);
  },
);

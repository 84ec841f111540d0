// As test/as-of/oracle.test.ts, for bulk files: those as of a day have the bytes that an installation writes where nothing was published later.
import assert from 'node:assert/strict';
import test from 'ava';
import fc from 'fast-check';
import { writeBulk } from '../../ingest/bulk/write-bulk.ts';
import { openDatabase } from '../../kernel/database.ts';
import { silentLog } from '../services/harness.ts';
import { proAccount, type DataService } from '../services/data-service.ts';
import { addPinnedKey } from '../v1/bulk/pinned-keys.ts';
import { agreeOn } from './agreement.ts';
import { anyHistory, bulkPlaceOf, play, type History, type Sides } from './histories.ts';
import { howLong } from './how-long.ts';

const lists = [
  '/v1/bulk',
  '/v1/bulk?kind=vintages&sort=-rows&limit=2',
  '/v1/bulk?source=Office,bureau&fields=name,source,rows,sha256,licences,columns',
  '/v1/bulk?format=csv',
  '/v1/bulk?count_only=true&load_min=2',
];

/** Has files written as of all days that keys are pinned to, and of now. */
async function write(service: DataService): Promise<void> {
  const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
  try {
    const settings = { place: bulkPlaceOf(service), keepDays: 7, daysMax: 3, seriesTimeZone: 'UTC' };
    await writeBulk(database, settings, service.clock);
  } finally {
    await database.close();
  }
}

let played = 0;

async function agree(history: History): Promise<void> {
  const sides = await play(history);
  try {
    await addPinnedKey(sides.whole.pool, { account: 'a', day: sides.day });
    // Once for each history: a second file has another name.
    if (played++ % 2 === 1) await sides.release();
    await agreeOnFiles(sides);
  } finally {
    await sides.close();
  }
}

async function agreeOnFiles(sides: Sides): Promise<void> {
  const { whole, cut, day } = sides;
  for (const side of [whole, cut]) await write(side);
  for (const request of lists) await agreeOn(sides, request);
  const { json } = await cut.call('/v1/bulk');
  const names = (json as { data: { name: string }[] }).data.map(({ name }) => name);
  assert.ok(names.length >= 2);
  for (const name of names) {
    const target = `/v1/bulk/${name}`;
    const found = await read(whole, target, { ...proAccount, asOf: day });
    assert.deepEqual(found, await read(cut, target, proAccount), `${target} as of ${day}`);
    assert.equal(found.status, 200);
  }
}

async function read(service: DataService, target: string, identity: typeof proAccount) {
  const response = await fetch(service.url + target, { headers: service.headers(target, identity) });
  const headers = ['etag', 'last-modified', 'content-disposition', 'content-length'];
  return {
    status: response.status,
    headers: headers.map((name) => response.headers.get(name)),
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

const loadOf = (later: 0 | 1, plain: [string, string][], age: 0 | 3 = 0): History['steps'][number] => {
  return { later, kind: 'load', age, full: false, hasDims: false, plain, combined: [] };
};
/** After the pinned day, a load is retracted. Then an earlier vintage ends the load's value earlier than the retraction did. */
const endedTwice: History = {
  steps: [
    loadOf(0, [['BENCH,2023-12-29', '112,']]),
    loadOf(1, [['BENCH,2023-12-29', '100.50,']]),
    { later: 5, kind: 'retract', age: 0, erase: false },
    loadOf(0, [['BENCH,2023-12-29', '113.25,P']], 3),
  ],
  pinnedAfter: 5,
};

test.serial(
  'the bulk files of a pinned key have the bytes of an installation where nothing was published later',
  async (t) => {
    await fc.assert(fc.asyncProperty(anyHistory, agree), {
      ...howLong,
      examples: [[endedTwice]],
    });
    t.pass();
  },
);

// Every kind of entry that loads create can be found: by id, name, prefix, code, and with a typing error.
import test from 'ava';
import { openDatabase } from '../../kernel/database.ts';
import { loadCsv } from '../ingest/loading.ts';
import { publicCaller, startDataService } from '../services/data-service.ts';
import { silentLog } from '../services/harness.ts';

const service = await startDataService();
const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'tests' });
const files: [dataset: string, ...lines: string[]][] = [
  [
    'series',
    'series_id,name,unit,frequency,source',
    'KIBOR.6M,Interbank offered rate,%,daily,Central Bank',
    'FX,Reference rates,PKR,daily,Central Bank',
    'LFS.EMP,Employment by age,Thousands,quarterly,Statistics Office',
  ],
  ['observations', 'series_id,date,value,currency', 'FX,2024-01-02,310.5,EUR', 'FX,2024-01-02,280.1,USD'],
  ['observations', 'series_id,date,value,age', 'LFS.EMP,2024-03-31,100,Y15-24'],
  ['dimension-labels', 'series_id,dimension,value,label', 'LFS.EMP,age,Y15-24,Young people'],
  ['amcs', 'amc_id,name,source', 'meezan,Al Meezan Investment Management,Register'],
  [
    'funds',
    'fund_id,name,isin,symbol,amc_id,asset_class,currency,source',
    'meezan-cash,Meezan Rozana Amdani Fund,PK0009200129,MRAF,meezan,money_market,PKR,Register',
  ],
  [
    'securities',
    'code,isin,name,issuer,type,currency,source',
    'HBL/TFC/190216,US0378331005,Habib Bank perpetual certificate,Habib Bank,tfc,PKR,Exchange',
  ],
  [
    'commodity-items',
    'item_id,name,unit,currency,frequency,source',
    'lentils-masur,Lentils (masur),kg,PKR,weekly,Price Office',
  ],
];
async function loadLines(dataset: string, ...lines: readonly string[]): Promise<void> {
  await loadCsv(database, lines, { dataset, clock: service.clock });
}
for (const [dataset, ...lines] of files) await loadLines(dataset, ...lines);
test.after.always(async () => {
  await database.close();
  await service.close();
});

async function found(query: Record<string, string>): Promise<{ type: string; id: string; match: string }[]> {
  const path = `/v1/search?${String(new URLSearchParams(query))}`;
  const { json } = await service.call(path, { identity: publicCaller });
  return (json as { data: { type: string; id: string; match: string }[] }).data;
}

/** Query → the kind of its match; the first hit must be the entry. */
const kinds: readonly [type: string, id: string, queries: Record<string, string>][] = [
  [
    'series',
    'KIBOR.6M',
    {
      'kibor.6m': 'id',
      'Interbank offered rate': 'name',
      kib: 'name_words_begun',
      interb: 'name_words_begun',
      'rate offered': 'name_words',
      intrebank: 'name_words',
    },
  ],
  [
    'amc',
    'meezan',
    {
      Meezan: 'id',
      'al meezan investment management': 'name',
      'al mee': 'name_words_begun',
      investmant: 'name_words',
    },
  ],
  [
    'fund',
    'meezan-cash',
    {
      'MEEZAN-CASH': 'id',
      'meezan rozana amdani fund': 'name',
      'meezan roz': 'name_words_begun',
      PK0009200129: 'words',
      mraf: 'words',
      'amdani rosana': 'name_words',
    },
  ],
  [
    'security',
    'HBL-TFC-190216',
    {
      'hbl/tfc/190216': 'id',
      'hbl-tfc': 'id_beginning',
      'habib bank perp': 'name_words_begun',
      us0378331005: 'words',
      perpetaul: 'name_words',
    },
  ],
  [
    'commodity',
    'lentils-masur',
    {
      'lentils-masur': 'id',
      'lentils masur': 'id',
      lent: 'name_words_begun',
      masur: 'name_words',
      lentlis: 'name_words',
    },
  ],
];

for (const [type, id, queries] of kinds) {
  test(`a ${type} is found by id, name, beginning and word, in any case, and with a typing error`, async (t) => {
    for (const [q, match] of Object.entries(queries)) {
      const [first] = await found({ q, type });
      t.deepEqual([first?.type, first?.id, first?.match], [type, id, match], q);
    }
  });
}

test('a series is found by the values of its dimensions, and by their labels as they are now', async (t) => {
  t.deepEqual(await found({ q: 'usd' }), await found({ q: 'USD', type: 'series' }));
  t.deepEqual(
    (await found({ q: 'eur' })).map(({ id, match }) => [id, match]),
    [['FX', 'words']],
  );
  t.is((await found({ q: 'young people' }))[0]?.id, 'LFS.EMP');
  await loadLines('observations', 'series_id,date,value,currency', 'FX,2024-01-02,340,CHF');
  t.is((await found({ q: 'chf' }))[0]?.id, 'FX');
  await loadLines('dimension-labels', 'series_id,dimension,value,label', 'LFS.EMP,age,Y15-24,Adolescents');
  t.is((await found({ q: 'adolescents' }))[0]?.id, 'LFS.EMP');
  t.deepEqual(await found({ q: 'young people' }), []);
});

test('a query also finds entries with synonyms of its words, after all entries with the words themselves', async (t) => {
  t.deepEqual(
    (await found({ q: 'jobs' })).map(({ id, match }) => [id, match]),
    [['LFS.EMP', 'name_synonyms']],
  );
  t.is((await found({ q: 'age jobs' }))[0]?.id, 'LFS.EMP');
  t.deepEqual(await found({ q: 'jobs', type: 'fund' }), []);
  await loadLines(
    'series',
    'series_id,name,unit,frequency,source',
    'JOBS,Vacancies,Thousands,monthly,Statistics Office',
  );
  t.deepEqual(
    (await found({ q: 'jobs' })).map(({ id }) => id),
    ['JOBS', 'LFS.EMP'],
  );
});

test('without a type all kinds are in one list, the best match first', async (t) => {
  const hits = await found({ q: 'meezan' });
  t.deepEqual(
    hits.map(({ type, match }) => [type, match]),
    [
      ['amc', 'id'],
      ['fund', 'id_beginning'],
    ],
  );
});

// The options of a load apply to every dataset or are refused by name; options without an effect are reported.
import test from 'ava';
import { dateTypes, numberTypes, type ColumnType } from '../../ingest/cells/cells.ts';
import { datasets } from '../../ingest/datasets/datasets.ts';
import { failureOf, loadCsv, openIngestDatabase, published, rejectsOf } from './loading.ts';

const database = await openIngestDatabase(test);

const german = { dateFormat: 'DD.MM.YYYY', decimal: ',', thousands: '.', missing: ['k. A.'] };

test.serial(
  '--date-format, --decimal, --thousands and --missing apply to tables as to observations',
  async (t) => {
    const funds = ['fund_id,name,currency,source', 'alpha,Alpha,PKR,Register'];
    await loadCsv(database, funds, { dataset: 'funds' });
    const nav = ['fund;date;nav;aum', 'alpha;30.01.2024;1.010,25;k. A.', 'alpha;31.01.2024;10,5;1.250.000'];
    t.is((await loadCsv(database, nav, { dataset: 'nav', ...german })).pointsNew, 2);
    t.deepEqual(
      await database.query(
        `select date, nav, aum from data.navs join data.funds using (fund_no) where fund_id = 'alpha' order by 1`,
      ),
      [
        { date: '2024-01-30', nav: '1010.25', aum: null },
        { date: '2024-01-31', nav: '10.5', aum: '1250000' },
      ],
    );
    t.deepEqual(
      await rejectsOf(loadCsv(database, [...nav, 'alpha;2024-02-01;1,5;'], { dataset: 'nav', ...german })),
      [[4, 'date', '2024-02-01']],
    );
    t.deepEqual(
      await rejectsOf(loadCsv(database, [...nav, 'alpha;01.02.2024;1.5;'], { dataset: 'nav', ...german })),
      [[4, 'nav', '1.5']],
    );

    const items = ['item_id,name,unit,currency,frequency,source', 'tea,Tea,kg,PKR,monthly,Office'];
    await loadCsv(database, items, { dataset: 'commodity-items' });
    const prices = [
      'item;city;date;price;latitude',
      'tea;Lahore;31.01.2024;1.010,25;31,55',
      'tea;Multan;31.01.2024;k. A.;k. A.',
    ];
    await loadCsv(database, prices, {
      dataset: 'commodity-prices',
      ...german,
      create: true,
      set: { unit: 'kg', currency: 'PKR', frequency: 'monthly', source: 'Office' },
    });
    t.deepEqual(Object.values(await published(database, 'commodity.tea')), ['1010.25', null]);
    t.deepEqual(await database.query('select latitude from data.commodity_cities order by city_id'), [
      { latitude: '31.55' },
      { latitude: null },
    ]);

    const calendar = [
      'release_id;title;source;release_at;time_zone',
      'cpi;Prices;Office;30.01.2024 08:30;UTC',
    ];
    await loadCsv(database, calendar, { dataset: 'calendar', dateFormat: 'DD.MM.YYYY' });
    t.deepEqual(await database.query('select release_at from data.releases'), [
      { release_at: new Date('2024-01-30T08:30Z') },
    ]);
  },
);

test.serial('a number with an exponent is a number in every dataset', async (t) => {
  await loadCsv(database, ['fund_id,name,currency,source', 'tiny,Tiny,PKR,Register'], { dataset: 'funds' });
  await loadCsv(database, ['fund,date,nav', 'tiny,2024-01-30,1e-05'], { dataset: 'nav' });
  const found = await database.query(
    `select nav from data.navs join data.funds using (fund_no) where fund_id = 'tiny'`,
  );
  t.deepEqual(found, [{ nav: '0.00001' }]);
});

test.serial('an option about the format of dates or numbers is refused if the file has none', async (t) => {
  for (const { name, kind, columns, key } of datasets) {
    const header = columns
      .filter((column) => key.includes(column.name) || kind === 'points' || column.type !== 'instant')
      .map((column) => column.name);
    const types = columns.filter((column) => header.includes(column.name)).map(({ type }) => type);
    const has = (some: ReadonlySet<ColumnType>) => kind === 'points' || types.some((type) => some.has(type));
    const options = [
      ['--date-format', { dateFormat: 'DD.MM.YYYY' }, has(dateTypes)],
      ['--decimal', { decimal: ',' }, has(numberTypes)],
      ['--thousands', { thousands: '_' }, has(numberTypes)],
    ] as const;
    for (const [flag, option, isUsed] of options) {
      const work = loadCsv(database, header.join(';'), { dataset: name, ...option, dryRun: true });
      if (isUsed) await t.notThrowsAsync(work, `${name} ${flag}`);
      else t.regex((await failureOf(work)).message, new RegExp(`^${flag}: the file has no column`), name);
    }
  }
});

test.serial('an option that does not apply to the kind of file is refused by name', async (t) => {
  const ics = ['BEGIN:VCALENDAR', 'END:VCALENDAR', ''].join('\r\n');
  const calendar = { dataset: 'calendar' };
  for (const [flag, option] of Object.entries({
    '--delimiter': { delimiter: ';' },
    '--header-line': { headerLine: 2 },
    '--skip-rows': { skipRows: 1 },
    '--date-format': { dateFormat: 'DD.MM.YYYY' },
  })) {
    const { code, message } = await failureOf(loadCsv(database, ics, { ...calendar, ...option }));
    t.is(code, 'usage');
    t.is(message, `${flag}: not for iCalendar files, which have one form.`);
  }
  const csv = 'series_id,date,value';
  t.regex(
    (await failureOf(loadCsv(database, csv, { resource: 'x' }))).message,
    /^--resource works only with a datapackage/,
  );
});

test.serial(
  '--multiply converts the numbers of a column to base units, exactly, in every dataset with numbers',
  async (t) => {
    const set = { series_id: 'SCALED', frequency: 'annual', unit: 'Rupees', source: 'Test' };
    const csv = ['date,value', '2022,0.1', '2023,1.50', '2024,'];
    await loadCsv(database, csv, { create: true, set, multiply: { value: '1000000' } });
    t.deepEqual(await published(database, 'SCALED'), {
      '2022-12-31': '100000',
      '2023-12-31': '1500000',
      '2024-12-31': null,
    });
    await loadCsv(database, ['date,WIDE.SCALED', '2024-01-01,3.3'], {
      wide: true,
      create: true,
      set: { frequency: 'daily', unit: 'Rupees', source: 'Test' },
      multiply: { value: '0.01' },
    });
    t.deepEqual(await published(database, 'WIDE.SCALED'), { '2024-01-01': '0.033' });

    const item = ['item_id,name,unit,currency,frequency,source', 'salt,Salt,kg,PKR,monthly,Office'];
    await loadCsv(database, item, { dataset: 'commodity-items' });
    await loadCsv(database, ['city_id,name', 'karachi,Karachi'], { dataset: 'commodity-cities' });
    await loadCsv(database, ['item,city,date,price', 'salt,karachi,2024-01,5.5'], {
      dataset: 'commodity-prices',
      multiply: { price: '100' },
    });
    t.deepEqual(Object.values(await published(database, 'commodity.salt')), ['550']);

    const constants = {
      reporter: 'PAK',
      classification: 'hs',
      basis: 'customs',
      currency: 'USD',
      source: 'Customs',
      flow: 'export',
    };
    const trade = ['period,partner_code,commodity_code,value,quantity', '2024M01,CHN,0101,2.5,7'];
    await loadCsv(database, trade, { dataset: 'trade', set: constants, multiply: { value: '1000' } });
    t.deepEqual(await database.query('select period, value, quantity from data.trade'), [
      { period: '2024-01', value: '2500', quantity: '7' },
    ]);

    const refused = async (dataset: string, header: string, multiply: Record<string, string>) =>
      (await failureOf(loadCsv(database, header, { dataset, multiply }))).message;
    t.regex(
      await refused('trade', trade[0] ?? '', { period: '10' }),
      /^--multiply period: not a column of numbers in trade; there are value/,
    );
    t.regex(
      await refused('amcs', 'amc_id', { value: '10' }),
      /not a column of numbers in amcs, which has none/,
    );
    t.regex(
      await refused('nav', 'fund,date,nav', { aum: '10' }),
      /^--multiply aum: the file has no such column/,
    );
    for (const factor of ['0', '1e6', 'x', '', '1,000'])
      t.regex(
        await refused('nav', 'fund,date,nav', { nav: factor }),
        /a number such as 1000000 or 0.01 is expected/,
      );
  },
);

test.serial('a column of the file can supply two columns of the dataset', async (t) => {
  const csv = ['ID,date,value', 'TWO.TARGETS,2024-01-01,1'];
  await loadCsv(database, csv, {
    create: true,
    set: { frequency: 'daily', unit: 'One', source: 'Test' },
    map: { series_id: 'ID', name: 'ID', copy: 'ID' },
  });
  t.deepEqual(await published(database, 'TWO.TARGETS'), { '2024-01-01 TWO.TARGETS': '1' });
  const funds = ['Name,currency,source', 'Beta Fund,PKR,Register'];
  await loadCsv(database, funds, { dataset: 'funds', map: { fund_id: 'Name', name: 'Name' } });
  t.deepEqual(await database.query(`select fund_id, name from data.funds where fund_id = 'beta-fund'`), [
    { fund_id: 'beta-fund', name: 'Beta Fund' },
  ]);
});

test.serial('all unusable columns are named together, with the options to add', async (t) => {
  const long = await failureOf(loadCsv(database, 'series_id,date,value,Unit of it,No. 1,no-1,side'));
  t.regex(
    long.message,
    /^"Unit of it", "No\. 1", "no-1" would be a dimension, whose name may contain only letters, digits and _/,
  );
  t.deepEqual(long.fix, ['--map', 'unit_of_it=Unit of it', '--map', 'no_1=No. 1', '--map', 'no_1_=no-1']);
  const nav = await failureOf(loadCsv(database, 'fund,date,nav,Rank,"Held, in %"', { dataset: 'nav' }));
  t.regex(
    nav.message,
    /^nav has no column Rank, Held, in %; it has fund, date, nav, .*exclude with --ignore Rank --ignore 'Held, in %'\.$/,
  );
  t.deepEqual(nav.fix, ['--ignore', 'Rank', '--ignore', 'Held, in %']);
  await t.notThrowsAsync(
    loadCsv(database, 'fund,date,nav,Rank,"Held, in %"', { dataset: 'nav', ignore: ['Rank', 'Held, in %'] }),
  );
  const wide = await failureOf(loadCsv(database, 'date,A,???,!', { wide: true }));
  t.deepEqual(wide.fix, ['--ignore', '???', '--ignore', '!']);
});

test.serial('a --skip-where or --map-value without a matching row is reported as unused', async (t) => {
  const lines = [
    'series_id,date,value',
    'CHOSEN,2024-01-01,1',
    'CHOSEN,2024-01-02,total',
    'CHOSEN,2024-01-03,-',
  ];
  const { notes, pointsNew } = await loadCsv(database, lines, {
    create: true,
    set: { frequency: 'daily', unit: 'One', source: 'Test' },
    skipWhere: ['total', 'Total'].map((value) => ({ column: 'value', value })),
    mapValue: ['-', 'total', 'n/k'].map((value) => ({ column: 'value', value, to: '3' })),
  });
  t.is(pointsNew, 2);
  t.deepEqual(notes, [
    '--skip-where value=Total changed nothing: no row has that value.',
    '--map-value value=n/k changed nothing: no row has that value.',
  ]);
});

test.serial(
  '--set facts that differ from those of existing items and cities are reported as having no effect, or need --create',
  async (t) => {
    const dataset = 'commodity-prices';
    const rows = (...items: string[]) => [
      'item,city,date,price',
      ...items.map((item) => `${item},Noted Town,2024-01,2`),
    ];
    const set = {
      unit: 'Kg',
      unit_quantity: '1',
      currency: 'PKR',
      frequency: 'monthly',
      source: 'S',
      province: 'Punjab',
    };
    const notesOf = async (items: string[], more: Partial<typeof set> & Record<string, string>) =>
      (await loadCsv(database, rows(...items), { dataset, create: true, set: { ...set, ...more } })).notes;
    // Their names are not their ids.
    t.deepEqual(await notesOf(['Noted Rice', 'Noted Salt', 'noted-flour', 'noted-ghee'], {}), []);
    t.deepEqual(
      await notesOf(['noted-rice', 'noted-dal'], { unit_quantity: '1.0' }),
      [],
      'they say the same',
    );
    t.deepEqual(
      await notesOf(['noted-rice', 'noted-oil'], { currency: 'USD', category: 'Food', province: 'Sindh' }),
      [
        'noted-rice exists, so --set category=Food changed nothing: its category is empty. Change it by a file for the dataset commodity-items.',
        'noted-town exists, so --set province=Sindh changed nothing: its province is Punjab. Change it by a file for the dataset commodity-cities.',
      ],
    );
    t.deepEqual(await notesOf(['noted-rice'], { unit_quantity: '5' }), [
      'noted-rice exists, so --set unit_quantity=5 changed nothing: its unit_quantity is 1. Change it by a file for the dataset commodity-items.',
    ]);
    const many = await notesOf(['noted-rice', 'noted-salt', 'noted-flour', 'noted-ghee'], {
      source: 'Other',
    });
    t.deepEqual([many.length, many.at(-1)], [4, 'More items exist and differ from --set.']);

    const { source, ...columns } = set;
    const own = [...Object.keys(columns), 'item', 'city', 'date', 'price'].join(',');
    const cells = [...Object.values(columns), 'noted-rice', 'noted-town', '2024-01', '2'].join(',');
    const { notes } = await loadCsv(database, [own, cells], { dataset, create: true, set: { source } });
    t.deepEqual(notes, [], 'columns of the file are no constants');

    const idle = { currency: 'PKR', province: 'Punjab' };
    const { code, message } = await failureOf(loadCsv(database, rows('noted-rice'), { dataset, set: idle }));
    t.is(code, 'usage');
    t.is(message, '--set currency, province describes new items and cities and needs --create.');
    const unit = await loadCsv(database, rows('noted-rice'), { dataset, set: { unit: 'Kg' } });
    t.is(unit.pointsUnchanged, 1, 'the unit is compared with that of the item');
    const factor = loadCsv(database, rows('noted-rice'), { dataset, multiply: { unit_quantity: '2' } });
    t.regex((await failureOf(factor)).message, /--multiply unit_quantity: the file has no such column/);
  },
);

test.serial(
  '--set facts that differ from those of an existing series are reported as having no effect',
  async (t) => {
    const set = { frequency: 'daily', unit: 'One', source: 'Test', tags: 'a;b' };
    const rows = (ids: string[]) => ['series_id,date,value', ...ids.map((id) => `NOTED.${id},2024-01-01,1`)];
    t.deepEqual((await loadCsv(database, rows(['A', 'B', 'C', 'D']), { create: true, set })).notes, []);
    t.deepEqual(
      (await loadCsv(database, rows(['A', 'E']), { create: true, set })).notes,
      [],
      'they say the same',
    );
    const { notes } = await loadCsv(database, rows(['A', 'F']), {
      create: true,
      set: { ...set, unit: 'Two' },
    });
    t.deepEqual(notes, [
      'NOTED.A exists, so --set unit=Two changed nothing: its unit is One. Change it by: almanac series set NOTED.A unit=Two, or from a date on by: almanac series break NOTED.A --from DATE unit=Two',
    ]);
    const { notes: tags } = await loadCsv(database, rows(['A']), {
      create: true,
      set: { ...set, tags: 'a', geography: 'PK' },
    });
    t.regex(tags.join(), /^NOTED\.A exists, so --set geography=PK changed nothing: its geography is empty/);
    const many = await loadCsv(database, rows(['A', 'B', 'C', 'D']), {
      create: true,
      set: { ...set, unit: 'Two' },
    });
    t.is(many.notes.length, 4);
    t.is(many.notes.at(-1), 'More series exist and differ from --set.');
    const wide = await loadCsv(database, 'date,NOTED.A\n2024-01-01,1', {
      wide: true,
      create: true,
      set: { ...set, source: 'Other' },
    });
    t.regex(wide.notes.join(), /NOTED\.A exists, so --set source=Other/);
  },
);

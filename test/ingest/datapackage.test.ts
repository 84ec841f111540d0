import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { loadCsv, openIngestDatabase, published } from './loading.ts';

const database = await openIngestDatabase(test);

const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
mkdirSync(path.join(folder, 'data'));
writeFileSync(
  path.join(folder, 'data/prices.csv'),
  'Tag;Land;Preis\n31.01.2024;Köln;1.234,5\n29.02.2024;Köln;k. A.\n',
  'latin1',
);
writeFileSync(path.join(folder, 'data/years.csv'), 'Year,Rate\n2023,1\n');

function writePackage(resources: object[]): string {
  const file = path.join(folder, 'datapackage.json');
  const licenses = [{ name: 'ODC-PDDL-1.0' }];
  writeFileSync(
    file,
    `\ufeff${JSON.stringify({ name: 'p', resources, sources: [{ title: 'The Office' }], licenses })}`,
  );
  return file;
}

const prices = {
  name: 'prices',
  title: 'Prices by place',
  path: 'data/prices.csv',
  encoding: 'iso-8859-1',
  dialect: { delimiter: ';' },
  schema: {
    fields: [
      { name: 'Tag', type: 'date', format: '%d.%m.%Y' },
      { name: 'Land', type: 'string' },
      { name: 'Preis', type: 'number', decimalChar: ',', groupChar: '.' },
    ],
    missingValues: ['', 'k. A.'],
  },
};
const years = {
  name: 'years',
  path: 'data/years.csv',
  schema: {
    fields: [
      { name: 'Year', type: 'year' },
      { name: 'Rate', type: 'number' },
    ],
  },
};

test.serial('a resource is loaded by its description, and the options give the rest', async (t) => {
  const summary = await loadCsv(database, '', {
    input: writePackage([prices, years]),
    resource: 'prices',
    create: true,
    missing: ['-'],
    map: { place: 'Land' },
    set: { frequency: 'monthly', unit: 'Euro', name: 'Prices' },
  });
  t.like(summary, { rowsRead: 2, pointsNew: 2 });
  t.deepEqual(await published(database, 'prices'), { '2024-01-31 Köln': '1234.5', '2024-02-29 Köln': null });
  const [series] = await database.query<object>(
    'select name, source, licence, dimensions from data.series where series_id = $1',
    ['prices'],
  );
  t.deepEqual(series, {
    name: 'Prices',
    source: 'The Office',
    licence: 'ODC-PDDL-1.0',
    dimensions: ['place'],
  });
});

test.serial('the only resource needs no name, and the columns are found by their types', async (t) => {
  await loadCsv(database, '', {
    input: writePackage([years]),
    create: true,
    set: { series_id: 'RATE', frequency: 'annual', unit: 'Percent' },
  });
  t.deepEqual(await published(database, 'RATE'), { '2023-12-31': '1' });
});

test.serial(
  'a column of whole numbers can be the value; of two number columns neither is; no group separator is assumed',
  async (t) => {
    const field = (type: string) => ({
      ...years,
      schema: { fields: [years.schema.fields[0], { name: 'Rate', type, groupChar: '', decimalChar: '.' }] },
    });
    const set = { series_id: 'WHOLE', frequency: 'annual', unit: 'Percent' };
    for (const type of ['integer', 'number']) {
      const input = writePackage([field(type)]);
      await loadCsv(database, '', { input, create: true, set: { ...set, series_id: `TYPE.${type}` } });
      t.deepEqual(await published(database, `TYPE.${type}`), { '2023-12-31': '1' });
    }
    const two = {
      ...years,
      schema: { fields: [...years.schema.fields, { name: 'Count', type: 'integer' }] },
    };
    await t.throwsAsync(loadCsv(database, '', { input: writePackage([two]), create: true, set }), {
      message: /no column value/,
    });
  },
);

test.serial('in a wide file the title of the package is not the name of its series', async (t) => {
  await loadCsv(database, '', {
    input: writePackage([{ ...years, title: 'Rates of the world' }]),
    create: true,
    wide: true,
    set: { frequency: 'annual', unit: 'Percent' },
  });
  const [series] = await database.query<object>('select name, source from data.series where series_id = $1', [
    'Rate',
  ]);
  t.deepEqual(series, { name: 'Rate', source: 'The Office' });
});

test.serial('a column of the file overrides the fact of that name in the package', async (t) => {
  writeFileSync(path.join(folder, 'data/sourced.csv'), 'Year,Rate,Source\n2023,1,Another Office\n');
  const fields = [...years.schema.fields, { name: 'Source', type: 'string' }];
  await loadCsv(database, '', {
    input: writePackage([{ name: 'sourced', path: 'data/sourced.csv', schema: { fields } }]),
    create: true,
    set: { frequency: 'annual', unit: 'Percent', name: 'Rates' },
  });
  const found = await database.query<object>('select source from data.series where series_id = $1', [
    'sourced',
  ]);
  t.deepEqual(found, [{ source: 'Another Office' }]);
});

test.serial('options override the package', async (t) => {
  const wrong = {
    ...prices,
    encoding: 'utf-16le',
    dialect: { delimiter: '|' },
    schema: {
      fields: [
        { name: 'Tag', type: 'date', format: '%Y/%d/%m' },
        { name: 'Land', type: 'string' },
        { name: 'Preis', type: 'number', decimalChar: '.', groupChar: "'" },
      ],
      missingValues: ['nothing'],
    },
  };
  const flags = {
    encoding: 'latin1',
    delimiter: ';',
    dateFormat: 'DD.MM.YYYY',
    decimal: ',',
    thousands: '.',
  };
  const options = {
    create: true,
    missing: ['k. A.'],
    map: { place: 'Land' },
    set: { series_id: 'FLAGS', frequency: 'monthly', unit: 'Euro', source: 'Another office', licence: 'MIT' },
  };
  const load = (given: object) =>
    loadCsv(database, '', { input: writePackage([wrong]), ...options, ...given });
  await load(flags);
  t.deepEqual(await published(database, 'FLAGS'), { '2024-01-31 Köln': '1234.5', '2024-02-29 Köln': null });
  const [series] = await database.query<object>(
    'select name, source, licence from data.series where series_id = $1',
    ['FLAGS'],
  );
  t.deepEqual(series, { name: 'Prices by place', source: 'Another office', licence: 'MIT' });
  // If any one of them is omitted, the package decides, and the file cannot be read.
  for (const name of Object.keys(flags))
    await t.throwsAsync(load({ ...flags, [name]: undefined }), undefined, name);
});

test.serial('a package of several resources asks which, and follows no path out of its folder', async (t) => {
  await t.throwsAsync(loadCsv(database, '', { input: writePackage([prices, years]) }), {
    message: /--resource \(prices, years\)/,
  });
  for (const elsewhere of ['../secret.csv', '/etc/passwd', 'https://example.org/x.csv'])
    await t.throwsAsync(loadCsv(database, '', { input: writePackage([{ ...years, path: elsewhere }]) }), {
      message: /not in the folder/,
    });
  const noPackage = path.join(folder, 'x.json');
  writeFileSync(noPackage, '{"resources":[]}');
  await t.throwsAsync(loadCsv(database, '', { input: noPackage }), {
    message: /not a data package \(resources/,
  });
});

test.serial('ignored columns are excluded when the value column is searched for by its type', async (t) => {
  const named = ['Date', 'Rank', 'Weight', 'Price'];
  const fields = named.map((name, at) => ({ name, type: at === 0 ? 'date' : 'number' }));
  writeFileSync(path.join(folder, 'listed.csv'), `${named.join()}\n2024-01-02,1,2,75.89`);
  const resources = [{ name: 'LISTED', path: 'listed.csv', schema: { fields } }];
  writeFileSync(path.join(folder, 'listed.json'), JSON.stringify({ name: 'listed', resources }));
  await loadCsv(database, '', {
    input: path.join(folder, 'listed.json'),
    create: true,
    set: { frequency: 'daily', unit: 'USD', source: 'Test' },
    ignore: ['Rank,Weight'],
  });
  t.deepEqual(await published(database, 'LISTED'), { '2024-01-02': '75.89' });
});

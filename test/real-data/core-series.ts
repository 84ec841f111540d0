// Brent oil daily, US consumer prices monthly, exchange rates monthly by country.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { csvPoints, pages, points } from './answers.ts';
import type { Check } from './run.ts';

export async function checkCoreSeries({ instance, folder, seen }: Check): Promise<void> {
  const file = (name: string) => path.join(folder, '01_core_series_pddl', name);
  const rows = (name: string) => parse<Record<string, string>>(readFileSync(file(name)), { columns: true });
  const loads = [
    [
      'observations',
      file('oil-prices__brent-daily.csv'),
      '--map',
      'date=Date,value=Price',
      '--create',
      '--set',
      'series_id=BRENT.D,name=Brent crude oil,unit=US dollars per barrel,frequency=daily,source=EIA',
    ],
    [
      'observations',
      file('cpi-us__cpiai.csv'),
      '--map',
      'date=Date,value=Index',
      '--ignore',
      'Inflation',
      '--create',
      '--set',
      'series_id=US.CPI,name=US consumer prices,unit=Index 1982-84 = 100,frequency=monthly,source=BLS',
    ],
    [
      'observations',
      file('exchange-rates__monthly.csv'),
      '--map',
      'date=Date,country=Country,value=Exchange rate',
      '--create',
      '--set',
      'series_id=FX.M,name=Exchange rates against the US dollar,unit=Units per US dollar,frequency=monthly,source=Federal Reserve',
    ],
  ];
  for (const words of loads) await instance.almanac('ingest', ...words);

  const brent = rows('oil-prices__brent-daily.csv').filter((row) => row['Price'] !== '');
  const served = await points(instance, '/v1/series/BRENT.D?limit=100000');
  assert.deepEqual(
    served.map((p) => [p.date, p.value]),
    brent.map((row) => [row['Date'], Number(row['Price'])]),
  );
  seen(`all ${served.length} daily Brent prices are served as published`);

  const [firstCpi] = await points(instance, '/v1/series/US.CPI?limit=1');
  assert.deepEqual([firstCpi?.date, firstCpi?.value], ['1913-01-31', 9.8]);
  seen('US.CPI of January 1913 is 9.8, dated to the end of the month');

  const rates = rows('exchange-rates__monthly.csv');
  const australia = rates.filter((row) => row['Country'] === 'Australia' && row['Exchange rate'] !== '');
  const filtered = await points(instance, '/v1/series/FX.M?dims=country:Australia&limit=100000');
  assert.deepEqual(
    filtered.map((p) => p.value),
    australia.map((row) => Number(row['Exchange rate'])),
  );
  assert.ok(filtered.every((p) => p.dims['country'] === 'Australia'));
  seen(`exchange rates filter by country: ${filtered.length} values of Australia`);

  for (const target of ['/v1/series/FX.M?limit=100000', '/v1/series/US.CPI?limit=100000&sort=desc']) {
    const json = await points(instance, target);
    assert.deepEqual(await csvPoints(instance, target), json);
    seen(`CSV and JSON agree in all ${json.length} values of ${target.slice(11, 16)}`);
  }
  const inOneCall = await points(instance, '/v1/series/FX.M?limit=100000');
  assert.deepEqual(await pages(instance, '/v1/series/FX.M', 997), inOneCall);
  seen(`paging by cursor gives the same ${inOneCall.length} points as one call`);

  for (const words of loads) {
    const again = JSON.parse(await instance.almanac('ingest', ...words, '--json')) as Record<string, number>;
    assert.deepEqual([again['points_new'], again['points_revised'], again['points_deleted']], [0, 0, 0]);
  }
  assert.deepEqual(await points(instance, '/v1/series/FX.M?limit=100000'), inOneCall);
  seen('loading the files a second time changes nothing');
}

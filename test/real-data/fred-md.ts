// FRED-MD: eighteen monthly vintages of 128 US series, loaded wide; the known revisions of payroll employment.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { addMonths, periodEnd } from '../../kernel/periods.ts';
import { points } from './answers.ts';
import type { Check } from './run.ts';

const loadTimeMaxMs = 120_000;

export async function checkFredMd({ instance, folder, seen }: Check): Promise<void> {
  const files = readdirSync(path.join(folder, '02_vintages_fred_md'))
    .filter((name) => name.endsWith('.csv.gz'))
    .sort();
  assert.equal(files.length, 18);
  const load = (name: string) =>
    instance.almanac(
      ...[
        'ingest',
        'observations',
        path.join(folder, '02_vintages_fred_md', name),
        '--wide',
        '--map',
        'date=sasdate',
      ],
      ...[
        '--skip-rows',
        '1',
        '--date-format',
        'M/D/YYYY',
        '--vintage',
        periodEnd(`${name.slice(0, 7)}-01`, 'monthly'),
      ],
      ...['--full', '--create', '--set', 'frequency=monthly,unit=As published,source=FRED-MD', '--json'],
    );
  const start = performance.now();
  for (const name of files) await load(name);
  const milliseconds = performance.now() - start;
  assert.ok(milliseconds < loadTimeMaxMs, `the 18 vintages took ${(milliseconds / 1000).toFixed(1)} s`);
  seen(`18 vintages of FRED-MD load in ${(milliseconds / 1000).toFixed(1)} s`);

  const published: [string, string, number | undefined][] = [
    ['2020-03-31', '2020-03', undefined],
    ['2020-04-30', '2020-03', 151786],
    ['2020-05-31', '2020-03', 151582],
    ['2020-06-30', '2020-03', 151090],
    ['2020-04-30', '2020-04', undefined],
    ['2020-05-31', '2020-04', 131045],
    ['2020-06-30', '2020-04', 130403],
    ['2020-07-31', '2020-04', 130303],
    ['2020-12-31', '2020-04', 130303],
    ['2020-06-29', '2020-04', 131045], // the day before a vintage the one before it still holds
  ];
  for (const [vintage, month, value] of published) {
    const [point] = await points(instance, `/v1/series/PAYEMS?from=${month}&to=${month}&vintage=${vintage}`);
    assert.equal(point?.value, value, `PAYEMS of ${month} as of ${vintage}`);
    seen(`PAYEMS of ${month} as of ${vintage} is ${value ?? 'absent'}`);
  }
  const before = await points(instance, '/v1/series/PAYEMS?limit=100000');
  for (const name of files) {
    const again = JSON.parse(await load(name)) as Record<string, number>;
    assert.deepEqual(
      [again['points_new'], again['points_revised'], again['points_deleted']],
      [0, 0, 0],
      name,
    );
  }
  assert.deepEqual(await points(instance, '/v1/series/PAYEMS?limit=100000'), before);
  assert.equal(before.at(-1)?.date, periodEnd(addMonths('2020-12-01', -1), 'monthly'));
  seen('loading all eighteen a second time, the oldest first, changes nothing');
}

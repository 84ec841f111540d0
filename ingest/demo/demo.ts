// The built-in demo data: files made by a seeded generator, all of it synthetic. A value depends only on the seed and its own date, so a
// later day only adds rows.
import { addDays, addMonths } from '../../kernel/dates.ts';
import { periodEnd } from '../../domain/periods.ts';
import { commodityFiles } from './demo-commodities.ts';
import { calendarFile, releaseDay } from './demo-calendar.ts';
import { random, source, type DemoFile } from './demo-file.ts';
import { fundFiles } from './demo-funds.ts';
import { marketFiles } from './demo-markets.ts';
import { revisedFile, revisedSeries } from './demo-revisions.ts';
import { entryAt } from '../../kernel/entries.ts';

const firstMonth = '2015-01-31';
const firstDay = '2022-01-03';
/** The guides ask for the data known on 2026-09-30, so the first vintage is never later. */
const firstVintage = '2026-07-16';

/**
 * The demo files in the order of loading: metadata, then each vintage.
 * @param today `YYYY-MM-DD`; the data ends shortly before it.
 */
export function demoFiles(today: string): DemoFile[] {
  const isReleased = Number(today.slice(8)) > releaseDay; // the figures of the month before
  const lastMonth = periodEnd(addMonths(`${today.slice(0, 7)}-01`, isReleased ? -1 : -2), 'monthly');
  const yesterday = addDays(today, -1);
  const recent = [3, 2, 1, 0].map((monthsAgo) =>
    addDays(periodEnd(addMonths(lastMonth, -monthsAgo), 'monthly'), releaseDay),
  );
  const vintages = [...(entryAt(recent, 0) > firstVintage ? [firstVintage] : []), ...recent];
  return [
    { dataset: 'series', lines: seriesLines },
    ...vintages.flatMap((vintage) => [
      observations(vintage, [], () => macroPoints(vintage)),
      observations(vintage, ['region'], () => exportPoints(vintage)),
    ]),
    revisedFile(lastMonth),
    observations(yesterday, [], () => policyRatePoints(yesterday)),
    observations(yesterday, ['currency', 'side'], () => exchangeRatePoints(yesterday)),
    ...commodityFiles(yesterday),
    ...fundFiles(yesterday),
    ...marketFiles(yesterday),
    footnotesFile,
    calendarFile(today),
  ];
}

function* seriesLines(): Iterable<string> {
  yield 'series_id,name,unit,frequency,source,geography,seasonal_adjustment,category,description,licence,licence_url,methodology_url';
  const rows = [
    ['DEMO.CPI', 'Consumer price index', 'Index (2015 = 100)', 'monthly', 'NSA', 'Prices'],
    ['DEMO.UNEMPLOYMENT', 'Unemployment rate', 'Percent', 'monthly', 'SA', 'Labour'],
    [revisedSeries, 'Employees on payrolls', 'Thousand persons', 'monthly', 'SA', 'Labour'],
    ['DEMO.GDP', 'Gross domestic product at constant prices', 'Billion DMD', 'quarterly', 'SA', 'Output'],
    ['DEMO.EXPORTS', 'Exports of goods by region', 'Million DMD', 'monthly', 'NSA', 'Trade'],
    ['DEMO.FX', 'Exchange rates of the demo dollar', 'DMD per unit', 'daily', 'NSA', 'Money'],
    ['DEMO.POLICY-RATE', 'Policy rate', 'Percent', 'irregular', 'NSA', 'Money'],
  ];
  for (const [id, name, unit, frequency, adjustment, category] of rows) {
    yield `${id},${name},${unit},${frequency},${source},Demoland,${adjustment},${category},Synthetic: made by a seeded generator and true of nowhere,${licence},${methods}`;
  }
}

const licence = 'CC0 1.0,https://creativecommons.org/publicdomain/zero/1.0/';
const methods = 'https://example.org/demoland/methods';

const footnotesFile: DemoFile = {
  dataset: 'footnotes',
  *lines() {
    yield 'series_id,date,dims,mark,text';
    yield 'DEMO.CPI,,,1,Synthetic. The basket is that of 2015; it was never renewed.';
    yield 'DEMO.CPI,2020-04,,2,"Many shops were closed, so a third of the prices was estimated."';
    yield 'DEMO.CPI,2020-05,,2,"Many shops were closed, so a third of the prices was estimated."';
    yield 'DEMO.GDP,,,1,Synthetic. Seasonally adjusted by the generator itself.';
    yield 'DEMO.EXPORTS,2021-03,region:Overseas,a,Ships were held up at the canal: part of the month is in April.';
  },
};

/** A row of an observations file: series, date, value, then the dimension values. */
type Point = readonly string[];

function observations(
  vintage: string,
  dimensions: readonly string[],
  points: () => Iterable<Point>,
): DemoFile {
  return {
    dataset: 'observations',
    vintage,
    *lines() {
      yield ['series_id', 'date', 'value', ...dimensions].join(',');
      for (const point of points()) yield point.join(',');
    },
  };
}

function* months(vintage: string): Iterable<string> {
  const last = periodEnd(addMonths(vintage, -1), 'monthly');
  for (let month = firstMonth; month <= last; month = periodEnd(addMonths(month, 1), 'monthly')) yield month;
}

/** The factor of a vintage's estimate: its newest month is a first estimate, which is revised a month later. */
function estimateError(month: string, vintage: string): number {
  const isFirstEstimate = month > periodEnd(addMonths(vintage, -2), 'monthly');
  return isFirstEstimate ? 1 + 0.004 * (random(`${month} first estimate`)() - 0.5) : 1;
}

function* macroPoints(vintage: string): Iterable<Point> {
  const draw = random('macro');
  let [prices, output, jobless] = [100, 400, 6];
  for (const month of months(vintage)) {
    prices *= 1 + 0.004 + 0.003 * (draw() - 0.5);
    output *= 1 + 0.002 + 0.006 * (draw() - 0.5);
    jobless = Math.max(2, jobless + 0.3 * (draw() - 0.5));
    const error = estimateError(month, vintage);
    yield ['DEMO.CPI', month, (prices * error).toFixed(2)];
    yield ['DEMO.UNEMPLOYMENT', month, jobless.toFixed(1)];
    if (Number(month.slice(5, 7)) % 3 === 0) yield ['DEMO.GDP', month, (output * error).toFixed(1)];
  }
}

function* exportPoints(vintage: string): Iterable<Point> {
  const draw = random('exports');
  const usual = { North: 50, South: 30, Overseas: 15 };
  for (const month of months(vintage)) {
    for (const [region, amount] of Object.entries(usual)) {
      const value = amount * (0.8 + 0.4 * draw()) * estimateError(month, vintage);
      yield ['DEMO.EXPORTS', month, value.toFixed(1), region];
    }
  }
}

/** The days on which the rate was set: every thirteen weeks. */
function* policyRatePoints(lastDay: string): Iterable<Point> {
  const draw = random('policy rate');
  let rate = 8;
  for (let day = firstDay; day <= lastDay; day = addDays(day, 91)) {
    rate += entryAt([-0.5, -0.25, 0, 0.25, 0.5], Math.floor(draw() * 5));
    yield ['DEMO.POLICY-RATE', day, rate.toFixed(2)];
  }
}

/** Working days only, both buying and selling. */
function* exchangeRatePoints(lastDay: string): Iterable<Point> {
  const draw = random('exchange rates');
  const rates: Record<string, number> = { EUR: 1.1, USD: 1, GBP: 1.3 };
  for (let day = firstDay, n = 0; day <= lastDay; day = addDays(day, 1), n += 1) {
    if (n % 7 > 4) continue;
    for (const [currency, rate] of Object.entries(rates)) {
      const middle = rate * (1 + 0.008 * (draw() - 0.5));
      rates[currency] = middle;
      yield ['DEMO.FX', day, (middle * 0.998).toFixed(4), currency, 'buy'];
      yield ['DEMO.FX', day, (middle * 1.002).toFixed(4), currency, 'sell'];
    }
  }
}

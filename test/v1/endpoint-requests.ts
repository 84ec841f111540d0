// Requests for every endpoint of the data-api: a table of parameters, compared with those that the service accepts. The values of `sort` and `fields`
// are read from the error for a wrong value, which lists the allowed ones.
import { nameId, numberOfNameId } from '../../domain/name-id.ts';
import type { DataService } from '../services/data-service.ts';

export interface Endpoint {
  /** The route as in data-api/routes.ts. */
  route: string;
  /** The path of the requests, with the required parameters. */
  path: string;
  /** Parameter → values; `requestsFor` adds the parameters of every list. */
  values: Readonly<Record<string, readonly string[]>>;
  /** Parameters that are required next to others: parameter → the additional ones. */
  alsoRequired?: Readonly<Record<string, string>>;
}

const window = { from: ['2024-01-02', '2024-04-30', '2024'], to: ['2024-05-20', '2024-Q2'] };
const transforms = [
  ...['pct_change', 'yoy', 'mom', '3ma', 'index', 'change', 'change_yoy', 'annualised', 'log', 'log_change'],
  ...['log_change_annualised', 'cumulative', 'zscore'],
];
const aggregated = { frequency: ['quarterly', 'annual'], aggregate: ['sum', 'last'], incomplete: ['true'] };
const points = {
  ...window,
  transform: transforms,
  base: ['2024-01', '2024-03'],
  vintage: ['2024-04-20', '2024-05-20'],
  include: ['notes'],
  release: ['first'],
  include_missing: ['true', 'false'],
  version: ['2', '99'],
  ...aggregated,
  last: ['3'],
};
const { version: _version, ...manyPoints } = points;
const { include_missing: _missing, include: _include, ...charted } = points;
const { include: _notes, ...cited } = points;
const look = { width: ['240', '640'], height: ['300'], theme: ['light', 'dark'], log: ['true', 'false'] };
const indexed = {
  base: 'transform=index',
  version: 'vintage=2024-04-20',
  aggregate: 'frequency=quarterly',
  incomplete: 'frequency=quarterly',
};
const prices = { price_type: ['wholesale', 'farmgate'], stat: ['min', 'max'] };
const funds = {
  amc: ['alpha', 'nobody'],
  category: ['Equity', 'Money market'],
  asset_class: ['equity', 'money_market'],
  shariah: ['true', 'false'],
  structure: ['open_end', 'closed_end'],
  risk_profile: ['high', 'low'],
  status: ['active', 'suspended', 'merged', 'inactive'],
  currency: ['PKR', 'usd'],
};
const returnPeriods = ['1d', '7d', '15d', '1m', '3m', '6m', '1y', '2y', '3y', '5y', '10y', 'mtd', 'ytd', 'fytd', 'since_inception']; // prettier-ignore
const figures = [
  'aum',
  'ter_pct',
  'age_years',
  ...returnPeriods.map((period) => `return_${period}_pct`),
  'volatility_1y_pct',
  'sharpe_1y',
  'max_drawdown_1y_pct',
];
const bounds = figures.flatMap((name) => [
  [`${name}_min`, ['2.5']],
  [`${name}_max`, ['2.5']],
]);

const asJson = 'file_type=json';
const ofFred = {
  series_id: ['cpi'],
  file_type: ['xml'],
  realtime_start: ['2024-04-20'],
  realtime_end: ['2024-05-20', '9999-12-31'],
};

const { series_id: _id, ...ofFoundSeries } = ofFred;

const numberOfName = (name: string, within = '') => String(numberOfNameId(nameId(name, within)));
const consumerPrices = numberOfName('Consumer prices', 'Office');

const ofListedSeries = {
  ...ofFoundSeries,
  order_by: ['title', 'last_updated'],
  sort_order: ['desc'],
  filter_variable: ['frequency'],
  filter_value: ['Monthly', 'Daily'],
  tag_names: ['prices'],
  exclude_tag_names: ['prices'],
  offset: ['1'],
};
const ofFilters = { filter_variable: 'filter_value=Monthly', filter_value: 'filter_variable=frequency' };

export const endpoints: readonly Endpoint[] = [
  {
    route: '/v1/series',
    path: '/v1/series?ids=CPI,TRADES',
    values: {
      ids: ['CPI', 'TRADES,CPI', 'CPI,PRICES'],
      ...manyPoints,
      dims: [],
      layout: ['long', 'wide'],
    },
    alsoRequired: { ...indexed, layout: 'format=csv' },
  },
  { route: '/v1/series/:id', path: '/v1/series/CPI', values: { ...points, dims: [] }, alsoRequired: indexed },
  {
    route: '/v1/series/:id',
    path: '/v1/series/TRADES',
    values: { ...points, dims: ['side:buy', 'side:sell,city:Lahore', 'city:Lahore|Karachi'] },
    alsoRequired: indexed,
  },
  {
    route: '/v1/series/:id',
    path: '/v1/series/BENCH',
    values: { ...points, dims: [] },
    alsoRequired: indexed,
  },
  {
    route: '/v1/series/:id/latest',
    path: '/v1/series/CPI/latest',
    values: {
      from: ['2024-04-30'],
      transform: transforms,
      base: ['2024-01'],
      vintage: points.vintage,
      ...aggregated,
      include: ['notes'],
      version: ['2'],
      dims: [],
    },
    alsoRequired: indexed,
  },
  {
    route: '/v1/series/:id/latest',
    path: '/v1/series/TRADES/latest',
    values: {
      from: ['2024-05-01'],
      transform: ['pct_change', 'index'],
      base: ['2024-04-30'],
      vintage: points.vintage,
      ...aggregated,
      include: ['notes'],
      version: ['4'],
      dims: ['side:buy', 'side:sell'],
    },
    alsoRequired: indexed,
  },
  {
    route: '/v1/series/:id/chart.svg',
    path: '/v1/series/TRADES/chart.svg',
    values: { ...charted, dims: ['side:buy', 'side:sell,city:Lahore'], ...look },
    alsoRequired: indexed,
  },
  {
    route: '/v1/series/:id/chart.png',
    path: '/v1/series/CPI/chart.png?width=300&height=240',
    values: { ...charted, dims: [], ...look, scale: ['1', '2'] },
    alsoRequired: indexed,
  },
  {
    route: '/v1/series/:id/cite',
    path: '/v1/series/TRADES/cite',
    values: { ...cited, dims: ['side:buy', 'side:sell,city:Lahore'], format: ['bibtex', 'csl'] },
    alsoRequired: indexed,
  },
  { route: '/v1/series/:id/cite', path: '/v1/series/CPI/cite', values: { ...cited, dims: [], format: [] }, alsoRequired: indexed }, // prettier-ignore
  { route: '/v1/series/:id/vintages', path: '/v1/series/CPI/vintages', values: window },
  ...['/v1/series/:id/triangle', '/v1/catalog/:id/triangle'].map((route) => ({
    route,
    path: route.replace(':id', 'CPI'),
    values: {
      ...window,
      vintages_from: ['2024-05', '2024-05-02'],
      vintages_to: ['2024-04', '2024-05-01'],
      last: ['1', '2'],
      layout: ['wide', 'long'],
      include_missing: ['true', 'false'],
      dims: [],
    },
  })),
  {
    route: '/v1/series/:id/triangle',
    path: '/v1/series/TRADES/triangle',
    values: {
      from: ['2024-04-30'],
      to: [],
      vintages_from: [],
      vintages_to: [],
      last: ['1'],
      layout: ['wide'],
      include_missing: ['true'],
      dims: ['side:buy', 'side:sell,city:Lahore|Karachi'],
    },
  },
  {
    route: '/v1/commodities',
    path: '/v1/commodities?item=rice',
    values: {
      item: ['milk', 'salt'],
      city: ['lahore', 'karachi', 'national'],
      ...prices,
      dims: ['city:lahore|karachi', 'price_type:wholesale'],
      ...points,
    },
    alsoRequired: indexed,
  },
  {
    route: '/v1/commodities',
    path: '/v1/commodities?item=rice&city=lahore',
    values: {
      item: [],
      city: [],
      ...prices,
      dims: ['city:lahore|karachi', 'price_type:wholesale'],
      ...points,
    },
    alsoRequired: indexed,
  },
  {
    route: '/v1/commodities/by-city',
    path: '/v1/commodities/by-city?item=rice',
    values: {
      item: ['milk'],
      ...prices,
      ...window,
      date: ['2024-05-23', '2024-05-20', '2024-05'],
      cities: ['lahore', 'karachi,lahore'],
      vintage: ['2024-06-03', '2024-05-20'],
      dims: ['city:lahore', 'stat:min'],
      transform: transforms,
    },
  },
  {
    route: '/v1/commodities/items',
    path: '/v1/commodities/items',
    values: { category: ['cereals', 'dairy'] },
  },
  {
    route: '/v1/commodities/cities',
    path: '/v1/commodities/cities',
    values: { province: ['Punjab', 'Sindh'] },
  },
  { route: '/v1/amcs', path: '/v1/amcs', values: { q: ['alpha', 'GF', '_', '100%'] } },
  { route: '/v1/amcs/:amc', path: '/v1/amcs/alpha', values: {} },
  { route: '/v1/funds', path: '/v1/funds', values: { ...funds, q: ['fund', '_', '%'] } },
  {
    route: '/v1/funds/screener',
    path: '/v1/funds/screener',
    values: {
      ...funds,
      rating_min: ['A', 'AA+'],
      rating_max: ['A', 'AA+'],
      as_of_min: ['2024-06-28'],
      as_of_max: ['2024-06-28'],
      basis: ['by_length', 'absolute', 'annualized_simple', 'annualized_compound'],
      include_stale: ['true', 'false'],
      ...Object.fromEntries(bounds),
    },
  },
  { route: '/v1/funds/:id', path: '/v1/funds/share', values: {} },
  {
    route: '/v1/funds/:id/nav',
    path: '/v1/funds/share/nav',
    values: {
      ...window,
      adjusted: ['true', 'false'],
      frequency: ['daily', 'weekly', 'monthly', 'quarterly', 'annual'],
    },
  },
  {
    route: '/v1/funds/:id/returns',
    path: '/v1/funds/share/returns',
    values: {
      as_of: ['2024-06-03', '2024-06-28'],
      basis: ['auto', 'by_length', 'absolute', 'annualized_simple', 'annualized_compound'],
      benchmark: ['true', 'false'],
      include_stale: ['true', 'false'],
    },
  },
  { route: '/v1/funds/:id/payouts', path: '/v1/funds/cash/payouts', values: { from: ['2023-12'], to: ['2023-11'], type: ['cash', 'reinvest'] } }, // prettier-ignore
  { route: '/v1/funds/:id/payouts', path: '/v1/funds/share/payouts', values: { from: [], to: [], type: [] } },
  { route: '/v1/funds/:id/expenses', path: '/v1/funds/cash/expenses', values: { from: ['2024'], to: ['2023'], period_type: ['mtd', 'ytd'] } }, // prettier-ignore
  { route: '/v1/funds/:id/expenses', path: '/v1/funds/share/expenses', values: { from: [], to: [], period_type: [] } }, // prettier-ignore
  {
    route: '/v1/funds/:id/portfolio',
    path: '/v1/funds/share/portfolio',
    values: {
      date: ['2024-05-15', '2024-06-15'],
      section: ['asset_allocation', 'credit_quality', 'sectors', 'holdings'],
    },
  },
  {
    route: '/v1/funds/:id/analytics',
    path: '/v1/funds/share/analytics',
    values: {
      window: ['1y', '3y', '5y', 'si'],
      frequency: ['daily', 'monthly'],
      as_of: ['2024-06-03'],
      risk_free: ['PRICES'],
      benchmark: ['CPI'],
    },
  },
  {
    route: '/v1/securities',
    path: '/v1/securities',
    values: {
      type: ['tfc', 'sukuk'],
      issuer: ['bank', '_', '100%'],
      rating_min: ['A', 'AA+'],
      maturity_from: ['2026', '2026-01-15'],
      maturity_to: ['2025', '2026-01-15'],
      shariah: ['true', 'false'],
      traded: ['true', 'false'],
      status: ['active', 'matured'],
      currency: ['PKR', 'usd'],
    },
  },
  {
    route: '/v1/securities/trades',
    path: '/v1/securities/trades',
    values: {
      code: ['TFC-1', 'SUKUK-1'],
      from: ['2024-06-21'],
      to: ['2024-06-20'],
      type: ['tfc', 'sukuk'],
      venue: ['OTC', 'Exchange'],
      min_amount: ['1000000', '2000000.50'],
    },
  },
  { route: '/v1/securities/:code/prices', path: '/v1/securities/TFC-1/prices', values: { from: ['2024-06-21'], to: ['2024-06-20'] } }, // prettier-ignore
  {
    route: '/v1/fixed-income/auctions',
    path: '/v1/fixed-income/auctions',
    values: {
      instrument: ['mtb', 'pib_fixed'],
      tenor: ['3M', '12M', '5Y'],
      from: ['2024-05-29'],
      to: ['2024-05-29'],
      status: ['held', 'announced', 'rejected'],
      bidding: ['competitive', 'non_competitive'],
    },
  },
  {
    route: '/v1/trade',
    path: '/v1/trade',
    values: {
      flow: ['export', 'import', 'balance'],
      period: ['2024-04', '2023'],
      from: ['2024-04', '2023'],
      to: ['2024-03', '2023'],
      frequency: ['M', 'A'],
      reporter: ['PAK', 'nzl'],
      partner: ['CHN', 'world'],
      commodity: ['010121', 'TOTAL'],
      classification: ['hs', 'sitc'],
      level: ['2', '4', '6', '8', '10'],
      aggregate_by: [
        'partner',
        'commodity',
        'period',
        'partner,commodity',
        'partner,quarter',
        'commodity,year',
      ],
      fiscal_year_end: ['06-30', '12-31'],
      basis: ['customs', 'bop'],
      currency: ['USD', 'NZD'],
    },
    alsoRequired: {
      flow: 'period=2024-04',
      aggregate_by: 'period=2024-04',
      fiscal_year_end: 'period=2024-04&aggregate_by=partner,fiscal_year',
      level: 'period=2024-04',
    },
  },
  {
    route: '/v1/catalog',
    path: '/v1/catalog',
    values: {
      q: ['prices', 'consumer pri'],
      category: ['prices', 'prices/consumer', 'prices%'],
      source: ['Office', 'Bureau'],
      frequency: ['monthly', 'daily'],
      geography: ['Pakistan', 'India'],
      tag: ['prices', 'inflation'],
      facets: ['true', 'false'],
    },
  },
  { route: '/v1/catalog/:id', path: '/v1/catalog/CPI', values: {} },
  { route: '/v1/catalog/:id', path: '/v1/catalog/TRADES', values: {} },
  { route: '/v1/catalog/:id', path: '/v1/catalog/commodity.rice', values: {} },
  {
    route: '/v1/catalog/:id/chart.svg',
    path: '/v1/catalog/TRADES/chart.svg',
    values: { dims: ['side:buy'], limit: ['1', '40'], ...look },
  },
  {
    route: '/v1/catalog/:id/preview',
    path: '/v1/catalog/CPI/preview',
    values: { limit: ['1', '36', '1000'], include_missing: ['true', 'false'], dims: [] },
  },
  {
    route: '/v1/catalog/:id/preview',
    path: '/v1/catalog/TRADES/preview',
    values: { limit: ['2'], include_missing: [], dims: ['side:buy', 'side:sell,city:Lahore|Karachi'] },
  },
  {
    route: '/v1/previews',
    path: '/v1/previews?ids=CPI,TRADES',
    values: { ids: ['TRADES', 'commodity.rice,CPI', 'EMPTY'], limit: ['1', '36'] },
  },
  {
    route: '/v1/search',
    path: '/v1/search?q=prices',
    values: {
      q: ['fund', 'price', 'consumr'],
      type: ['series', 'fund'],
      frequency: ['monthly', 'quarterly'],
      source: ['Office', 'Bureau'],
      category: ['prices', 'prices/consumer'],
      facets: ['true', 'false'],
    },
  },
  {
    route: '/v1/updates',
    path: '/v1/updates',
    values: {
      since: ['2024-06-01', '2024-07-01T12:00:00Z'],
      cursor: ['0'],
      type: ['series.updated', 'series.renamed,dataset.updated'],
      series: ['CPI', 'C*'],
      source: ['Office', 'Bureau'],
      release: [nameId('Consumer prices', 'Office')],
      q: ['prices'],
      limit: ['1', '10'],
      format: ['json', 'ndjson', 'atom'],
    },
  },
  {
    route: '/v1/calendar',
    path: '/v1/calendar',
    values: {
      from: ['2024-06-01', '2024-07'],
      to: ['2024-07-04', '2024-08'],
      source: ['Office', 'Bureau'],
      series: ['CPI', 'PRICES'],
      status: ['scheduled', 'released', 'delayed', 'cancelled'],
      importance: ['high', 'low'],
    },
  },
  {
    route: '/v1/sources',
    path: '/v1/sources',
    values: { q: ['office', 'nobody'], state: ['current', 'late', 'due', 'unscheduled', 'empty'] },
  },
  { route: '/v1/sources/:id', path: `/v1/sources/${nameId('Office')}`, values: {} },
  {
    route: '/v1/releases',
    path: '/v1/releases',
    values: { source: ['Office', 'Nobody'], frequency: ['monthly', 'daily'], series: ['CPI', 'NONE'] },
  },
  { route: '/v1/releases/:id', path: `/v1/releases/${nameId('Consumer prices', 'Office')}`, values: {} },
  { route: '/v1/front-page', path: '/v1/front-page', values: {} },
  { route: '/v1/status', path: '/v1/status', values: {} },
  { route: '/fred/series', path: `/fred/series?series_id=CPI&${asJson}`, values: { ...ofFred } },
  {
    route: '/fred/series/observations',
    path: `/fred/series/observations?series_id=CPI&${asJson}`,
    values: {
      ...ofFred,
      observation_start: ['2024-02-01'],
      observation_end: ['2024-03-31'],
      frequency: ['q', 'a'],
      aggregation_method: ['sum', 'eop'],
      units: ['chg', 'pc1'],
      output_type: ['2', '3', '4'],
      sort_order: ['desc'],
      vintage_dates: ['2024-05-20', '2024-04-20,2024-05-20'],
      offset: ['1'],
    },
    alsoRequired: { aggregation_method: 'frequency=q' },
  },
  {
    route: '/fred/series/search',
    path: `/fred/series/search?search_text=prices&${asJson}`,
    values: { ...ofListedSeries, search_text: ['consumer'], search_type: ['series_id'] },
    alsoRequired: ofFilters,
  },
  {
    route: '/graph/fredgraph.csv',
    path: '/graph/fredgraph.csv?id=CPI',
    values: {
      id: ['CPI,BENCH'],
      cosd: ['2024-02-01'],
      coed: ['2024-03-31'],
      fq: ['q'],
      fam: ['sum'],
      transformation: ['chg', 'log'],
      vintage_date: ['2024-05-20'],
    },
    alsoRequired: { fam: 'fq=q' },
  },
  {
    route: '/fred/series/vintagedates',
    path: `/fred/series/vintagedates?series_id=CPI&${asJson}`,
    values: { ...ofFred, sort_order: ['desc'], offset: ['1'] },
  },
  {
    route: '/fred/series/release',
    path: `/fred/series/release?series_id=CPI&${asJson}`,
    values: { ...ofFred, series_id: ['cpi', 'PRICES', 'BENCH'] },
  },
  {
    route: '/fred/series/categories',
    path: `/fred/series/categories?series_id=CPI&${asJson}`,
    values: { ...ofFred, series_id: ['cpi', 'EMPTY', 'BENCH'] },
  },
  {
    route: '/fred/series/tags',
    path: `/fred/series/tags?series_id=CPI&${asJson}`,
    values: { ...ofFred, series_id: ['cpi', 'BENCH'], order_by: ['name'], sort_order: ['asc', 'desc'] },
  },
  {
    route: '/fred/series/updates',
    path: `/fred/series/updates?${asJson}`,
    values: {
      ...ofFoundSeries,
      filter_value: ['all'],
      start_time: ['202405020000'],
      end_time: ['202405022359'],
      offset: ['1'],
    },
    alsoRequired: { start_time: 'end_time=202407010000', end_time: 'start_time=202401010000' },
  },
  {
    route: '/fred/releases',
    path: `/fred/releases?${asJson}`,
    values: { ...ofFoundSeries, order_by: ['name', 'press_release'], sort_order: ['desc'], offset: ['1'] },
  },
  {
    route: '/fred/releases/dates',
    path: `/fred/releases/dates?${asJson}`,
    values: {
      file_type: ['xml'],
      realtime_start: ['2024-07-01', '1776-07-04'],
      realtime_end: ['2024-06-30', '2024-07-04'],
      include_release_dates_with_no_data: ['true', 'false'],
      order_by: ['release_id', 'release_name'],
      sort_order: ['asc'],
      offset: ['1'],
    },
  },
  {
    route: '/fred/release',
    path: `/fred/release?release_id=${consumerPrices}&${asJson}`,
    values: { ...ofFoundSeries, release_id: [numberOfName('Prices', 'Bureau')] },
  },
  {
    route: '/fred/release/series',
    path: `/fred/release/series?release_id=${consumerPrices}&${asJson}`,
    values: { ...ofListedSeries, release_id: [numberOfName('Prices', 'Bureau')] },
    alsoRequired: ofFilters,
  },
  {
    route: '/fred/release/dates',
    path: `/fred/release/dates?release_id=${consumerPrices}&${asJson}`,
    values: {
      release_id: [numberOfName('Old prices', 'Office')],
      file_type: ['xml'],
      realtime_start: ['2024-07-04'],
      realtime_end: ['2024-07-04'],
      include_release_dates_with_no_data: ['true', 'false'],
      sort_order: ['desc'],
      offset: ['1'],
    },
  },
  {
    route: '/fred/release/sources',
    path: `/fred/release/sources?release_id=${consumerPrices}&${asJson}`,
    values: { ...ofFoundSeries, release_id: [numberOfName('Prices', 'Bureau')] },
  },
  {
    route: '/fred/sources',
    path: `/fred/sources?${asJson}`,
    values: { ...ofFoundSeries, order_by: ['name'], sort_order: ['desc'], offset: ['1'] },
  },
  {
    route: '/fred/source',
    path: `/fred/source?source_id=${numberOfName('Office')}&${asJson}`,
    values: { ...ofFoundSeries, source_id: [numberOfName('Bureau')] },
  },
  {
    route: '/fred/source/releases',
    path: `/fred/source/releases?source_id=${numberOfName('Office')}&${asJson}`,
    values: {
      ...ofFoundSeries,
      source_id: [numberOfName('Bureau')],
      order_by: ['name'],
      sort_order: ['desc'],
      offset: ['1'],
    },
  },
  {
    route: '/fred/category',
    path: `/fred/category?${asJson}`,
    values: { ...ofFoundSeries, category_id: [numberOfName('prices'), numberOfName('prices/consumer')] },
  },
  {
    route: '/fred/category/children',
    path: `/fred/category/children?${asJson}`,
    values: { ...ofFoundSeries, category_id: [numberOfName('prices'), numberOfName('prices/consumer')] },
  },
  {
    route: '/fred/category/series',
    path: `/fred/category/series?category_id=0&${asJson}`,
    values: { ...ofListedSeries, category_id: [numberOfName('prices'), numberOfName('prices/consumer')] },
    alsoRequired: ofFilters,
  },
  {
    route: '/fred/tags',
    path: `/fred/tags?${asJson}`,
    values: {
      ...ofFoundSeries,
      tag_names: ['prices'],
      tag_group_id: ['gen', 'geo'],
      search_text: ['infl'],
      order_by: ['name'],
      sort_order: ['asc'],
      offset: ['1'],
    },
  },
  {
    route: '/fred/tags/series',
    path: `/fred/tags/series?tag_names=prices&${asJson}`,
    values: {
      ...ofFoundSeries,
      tag_names: ['inflation', 'inflation;prices'],
      exclude_tag_names: ['inflation'],
      order_by: ['title'],
      sort_order: ['desc'],
      offset: ['1'],
    },
  },
  {
    route: '/fred/v2/release/observations',
    path: `/fred/v2/release/observations?release_id=${consumerPrices}`,
    values: {
      release_id: [numberOfName('Rice', 'Price Office')],
      next_cursor: ['CPI,2024-02-01', 'A,2024-02-01'],
    },
  },
];

const listValues: Readonly<Record<string, readonly string[]>> = {
  limit: ['1', '2', '1000'],
  count_only: ['true', 'false'],
  ids: ['1', '2,1'],
  updated_after: ['2024-05-02', '2024-06-21', '2024-06-30'],
};

/** The declared parameters of the endpoint. */
export async function declaredParameters(service: DataService, path: string): Promise<string[]> {
  const { known = '' } =
    /Known names: (?<known>[^"]*?)\.$/.exec(await refusalOf(service, path, 'zzz=1'))?.groups ?? {};
  return known === '' ? [] : known.split(', ');
}

/** The allowed words of a parameter; empty if it does not list them. */
export async function allowedValues(
  service: DataService,
  path: string,
  parameter: string,
): Promise<string[]> {
  const message = await refusalOf(service, path, `${parameter}=zzz`);
  const { words = '' } =
    /must be (?:one|some) of (?<words>.*?)(?:, with a comma.*)?\.$/.exec(message)?.groups ?? {};
  return words === '' ? [] : words.split(', ');
}

/** Every request that differs from the plain one by one parameter, plus the parameters that it requires. */
export async function requestsFor(
  service: DataService,
  { path, values, alsoRequired = {} }: Endpoint,
): Promise<string[]> {
  const requests = [path];
  for (const parameter of await declaredParameters(service, path)) {
    const known = values[parameter] ?? listValues[parameter];
    for (const value of known ?? (await wordsOf(service, path, parameter))) {
      const more = alsoRequired[parameter];
      requests.push(withParameter(more === undefined ? path : extended(path, more), parameter, value));
    }
  }
  return [...new Set(requests)];
}

/** The same request with a parameter set. */
export function withParameter(path: string, parameter: string, value: string): string {
  const url = new URL(path, 'http://host');
  url.searchParams.set(parameter, value);
  return url.pathname + url.search;
}

async function wordsOf(service: DataService, path: string, parameter: string): Promise<string[]> {
  if (parameter === 'cursor') return [];
  if (/_(?:min|max)$/.test(parameter)) {
    const refusal = await refusalOf(service, path, `${parameter}=zzz`);
    return [refusal.includes('must be a number') ? '2.5' : '2024-05-02'];
  }
  const words = await allowedValues(service, path, parameter);
  const [first = '', last = ''] = [words[0], words.at(-1)];
  return parameter === 'fields' ? [first, last, `${last},${first}`] : words;
}

function extended(path: string, parameters: string): string {
  return path + (path.includes('?') ? '&' : '?') + parameters;
}

async function refusalOf(service: DataService, path: string, parameters: string): Promise<string> {
  const { json, text } = await service.call(extended(withoutParameter(path, parameters), parameters));
  if (text.startsWith('<?xml')) return (/message="(.*)"/.exec(text)?.[1] ?? '').replaceAll('&quot;', '"');
  const refused = json as { error?: { message: string }; error_message?: string } | undefined;
  return refused?.error?.message ?? refused?.error_message ?? '';
}

/** A parameter may occur only once, so the tested value replaces the present one. */
function withoutParameter(path: string, parameters: string): string {
  const url = new URL(path, 'http://host');
  for (const name of new URLSearchParams(parameters).keys()) url.searchParams.delete(name);
  return url.pathname + url.search;
}

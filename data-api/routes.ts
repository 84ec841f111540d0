// The whole URL table of this service. The gateway decides which paths need a key (config/gateway.config.yml).
import { getAmc, getAmcs } from './funds/amcs.ts';
import { getAuctions } from './markets/auctions.ts';
import { getBulkFile } from './bulk/file.ts';
import { getBulk } from './bulk/list.ts';
import { getCalendar } from './discovery/calendar.ts';
import { getCitation } from './citation/cite.ts';
import { getPreviewChart } from './charts/preview-chart.ts';
import { getSeriesChartPng, getSeriesChartSvg } from './charts/series-chart.ts';
import { getCommoditiesByCity } from './commodities/commodities-by-city.ts';
import { getCommodities, getCommodityCities, getCommodityItems } from './commodities/commodities.ts';
import type { Endpoint } from './endpoint.ts';
import { getCatalog, getCatalogEntry, getStatus } from './discovery/discovery.ts';
import * as categories from './fred/categories.ts';
import { getFrontPage } from './front-page/front-page.ts';
import { getFredObservations, getFredVintageDates } from './fred/observations.ts';
import { getFredGraph } from './fred/graph.ts';
import * as fredReleases from './fred/releases.ts';
import { getFredSearch, getFredUpdates } from './fred/series-lists.ts';
import { getFredSeries } from './fred/series.ts';
import * as fredSources from './fred/sources.ts';
import { getFredSeriesTags, getFredTags, getFredTagsSeries } from './fred/tags.ts';
import { getFredReleaseObservations } from './fred/v2.ts';
import { getFundAnalytics, getFundReturns } from './funds/fund-performance.ts';
import { getFundPortfolio } from './funds/fund-portfolio.ts';
import { getFundExpenses, getFundNavs, getFundPayouts } from './funds/fund-records.ts';
import { getFund, getFundScreener, getFunds } from './funds/funds.ts';
import { getPreview, getPreviews } from './discovery/preview.ts';
import { getRelease, getReleases } from './discovery/releases.ts';
import { getSearch } from './search/search.ts';
import { getSource, getSources } from './discovery/sources.ts';
import { getSecurities, getSecurityPrices, getSecurityTrades } from './markets/securities.ts';
import { getManySeries, querySeries } from './series/many-series.ts';
import { getLatest, getSeries } from './series/series.ts';
import { getTrade } from './markets/trade.ts';
import { getOpenTriangle, getTriangle } from './triangle/triangle.ts';
import { getVintages } from './series/vintages.ts';
import { getUpdates } from './updates/updates.ts';

export const endpoints = {
  '/v1/series': getManySeries,
  '/v1/series/query': querySeries,
  '/v1/series/:id': getSeries,
  '/v1/series/:id/latest': getLatest,
  '/v1/series/:id/cite': getCitation,
  '/v1/series/:id/chart.svg': getSeriesChartSvg,
  '/v1/series/:id/chart.png': getSeriesChartPng,
  '/v1/series/:id/vintages': getVintages,
  '/v1/series/:id/triangle': getTriangle,

  '/v1/commodities': getCommodities,
  '/v1/commodities/by-city': getCommoditiesByCity,
  '/v1/commodities/items': getCommodityItems,
  '/v1/commodities/cities': getCommodityCities,

  '/v1/amcs': getAmcs,
  '/v1/amcs/:amc': getAmc,
  '/v1/funds': getFunds,
  '/v1/funds/screener': getFundScreener,
  '/v1/funds/:id': getFund,
  '/v1/funds/:id/nav': getFundNavs,
  '/v1/funds/:id/returns': getFundReturns,
  '/v1/funds/:id/payouts': getFundPayouts,
  '/v1/funds/:id/expenses': getFundExpenses,
  '/v1/funds/:id/portfolio': getFundPortfolio,
  '/v1/funds/:id/analytics': getFundAnalytics,

  '/v1/securities': getSecurities,
  '/v1/securities/trades': getSecurityTrades,
  '/v1/securities/:code/prices': getSecurityPrices,
  '/v1/fixed-income/auctions': getAuctions,
  '/v1/trade': getTrade,

  '/v1/bulk': getBulk,
  '/v1/bulk/:name': getBulkFile,

  '/v1/catalog': getCatalog,
  '/v1/catalog/:id': getCatalogEntry,
  '/v1/catalog/:id/preview': getPreview,
  '/v1/catalog/:id/triangle': getOpenTriangle,
  '/v1/previews': getPreviews,
  '/v1/catalog/:id/chart.svg': getPreviewChart,
  '/v1/front-page': getFrontPage,
  '/v1/search': getSearch,
  '/v1/updates': getUpdates,
  '/v1/calendar': getCalendar,
  '/v1/releases': getReleases,
  '/v1/releases/:id': getRelease,
  '/v1/sources': getSources,
  '/v1/sources/:id': getSource,
  '/v1/status': getStatus,

  '/fred/series': getFredSeries,
  '/fred/series/search': getFredSearch,
  '/fred/series/observations': getFredObservations,
  '/fred/series/vintagedates': getFredVintageDates,
  '/fred/series/release': fredReleases.getFredSeriesRelease,
  '/fred/series/categories': categories.getFredSeriesCategories,
  '/fred/series/tags': getFredSeriesTags,
  '/fred/series/updates': getFredUpdates,
  '/fred/releases': fredReleases.getFredReleases,
  '/fred/releases/dates': fredReleases.getFredReleasesDates,
  '/fred/release': fredReleases.getFredRelease,
  '/fred/release/series': fredReleases.getFredReleaseSeries,
  '/fred/release/dates': fredReleases.getFredReleaseDates,
  '/fred/release/sources': fredSources.getFredReleaseSources,
  '/fred/sources': fredSources.getFredSources,
  '/fred/source': fredSources.getFredSource,
  '/fred/source/releases': fredSources.getFredSourceReleases,
  '/fred/category': categories.getFredCategory,
  '/fred/category/children': categories.getFredCategoryChildren,
  '/fred/category/series': categories.getFredCategorySeries,
  '/fred/tags': getFredTags,
  '/fred/tags/series': getFredTagsSeries,
  '/fred/v2/release/observations': getFredReleaseObservations,
  '/graph/fredgraph.csv': getFredGraph,
} as const satisfies Readonly<Record<string, Endpoint>>;

// The whole URL table of this service. What needs a key is decided by the gateway (config/gateway.config.yml).
import type { Handler, Route } from '../kernel/http/server.ts';
import { getAmc, getAmcs } from './funds/amcs.ts';
import { getAuctions } from './markets/auctions.ts';
import { getCalendar } from './discovery/calendar.ts';
import { getCommoditiesByCity } from './commodities/commodities-by-city.ts';
import { getCommodities, getCommodityCities, getCommodityItems } from './commodities/commodities.ts';
import type { Dependencies } from './dependencies.ts';
import { getCatalog, getCatalogEntry, getStatus } from './discovery/discovery.ts';
import { getFundAnalytics, getFundReturns } from './funds/fund-performance.ts';
import { getFundPortfolio } from './funds/fund-portfolio.ts';
import { getFundExpenses, getFundNavs, getFundPayouts } from './funds/fund-records.ts';
import { getFund, getFundScreener, getFunds } from './funds/funds.ts';
import { getSearch } from './discovery/search.ts';
import { getSecurities, getSecurityPrices, getSecurityTrades } from './markets/securities.ts';
import { getLatest, getManySeries, getSeries } from './series/series.ts';
import { getTrade } from './markets/trade.ts';
import { getVintages } from './series/vintages.ts';

export function routes(dependencies: Dependencies): Route[] {
  const get = (path: string, handler: Handler): Route => ({ method: 'GET', path, scope: 'client', handler });
  return [
    get('/v1/series', getManySeries(dependencies)),
    get('/v1/series/:id', getSeries(dependencies)),
    get('/v1/series/:id/latest', getLatest(dependencies)),
    get('/v1/series/:id/vintages', getVintages(dependencies)),

    get('/v1/commodities', getCommodities(dependencies)),
    get('/v1/commodities/by-city', getCommoditiesByCity(dependencies)),
    get('/v1/commodities/items', getCommodityItems(dependencies)),
    get('/v1/commodities/cities', getCommodityCities(dependencies)),

    get('/v1/amcs', getAmcs(dependencies)),
    get('/v1/amcs/:amc', getAmc(dependencies)),
    get('/v1/funds', getFunds(dependencies)),
    get('/v1/funds/screener', getFundScreener(dependencies)),
    get('/v1/funds/:id', getFund(dependencies)),
    get('/v1/funds/:id/nav', getFundNavs(dependencies)),
    get('/v1/funds/:id/returns', getFundReturns(dependencies)),
    get('/v1/funds/:id/payouts', getFundPayouts(dependencies)),
    get('/v1/funds/:id/expenses', getFundExpenses(dependencies)),
    get('/v1/funds/:id/portfolio', getFundPortfolio(dependencies)),
    get('/v1/funds/:id/analytics', getFundAnalytics(dependencies)),

    get('/v1/securities', getSecurities(dependencies)),
    get('/v1/securities/trades', getSecurityTrades(dependencies)),
    get('/v1/securities/:code/prices', getSecurityPrices(dependencies)),
    get('/v1/fixed-income/auctions', getAuctions(dependencies)),
    get('/v1/trade', getTrade(dependencies)),

    get('/v1/catalog', getCatalog(dependencies)),
    get('/v1/catalog/:id', getCatalogEntry(dependencies)),
    get('/v1/search', getSearch(dependencies)),
    get('/v1/calendar', getCalendar(dependencies)),
    get('/v1/status', getStatus(dependencies)),
  ];
}

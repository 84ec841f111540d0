// The whole URL table of this service. What needs a key is decided by the gateway (config/gateway.config.yml).
import type { Handler, Route } from '../kernel/http.ts';
import { getAmc, getAmcs } from './amcs.ts';
import { getAuctions } from './auctions.ts';
import { getCalendar } from './calendar.ts';
import { getCommoditiesByCity } from './commodities-by-city.ts';
import { getCommodities, getCommodityCities, getCommodityItems } from './commodities.ts';
import type { Dependencies } from './dependencies.ts';
import { getCatalog, getCatalogEntry, getStatus } from './discovery.ts';
import { getFundAnalytics, getFundReturns } from './fund-performance.ts';
import { getFundPortfolio } from './fund-portfolio.ts';
import { getFundExpenses, getFundNavs, getFundPayouts } from './fund-records.ts';
import { getFund, getFundScreener, getFunds } from './funds.ts';
import { getSearch } from './search.ts';
import { getSecurities, getSecurityPrices, getSecurityTrades } from './securities.ts';
import { getLatest, getManySeries, getSeries } from './series.ts';
import { getTrade } from './trade.ts';
import { getVintages } from './vintages.ts';

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

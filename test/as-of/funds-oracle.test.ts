// As test/as-of/rows-oracle.test.ts, for funds: their figures, ranks and companies are computed by the loads, and must be those of the day.
import test from 'ava';
import fc from 'fast-check';
import { anyFundHistory, fundRoutes } from './fund-histories.ts';
import { howLong } from './how-long.ts';
import { agreeingOn } from './rows-agreement.ts';

/** Besides those of the table. */
const more = [
  '/v1/funds',
  '/v1/funds?q=gf',
  '/v1/funds?sort=-nav_date&limit=1',
  '/v1/funds?updated_after=2024-04-22&status=inactive',
  '/v1/funds/screener?include_stale=true&limit=2',
  '/v1/funds/screener?basis=annualized_simple',
  '/v1/funds/sf',
  '/v1/funds/growth',
  '/v1/funds/share/returns',
  '/v1/funds/share/nav',
  '/v1/funds/cash/payouts',
  '/v1/funds/share/portfolio?date=2024-04-10',
  '/v1/funds/share/portfolio',
  '/v1/search?q=fund&limit=50&facets=true',
  '/v1/search?q=alpha',
  '/v1/search?q=gamma',
  '/v1/search?q=old+fund&type=fund',
  '/v1/amcs?sort=-aum_total&limit=1',
  '/v1/amcs/alpha',
  '/v1/amcs/gamma',
];

test.serial(
  'funds for a pinned key are those of an installation where nothing was published later',
  async (t) => {
    await fc.assert(await agreeingOn(anyFundHistory, fundRoutes, more), howLong);
    t.pass();
  },
);

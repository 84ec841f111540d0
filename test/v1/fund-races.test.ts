// A load commits between two statements of one call: each answer about a fund or a company is of the state before the load or after it.
import test from 'ava';
import type { Dependencies } from '../../data-api/dependencies.ts';
import { toRoutes } from '../../data-api/endpoint.ts';
import { getAmc } from '../../data-api/funds/amcs.ts';
import { getFundAnalytics, getFundReturns } from '../../data-api/funds/fund-performance.ts';
import { getFundPortfolio } from '../../data-api/funds/fund-portfolio.ts';
import { periodEnd } from '../../domain/periods.ts';
import { openDatabase, type Database } from '../../kernel/database.ts';
import { addMonths } from '../../kernel/dates.ts';
import { startService } from '../../kernel/http/server.ts';
import { createOpener } from '../../kernel/identity.ts';
import { silentLog, testIdentitySecret } from '../services/harness.ts';
import { startListService, type ListService } from '../services/list-service.ts';

const endpoints = {
  '/v1/funds/:id/portfolio': getFundPortfolio,
  '/v1/funds/:id/returns': getFundReturns,
  '/v1/funds/:id/analytics': getFundAnalytics,
  '/v1/amcs/:amc': getAmc,
};

let service: ListService;
let ask: (target: string) => Promise<string>;
let close: () => Promise<void>;
/** Runs before each statement of a call. */
let beforeStatement = async (): Promise<void> => undefined;

test.before(async () => {
  service = await startListService();
  const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
  const overtaken: Database = {
    ...database,
    async query(text, values, name) {
      await beforeStatement();
      return database.query(text, values, name);
    },
  };
  const dependencies = {
    ...{ database: overtaken, edition: 'e', asOf: null, present: null },
    ...{ loads: { known: () => undefined }, clock: service.clock, seriesTimeZone: 'UTC' },
  } as unknown as Dependencies;
  const running = await startService({
    log: silentLog,
    routes: toRoutes(endpoints, dependencies),
    openIdentity: createOpener(testIdentitySecret, 'data-api', undefined),
    ready: () => Promise.resolve(),
    ...{ host: '127.0.0.1', port: 0 },
  });
  ask = async (target) => (await fetch(running.url + target, { headers: service.headers(target) })).text();
  close = async () => {
    await running.close();
    await database.close();
    await service.close();
  };
  await service.load('amcs', ['amc_id,name,source', 'runner,Runner,Register']);
  await service.load('funds', [
    'fund_id,name,amc_id,category,currency,source',
    'racer,Racer,runner,Equity,PKR,Register',
  ]);
});
test.after.always(() => close());

const monthEnds = Array.from({ length: 30 }, (_, i) => periodEnd(addMonths('2023-12-31', i), 'monthly'));

/** The lines of the file of a dataset, each with the number of its load. */
const files = {
  nav: (load: number) => [
    'fund,date,nav,aum',
    ...monthEnds.map((date, i) => `racer,${date},${100 + i + load * ((i % 3) + 1)},${1000 * load}`),
  ],
  payouts: (load: number) => ['fund,ex_date,type,payout_per_unit', `racer,${monthEnds[20]},cash,${load}`],
  portfolio: (load: number) => [
    'fund,as_of,section,rank,name,type,sector,pct_net_assets,disclosure_scope',
    ...['2024-02-29', '2024-03-31'].flatMap((day) => [
      `racer,${day},holding,1,Share ${load},equity,Banks,${load},`,
      `racer,${day},summary,1,,,,,full`,
    ]),
  ],
};

let lastLoad = 1;
for (const [path, dataset] of [
  ['/v1/funds/racer/portfolio', 'portfolio'],
  ['/v1/funds/racer/returns', 'nav'],
  ['/v1/funds/racer/returns', 'payouts'],
  ['/v1/funds/racer/analytics?window=si&frequency=monthly', 'nav'],
  ['/v1/amcs/runner', 'nav'],
] as const)
  test.serial(`no answer of ${path} has a part of a load of ${dataset}`, async (t) => {
    const load = async () => service.load(dataset, files[dataset]((lastLoad += 1)));
    await load();
    for (let statement = 1, isOvertaken = true; isOvertaken; statement += 1) {
      const before = await ask(path);
      let left = statement;
      beforeStatement = async () => {
        left -= 1;
        if (left === 0) await load();
      };
      const answer = await ask(path);
      beforeStatement = async () => undefined;
      isOvertaken = left <= 0;
      const after = await ask(path);
      t.is(after === before, !isOvertaken);
      t.true(answer === before || answer === after, `before statement ${statement}: ${answer.slice(0, 300)}`);
      if (!isOvertaken) t.true(statement > 4);
    }
  });

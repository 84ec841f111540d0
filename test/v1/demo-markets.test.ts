import test from 'ava';
import { demoFiles } from '../../ingest/demo/demo.ts';
import { startListService, type ListService } from '../services/list-service.ts';

let service: ListService;

test.before(async () => {
  service = await startListService();
  for (const { dataset, lines } of demoFiles('2024-06-30')) {
    if (['securities', 'security-prices', 'security-trades', 'auctions', 'trade'].includes(dataset))
      await service.load(dataset, [...lines()]);
  }
});

test.after.always(() => service.close());

test('the demo has rows for every list of securities, auctions and trade', async (t) => {
  for (const path of [
    '/v1/securities?type=sukuk',
    '/v1/securities/DEMO%2FTFC%2F050623/prices',
    '/v1/securities/trades',
    '/v1/fixed-income/auctions?status=announced',
    '/v1/fixed-income/auctions?status=held&instrument=pib_fixed',
    '/v1/trade?flow=export&partner=CHN',
    '/v1/trade?flow=balance&from=2024&aggregate_by=partner',
  ]) {
    const { count, data } = await service.list(path);
    t.true(count > 0, path);
    t.true(
      data.every((row) => row['source'] === 'Almanac demo generator (synthetic)'),
      path,
    );
  }
});

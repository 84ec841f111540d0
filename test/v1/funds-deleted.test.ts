// A fund that is deleted while it is read.
import test from 'ava';
import { openDatabase } from '../../kernel/database.ts';
import { untilWaiting } from '../run/until.ts';
import { silentLog } from '../services/harness.ts';
import { startListService } from '../services/list-service.ts';

test('a fund or a company that is deleted between two statements of a call is 404', async (t) => {
  const service = await startListService();
  t.teardown(() => service.close());
  await service.load('amcs', ['amc_id,name,source', 'lone,Lone,Register']);
  await service.load('funds', ['fund_id,name,currency,source', 'brief,Brief,PKR,Register']);
  const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
  t.teardown(() => database.close());
  for (const [path, deletion, readLater] of [
    ['/v1/funds/brief', "delete from data.funds where fund_id = 'brief'", 'data.amcs'],
    ['/v1/amcs/lone', "delete from data.amcs where amc_id = 'lone'", 'data.amc_figures'],
  ] as const) {
    let asked: ReturnType<typeof service.list> | undefined;
    await database.transaction(async (on) => {
      await on.query(deletion);
      await on.query(`lock table ${readLater} in access exclusive mode`);
      asked = service.list(path);
      await untilWaiting((text) => database.query(text));
    });
    t.is((await asked)?.error.code, 'not_found', path);
  }
});

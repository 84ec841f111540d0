// GET /v1/plans: public, and equal to config/plans.yml.
import test from 'ava';
import { assertError, startAccountsService, type AccountsService } from '../services/accounts-service.ts';

let service: AccountsService;

test.before(async () => {
  service = await startAccountsService();
});
test.after.always(() => service.close());

test('anybody sees the plans of the file, the lowest first', async (t) => {
  const answer = await service.anonymously('/v1/plans');
  t.is(answer.status, 200);
  const { plans } = service.deps;
  t.deepEqual(answer.body, {
    success: true,
    data: plans.all,
    count: plans.all.length,
    pagination: { next_cursor: null, count: plans.all.length },
  });
  t.is(plans.all[0]?.id, 'free');
  t.is(answer.headers.get('cache-control'), 'public, max-age=60');
});

test('the plans accept no filter and no other method', async (t) => {
  assertError(t, await service.anonymously('/v1/plans?plan=pro'), 400, 'invalid_parameter');
  const answer = await service.anonymously('/v1/plans', { method: 'DELETE' });
  assertError(t, answer, 405, 'method_not_allowed');
  t.is(answer.headers.get('allow'), 'GET, HEAD');
});

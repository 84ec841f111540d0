// GET /v1/plans: public, and equal to config/plans.yml.
import test from 'ava';
import { assertError, startAccountsRoom, type AccountsRoom } from '../accounts-room.ts';

let room: AccountsRoom;

test.before(async () => {
  room = await startAccountsRoom();
});
test.after.always(() => room.close());

test('anybody sees the plans of the file, the lowest first', async (t) => {
  const answer = await room.anonymously('/v1/plans');
  t.is(answer.status, 200);
  const { plans } = room.deps;
  t.deepEqual(answer.body, {
    success: true,
    data: plans.all,
    count: plans.all.length,
    pagination: { next_cursor: null, count: plans.all.length },
  });
  t.is(plans.all[0]?.id, 'free');
  t.is(answer.headers.get('cache-control'), 'public, max-age=60');
});

test('the plans take no parameters and no other method', async (t) => {
  assertError(t, await room.anonymously('/v1/plans?plan=pro'), 400, 'invalid_parameter');
  const answer = await room.anonymously('/v1/plans', { method: 'DELETE' });
  assertError(t, answer, 405, 'method_not_allowed');
  t.is(answer.headers.get('allow'), 'GET, HEAD');
});

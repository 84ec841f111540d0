// Grants of accounts-api whose answers arrive late or never.
import test from 'ava';
import { hashApiKey } from '../../kernel/credentials/api-key.ts';
import { Failure } from '../../kernel/errors.ts';
import { startAccountsService } from '../services/accounts-service.ts';
import { until } from '../run/until.ts';
import { startLife } from './lives.ts';

const service = await startAccountsService();
test.after.always(() => service.close());

test('calls that share a late answer are served if their month has enough, however many they are', async (t) => {
  const { accountId } = await service.newClient('free');
  const answered = Promise.withResolvers<void>();
  let asked = 0;
  const life = await startLife(service, {
    async through(message, send) {
      if (message.wants.length > 0 && (asked += 1) === 1) await answered.promise;
      return send(message);
    },
  });
  t.teardown(() => life.close());
  const first = life.serve(accountId, 1);
  await until('accounts-api is asked for one call', () => asked === 1);
  const others = Array.from({ length: 40 }, () => life.serve(accountId, 1));
  service.clock.advance(1_000);
  answered.resolve();
  for (const { charge } of await Promise.all([first, ...others])) t.not(charge, null);
});

test('calls granted by a lost answer are returned once, and served at only one gateway', async (t) => {
  const { accountId, key } = await service.newClient('free'); // 1000 calls
  let isLost = true;
  const life = await startLife(service, {
    outage: 'closed',
    async through(message, send) {
      const answer = await send(message);
      if (!isLost || message.keys.length === 0) return answer;
      throw new Failure('unavailable', 'The answer is lost.');
    },
  });
  const other = await startLife(service, { outage: 'closed' });
  t.teardown(() => Promise.all([life.close(), other.close()]));
  t.false(await life.opensFor(hashApiKey(key)), 'calls came with the key');
  const isServed = async (gateway: typeof life, calls: number) =>
    gateway.serve(accountId, calls).then(
      ({ charge }) => charge !== null,
      () => false, // a busy machine may take too long to recall calls
    );
  await until('what the first one was granted is asked back', () => isServed(other, 996));
  await other.flushJournal();
  isLost = false;
  t.true(await life.opensFor(hashApiKey(key)));
  let served = 996;
  await until('the month is served', async () => {
    for (const gateway of [life, other]) while (await isServed(gateway, 1)) served += 1;
    return served >= 1_000;
  });
  t.is(served, 1_000);
  for (const gateway of [life, other]) await gateway.flushJournal();
  t.is(await service.used({ accountId, keyId: '' }), 1_000);
});

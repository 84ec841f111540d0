// The lifetime of a session to the millisecond: in use, unused, and with nineteen other sessions of its account.
import { instantText } from '../../kernel/clock.ts';
import test from 'ava';
import { startAccountsService } from '../services/accounts-service.ts';
import { holdersOf } from './holders.ts';
import { within } from '../run/until.ts';

const service = await startAccountsService();
const { password, newHolder, newSession, areIn } = await holdersOf(service);
test.after.always(() => service.close());

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

interface Shown {
  id: string;
  current: boolean;
  created_at: string;
  last_seen_at: string;
  expires_at: string;
  ip: string;
  user_agent: string;
}
async function list(accountId: string, sessionId = 'sess_reader'): Promise<Shown[]> {
  return ((await service.signedIn({ accountId, sessionId }, '/auth/sessions')).body as { data: Shown[] })
    .data;
}
const after = (milliseconds: number) => instantText(new Date(service.clock.now().getTime() + milliseconds));

test.serial(
  'the use of a session is noted after five minutes, and moves its end by itself alone',
  async (t) => {
    const { accountId } = await newHolder();
    const [used, unused] = [await newSession(accountId), await newSession(accountId)];
    const shown = async ({ sessionId }: { sessionId: string }) =>
      (await list(accountId)).find(({ id }) => id === sessionId);
    const [opened, end] = [after(0), after(dayMs)];
    service.clock.advance(5 * minuteMs - 1);
    t.deepEqual(await areIn(used.name), [true]);
    t.like(await shown(used), { last_seen_at: opened, expires_at: end });
    service.clock.advance(1);
    t.deepEqual(await areIn(used.name), [true]);
    t.like(await shown(used), { last_seen_at: after(0), expires_at: after(dayMs) });
    t.like(await shown(unused), { last_seen_at: opened, expires_at: end });
    service.clock.advance(dayMs - 5 * minuteMs);
    t.deepEqual(await areIn(used.name, unused.name), [true, false], 'who was in for five minutes stays');
  },
);

test.serial(
  'what a client says of itself is listed in short, without signs that a terminal obeys',
  async (t) => {
    const { email, accountId } = await newHolder();
    service.clock.advance(1);
    const headers = {
      'user-agent': `a\u0085b\u00adc${'d'.repeat(300)}`,
      'x-forwarded-for': `::${'1'.repeat(80)}`,
    };
    const answer = await service.anonymously('/auth/login', { body: { email, password }, headers });
    t.is(answer.status, 200);
    const agents = (await list(accountId)).map(({ ip, user_agent }) => [ip, user_agent]);
    t.deepEqual(agents, [
      [`::${'1'.repeat(62)}`, `a?b?c${'d'.repeat(251)}`],
      ['192.0.2.1', 'Tests'],
    ]);
  },
);

test.serial('a lookup does not wait for a concurrent change of its session', async (t) => {
  const { accountId } = await newHolder();
  const { name, sessionId } = await newSession(accountId);
  service.clock.advance(5 * minuteMs);
  const { sequelize } = service.deps.db;
  await service.deps.db.inTransaction(async (transaction) => {
    const bind = [sessionId];
    await sequelize.query('select from accounts.sessions where id = $1 for update', { bind, transaction });
    t.deepEqual(await within('the lookup is answered', areIn(name)), [true]);
  });
});

test.serial('a wrong session secret does not extend the session', async (t) => {
  const { accountId } = await newHolder();
  const { name, sessionId } = await newSession(accountId);
  service.clock.advance(dayMs - 1);
  t.deepEqual(await areIn(`${sessionId}.${'0'.repeat(64)}`), [false]);
  service.clock.advance(1);
  t.deepEqual(await areIn(name), [false]);
});

test.serial(
  'the list holds the sessions that last, the last used first, until the instant at which they end',
  async (t) => {
    const [{ accountId, sessionId: oldest }, other] = [await newHolder(), await newHolder()];
    service.clock.advance(10 * minuteMs);
    const { sessionId, name } = await newSession(accountId);
    service.clock.advance(minuteMs);
    t.deepEqual(
      (await list(accountId, oldest)).map(({ id, current }) => [id, current]),
      [
        [sessionId, false],
        [oldest, true],
      ],
    );
    t.deepEqual(
      (await list(other.accountId)).map(({ id }) => id),
      [other.sessionId],
    );
    const listed = async () => (await list(accountId)).map(({ id }) => id);
    service.clock.advance(dayMs - 11 * minuteMs - 1);
    t.deepEqual(await listed(), [sessionId, oldest]);
    service.clock.advance(1);
    t.deepEqual(await listed(), [sessionId], 'a day without a call');

    // Used every 20 hours it reaches its fourteenth day.
    const absolute = service.clock.now().getTime() + 14 * dayMs - (dayMs - 10 * minuteMs);
    const left = () => absolute - service.clock.now().getTime();
    for (; left() > dayMs; service.clock.advance(20 * hourMs)) t.deepEqual(await areIn(name), [true]);
    t.deepEqual(await areIn(name), [true]);
    service.clock.advance(left() - 1);
    t.deepEqual(await areIn(name), [true]);
    t.like((await list(accountId))[0], { expires_at: instantText(new Date(absolute)) });
    service.clock.advance(1);
    t.deepEqual(await listed(), [], 'fourteen days');
    t.deepEqual(await areIn(name), [false]);
  },
);

test.serial(
  'the twenty-first session ends the one least recently used of its account, and no other',
  async (t) => {
    const [{ accountId, sessionId: first }, other] = [await newHolder(), await newHolder()];
    const others = await newSession(other.accountId);
    const opened = [];
    for (let n = 2; n <= 20; n += 1) {
      service.clock.advance(minuteMs);
      opened.push(await newSession(accountId));
    }
    const ids = async () => (await list(accountId)).map(({ id }) => id);
    t.is((await ids()).length, 20);
    t.deepEqual(await areIn(opened[0]?.name ?? ''), [true]); // the second is used now, the third is not
    const newest = await newSession(accountId);
    const left = await ids();
    t.is(left.length, 20);
    t.false(left.includes(first));
    const last = await newSession(accountId);
    const end = await ids();
    t.is(end.length, 20);
    for (const { sessionId } of [newest, last, ...opened.slice(0, 1), ...opened.slice(2)])
      t.true(end.includes(sessionId));
    t.false(end.includes(opened[1]?.sessionId ?? ''));
    t.deepEqual(await areIn(others.name), [true]);
  },
);

test.serial('a session that was just opened is never ended to make room, by any clock', async (t) => {
  const { accountId } = await newHolder();
  for (let n = 2; n <= 20; n += 1) await newSession(accountId);
  service.clock.advance(-minuteMs); // as an instance whose clock is behind
  const newest = await newSession(accountId);
  t.deepEqual(await areIn(newest.name), [true]);
  t.is((await list(accountId)).length, 20);
});

// Events that an endpoint missed are sent again from a cursor of the updates: each once, the oldest first, a limited number at a time.
import test, { type ExecutionContext } from 'ava';
import { QueryTypes } from 'sequelize';
import { visibleAfterMs } from '../../kernel/http/validity.ts';
import { assertError, dataOf } from '../services/accounts-service.ts';
import { messagesTo, untilMessagesAreMade } from './events.ts';
import { stage, untilStatus, work, type Stage } from './stage.ts';

const data = '{"load": 1, "published_at": "2026-11-20T10:00:00Z", "vintage": "2026-11-20"}';
const day = 24 * 60 * 60_000;

/** Reports changes of series, as loads do. @returns their cursors. */
async function report({ service }: Stage, ...series: readonly string[]): Promise<string[]> {
  const { sequelize } = service.deps.db;
  const cursors: string[] = [];
  for (const id of series) {
    await sequelize.query(`select events.report('series.updated', $1::text[], $3, $2)`, {
      bind: [[id], service.clock.now(), data],
    });
    const [row] = await sequelize.query<{ cursor: string }>(
      'select max(position)::text as cursor from data.updates',
      { type: QueryTypes.SELECT },
    );
    cursors.push(row?.cursor ?? '');
  }
  return cursors;
}

const recover = ({ service, client, webhook }: Stage, body: object) =>
  service.as(client, `/v1/webhooks/${webhook.id}/recover`, { body });
const recovered = async (t: ExecutionContext, it: Stage, body: object) =>
  dataOf(t, await recover(it, body), 202) as { recovered: number; has_more: boolean; cursor: string | null };
const change = ({ service, client, webhook }: Stage, body: object) =>
  service.as(client, `/v1/webhooks/${webhook.id}`, { method: 'PATCH', body });

/** The series of the messages to the endpoint, in the order in which they are due. */
async function dueSeries({ service, webhook }: Stage): Promise<string[]> {
  const rows = await service.deps.db.sequelize.query<{ series: string }>(
    `select coalesce(message.body, event.body)::json -> 'data' -> 'series' ->> 0 as series
     from accounts.webhook_messages as message join accounts.webhook_events as event on event.id = message.event_id
     where webhook_id = $1 and due_at is not null order by due_at`,
    { bind: [webhook.id], type: QueryTypes.SELECT },
  );
  return rows.map(({ series }) => series);
}

test.serial(
  'the updates after a cursor that failed or came while it was disabled are sent, and those that were delivered are not',
  async (t) => {
    const it = await stage(t);
    const worker = await work(t, it);
    const [first = ''] = await report(it, 'BEFORE');
    await untilMessagesAreMade(it.service);
    it.service.clock.advance(visibleAfterMs);
    await untilStatus(it, 'delivered');
    await report(it, 'TAKEN', 'FAILED');
    await untilMessagesAreMade(it.service);
    it.service.clock.advance(visibleAfterMs);
    for (const _message of ['BEFORE', 'TAKEN', 'FAILED']) await it.receiver.next();
    await change(it, { enabled: false });
    await report(it, 'MISSED');
    await untilMessagesAreMade(it.service);
    assertError(t, await recover(it, { cursor: first }), 409, 'conflict');
    await change(it, { enabled: true });
    await worker.close();
    await it.service.deps.db.sequelize.query(
      `update accounts.webhook_messages as message set status = 'failed', due_at = null from accounts.webhook_events as event
     where event.id = event_id and event.body like any (array['%BEFORE%', '%FAILED%'])`,
    );
    const [last = ''] = await report(it, 'WAITS'); // in the outbox: the worker makes its message

    t.deepEqual(await recovered(t, it, { cursor: first }), { recovered: 2, has_more: false, cursor: last });
    t.deepEqual(await dueSeries(it), ['FAILED', 'MISSED']);
    t.is((await recovered(t, it, { cursor: first })).recovered, 0, 'they wait');
    t.is((await recovered(t, it, { cursor: last })).recovered, 0);
    await work(t, it);
    await untilMessagesAreMade(it.service);
    it.service.clock.advance(visibleAfterMs);
    const got = [await it.receiver.next(), await it.receiver.next(), await it.receiver.next()];
    const seriesIn = ({ body }: { body: string }) =>
      (JSON.parse(body) as { data: { series: string[] } }).data.series;
    t.deepEqual(got.flatMap(seriesIn).toSorted(), ['FAILED', 'MISSED', 'WAITS']);
    const known = it.receiver.received.filter(({ body }) => body.includes('FAILED'));
    t.is(new Set(known.map(({ headers }) => headers['webhook-id'])).size, 1, 'under the same id');
  },
);

test.serial(
  'only the series of the endpoint are sent, so many at a time, and a call with the cursor of the answer goes on',
  async (t) => {
    const it = await stage(t);
    await change(it, { series: ['A*'] });
    await it.service.deps.db.sequelize.query(
      `select events.report('series.updated', array[case when n % 2 = 0 then 'A' else 'B' end || n], $2, $1)
     from generate_series(1, 501) as n`,
      { bind: [it.service.clock.now(), data] },
    );
    await it.service.deps.db.sequelize.query('delete from events.outbox');
    t.deepEqual(await recovered(t, it, { cursor: '0' }), { recovered: 250, has_more: true, cursor: '500' });
    t.deepEqual(await recovered(t, it, { cursor: '500' }), { recovered: 0, has_more: false, cursor: '501' });
    t.is((await messagesTo(it.service, it.webhook.id)).length, 250);
    t.deepEqual((await dueSeries(it)).slice(0, 3), ['A2', 'A4', 'A6']);
    await change(it, { series: null });
    t.like(await recovered(t, it, { cursor: '0' }), { recovered: 250 });
    t.like(await recovered(t, it, { cursor: '500' }), { recovered: 1 });
    await it.service.deps.db.sequelize.query(
      `update accounts.webhook_messages set status = 'failed', due_at = null`,
    );
    const since = it.service.clock.now().toISOString();
    t.deepEqual(await recovered(t, it, { since }), { recovered: 500, has_more: true, cursor: null });
    t.deepEqual(await recovered(t, it, { since }), { recovered: 1, has_more: false, cursor: null });
    await it.service.deps.db.sequelize.query(
      `update accounts.webhook_messages set status = 'failed', due_at = null
       where id <> (select max(id) from accounts.webhook_messages)`,
    );
    t.deepEqual(await recovered(t, it, { since }), { recovered: 500, has_more: false, cursor: null });
  },
);

test.serial(
  'a cursor that never was is refused, and one whose updates are older than deliveries are kept is gone',
  async (t) => {
    const it = await stage(t);
    const [old = '', next = ''] = await report(it, 'OLD', 'NEXT');
    it.service.clock.advance(30 * day + 1);
    const [fresh = ''] = await report(it, 'FRESH');
    for (const cursor of ['0', old]) {
      t.is(assertError(t, await recover(it, { cursor }), 410, 'gone').param, 'cursor');
    }
    t.is((await recovered(t, it, { cursor: next })).cursor, fresh);
    const unknown = assertError(t, await recover(it, { cursor: '999' }), 400, 'invalid_cursor');
    t.true(unknown.message.includes(fresh));
    await it.service.deps.db.sequelize.query('delete from data.updates where position < $1', {
      bind: [fresh],
    });
    assertError(t, await recover(it, { cursor: next }), 410, 'gone');
    t.is((await recovered(t, it, { cursor: '0' })).cursor, fresh);
    for (const body of [
      {},
      { since: it.service.clock.now().toISOString(), cursor: fresh },
      { cursor: '-1' },
    ]) {
      assertError(t, await recover(it, body), 400, 'invalid_body');
    }
  },
);

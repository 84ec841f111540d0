// The number of PNG charts drawn at the same time, per account and in total, and which charts are not drawn again.
import test, { type ExecutionContext } from 'ava';
import type { Identity } from '../../../kernel/identity.ts';
import { until, within } from '../../run/until.ts';
import { freeAccount, proAccount, startDataService, type Answer } from '../../services/data-service.ts';
import { makeSeries, publish } from '../series-fixture.ts';
import type { Envelope } from '../series-service.ts';

const service = await startDataService();
const { call, pool } = service;
test.after.always(() => service.close());
test.before(async () => {
  await makeSeries(pool, { id: 'RATE' });
  const points = Array.from({ length: 9 }, (_, i) => ({ date: `2024-0${i + 1}-15`, value: `${i}` }));
  await publish(pool, 'RATE', '2024-10-10', points);
});

/** Blocks the reading of points until the work is done. */
async function withoutPoints(t: ExecutionContext, work: () => Promise<void>): Promise<void> {
  const lock = await pool.connect();
  t.teardown(() => lock.release());
  await lock.query('begin');
  await lock.query('lock table data.observations in access exclusive mode');
  await work().finally(() => lock.query('rollback'));
}

test.serial(
  'an account has one PNG drawn at a time: another is 429 at once, while other accounts’ are drawn',
  async (t) => {
    const [one, other] = [proAccount, freeAccount];
    const charts = (identity: Identity, widths: readonly number[]) =>
      widths.map((width) => call(`/v1/series/RATE/chart.png?width=${width}`, { identity }));
    const answers: Promise<Answer>[] = [];
    await withoutPoints(t, async () => {
      answers.push(...charts(one, [300, 301, 302, 303]));
      const refused: Answer[] = [];
      for (const each of answers) void each.then((answer) => refused.push(answer));
      await until('all but one are answered', () => refused.length === 3);
      for (const { status, headers, json } of refused) {
        t.deepEqual([status, headers.get('retry-after')], [429, '1']);
        t.is((json as Envelope).error?.code, 'rate_limited');
      }
      answers.push(...charts({ ...other, accountId: '00000000-0000-4000-8000-000000000009' }, [304]));
      // The same image again shares the drawing.
      answers.push(...charts({ ...other, accountId: '00000000-0000-4000-8000-000000000009' }, [304]));
    });
    const statuses = (await Promise.all(answers)).map(({ status }) => status).sort();
    t.deepEqual(statuses, [200, 200, 200, 429, 429, 429]);
  },
);

test.serial('a PNG that the client already has is confirmed without drawing, even a large one', async (t) => {
  const path = '/v1/series/RATE/chart.png?width=1600&height=1200';
  const drawn = await call(path);
  t.is(drawn.status, 200);
  await withoutPoints(t, async () => {
    const headers = { 'if-none-match': drawn.headers.get('etag') ?? '' };
    t.is((await within('it is answered', call(path, { headers }))).status, 304);
  });
});

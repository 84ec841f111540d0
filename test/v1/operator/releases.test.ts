// /v1/operator/releases: the loads under embargo for an operator, who can cancel one or publish it now.
import { Readable } from 'node:stream';
import test from 'ava';
import { acceptUnderEmbargo } from '../../../ingest/publisher/releases/accept.ts';
import { instantText } from '../../../kernel/clock.ts';
import { codeOf } from '../../auth/people.ts';
import { until } from '../../run/until.ts';
import { startServices } from '../../services/services.ts';
import { dataOf, messageOf, newOperator, type Operating } from './operating.ts';

interface Row {
  release: number;
  state: string;
  release_at: string;
  outcome: { loads?: number[]; message?: string } | null;
  history: { event: string; actor: string; detail: string | null }[];
}

const services = await startServices({ publisher: true });
let operator: Operating;
test.before(async () => {
  operator = await newOperator(services);
});
test.after.always(() => services.close());

const inAYear = instantText(new Date(Date.now() + 365 * 86_400_000));

/** A load of a new series under embargo. @returns the number of the release. */
async function newRelease(id: string, instant = inAYear): Promise<number> {
  const { releaseNo } = await acceptUnderEmbargo(
    services.database,
    {
      dataset: 'observations',
      input: Readable.from([`series_id,date,value\n${id},2024-01-31,1\n`]),
      sourceName: `${id}.csv`,
      create: true,
      set: { name: id, unit: 'Index', frequency: 'monthly', source: 'Tests' },
      seriesTimeZone: 'UTC',
    },
    { instant },
  );
  return releaseNo;
}

const readOne = async (release: number) => dataOf<Row>(await operator.get(`/releases/${release}`));

test.serial('a release is listed as the command lists it, and shown with who accepted it', async (t) => {
  const release = await newRelease('SHOWN');
  const list = dataOf<Row[]>(await operator.get('/releases'));
  t.like(list[0], {
    ...{ release, state: 'pending', held_because: null, release_at: inAYear, release_with: null },
    ...{ dataset: 'observations', source_name: 'SHOWN.csv', ended_at: null, late_seconds: 0, outcome: null },
    checked: { rows_read: 1, points_new: 1 },
  });
  const { history } = await readOne(release);
  t.deepEqual(
    history.map(({ event }) => event),
    ['accepted'],
  );
});

test.serial('a cancelled release is never made, and the record names the operator', async (t) => {
  const release = await newRelease('CANCELLED');
  const answer = await operator.post(`/releases/${release}/cancellation`);
  t.is(answer.status, 200);
  t.like(dataOf(answer), { release, state: 'cancelled', outcome: null });
  const { history } = await readOne(release);
  const [, cancelled] = history;
  t.is(cancelled?.event, 'cancelled');
  t.true(cancelled?.actor.endsWith(` by almanac operators for ${operator.accountId}`), cancelled?.actor);
  for (const what of ['cancellation', 'publication']) {
    const again = await operator.post(`/releases/${release}/${what}`);
    t.is(again.status, 409, what);
    t.regex(messageOf(again), /is cancelled; it cannot be/);
  }
});

test.serial('a release published now is due at once, and the publisher makes it', async (t) => {
  const release = await newRelease('HASTENED');
  const { key } = await services.accountWithKey();
  t.is((await services.call('/v1/series/HASTENED', { key })).status, 404);
  const answer = await operator.post(`/releases/${release}/publication`);
  t.is(answer.status, 202);
  t.true(new Date(dataOf<Row>(answer).release_at) < new Date(inAYear));
  await until('the release is made', async () => (await readOne(release)).state === 'released');
  const { history } = await readOne(release);
  t.deepEqual(
    history.map(({ event }) => event),
    ['accepted', 'hastened', 'released'],
  );
  t.true(history[1]?.actor.endsWith(` for ${operator.accountId}`));
  await until(
    'it is served',
    async () => (await services.call('/v1/series/HASTENED', { key })).status === 200,
  );
});

test.serial('releases are filtered by state and paged in both orders', async (t) => {
  const list = async (query: string) => dataOf<Row[]>(await operator.get(`/releases?${query}`));
  const all = await list('limit=1000');
  for (const state of ['pending', 'cancelled', 'released'])
    t.deepEqual(
      await list(`state=${state}`),
      all.filter((row) => row.state === state),
      state,
    );
  t.deepEqual(
    (await list('sort=release')).map(({ release }) => release),
    all.map(({ release }) => release).toReversed(),
  );
  const { json } = await operator.get('/releases?limit=1');
  const { next_cursor: cursor } = (json as { pagination: { next_cursor: string } }).pagination;
  t.is((await list(`limit=1&cursor=${cursor}`))[0]?.release, all[1]?.release);
});

test.serial('an unknown release is 404', async (t) => {
  for (const number of ['0', 'x', '999999'])
    for (const answer of [
      await operator.get(`/releases/${number}`),
      await operator.post(`/releases/${number}/cancellation`),
      await operator.post(`/releases/${number}/publication`),
    ])
      t.is(codeOf(answer), 'not_found', number);
});

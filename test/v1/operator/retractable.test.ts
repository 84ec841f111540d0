// Compares the states active, retractable and erasable in /v1/operator/loads with the result of actual retractions, after random loads, retractions
// and erasures.
import assert from 'node:assert/strict';
import test from 'ava';
import fc from 'fast-check';
import { retract } from '../../../ingest/history/retract/retract.ts';
import { Failure } from '../../../kernel/errors.ts';
import { fakeClock } from '../../services/harness.ts';
import { startServices } from '../../services/services.ts';
import { daily, loadCsv } from '../../ingest/loading.ts';
import { dataOf, messageOf, newOperator, type Operating } from './operating.ts';

interface Row {
  load: number;
  status: 'in_force' | 'retracted' | 'erased';
  retracts: number | null;
  erases: boolean;
  retracted_by: number | null;
  retractable: boolean;
  not_retractable_because: string | null;
  erasable: boolean;
}

const clock = fakeClock('2026-11-20T10:00:00.000Z');
const services = await startServices({ clock, publisher: true });
let operator: Operating;
test.before(async () => {
  operator = await newOperator(services);
});
test.after.always(() => services.close());

const anyFile = fc.constantFrom('points', 'points', 'vintages', 'table', 'funds' as const);
/** A retraction of a load, identified by how many loads came after it; usually one of the newest. */
const anyRetraction = fc.record({
  age: fc.oneof(fc.constant(0), fc.nat(6)),
  erase: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});
const anyHistory = fc.record({
  files: fc.array(anyFile, { minLength: 1, maxLength: 3 }),
  retractions: fc.array(anyRetraction, { minLength: 1, maxLength: 7 }),
});

let files = 0;
async function loadFile(kind: ReturnType<(typeof anyFile)['generate']>['value']): Promise<void> {
  const csv = {
    points: ['series_id,date,value', `R.1,2026-09-01,${++files}`],
    vintages: [
      'series_id,date,value,vintage',
      `R.1,2026-09-01,${files},2026-10-01`,
      `R.1,2026-09-01,${files},2026-10-02`,
    ],
    table: ['classification,commodity_code,name,source', `hs,010121,Horses ${files},WCO`],
    funds: ['fund_id,name,currency,source', `fund-1,Fund ${files},PKR,Register`],
  }[kind];
  const dataset = {
    points: 'observations',
    vintages: 'observations',
    table: 'trade-commodities',
    funds: 'funds',
  }[kind];
  const create = dataset === 'observations' ? { create: true, set: daily } : {};
  await loadCsv(services.database, csv, { dataset, ...create, clock });
}

/** Does not wait until services show it. */
async function retracted(loadNo: number, erase: boolean): Promise<void> {
  try {
    await retract(services.database, { loadNo, erase, seriesTimeZone: 'UTC', clock, noGateway: true });
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'conflict')) throw error;
  }
}

/** Why the load cannot be retracted; null if it can. */
async function refusal(load: number, how: object = {}): Promise<string | null> {
  const answer = await operator.post(`/loads/${load}/retraction`, { dry_run: true, ...how });
  if (answer.status === 200) return null;
  assert.equal(answer.status, 409, answer.text);
  return messageOf(answer);
}

const listed = async (after: number) =>
  dataOf<Row[]>(await operator.get('/loads?limit=1000')).filter(({ load }) => load > after);

async function agrees(row: Row, all: readonly Row[]): Promise<void> {
  const { load, status, retracts, erases, retracted_by: by } = row;
  const because = await refusal(load);
  assert.deepEqual([row.retractable, row.not_retractable_because], [because === null, because]);
  assert.equal(row.erasable, (await refusal(load, { erase: true })) === null);
  assert.equal(status === 'in_force', by === null);
  if (row.retractable || erases) assert.equal(status, 'in_force');
  if (status === 'in_force' && retracts !== null) assert.notEqual(row.retractable, erases);
  if (status === 'retracted' && retracts === null)
    assert.ok(all.find((other) => other.load === by)?.retractable, 'what has retracted it can be retracted');
  const {
    series_count: _,
    series: __,
    ...alone
  } = dataOf<Row & { series_count: 0; series: [] }>(await operator.get(`/loads/${load}`));
  assert.deepEqual(alone, row);
}

test('the listed states of each load match the results of its retraction and erasure, after any loads, retractions and erasures', async (t) => {
  const agree = async ({
    files: kinds,
    retractions,
  }: typeof anyHistory extends fc.Arbitrary<infer H> ? H : never) => {
    const [newest] = dataOf<Row[]>(await operator.get('/loads?limit=1'));
    const before = newest?.load ?? 0;
    for (const kind of kinds) await loadFile(kind);
    for (const { age, erase } of retractions) {
      const loads = await listed(before);
      const at = loads[age % loads.length];
      if (at !== undefined) await retracted(at.load, erase);
    }
    const all = await listed(before);
    for (const row of all) await agrees(row, all);
  };
  await fc.assert(fc.asyncProperty(anyHistory, agree), {
    numRuns: 16,
    examples: [
      [{ files: ['points'], retractions: [0, 0, 2].map((age) => ({ age, erase: false })) }],
      [{ files: ['points'], retractions: [{ age: 0, erase: true }] }],
      [
        {
          files: ['points'],
          retractions: [
            { age: 0, erase: false },
            { age: 1, erase: true },
          ],
        },
      ],
      [{ files: ['points'], retractions: [0, 0, 0].map((age) => ({ age, erase: false })) }],
    ],
    includeErrorInReport: true,
  });
  t.pass();
});

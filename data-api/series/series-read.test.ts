import test from 'ava';
import type { Dependencies } from '../dependencies.ts';
import type { SeriesRequest } from './series-request.ts';
import type { Footnote, Series } from './stored/series.sql.ts';
import { withPointNotes } from './series-read.ts';

const note = (text: string): Footnote => ({ mark: null, text, dims: {} });
const facts = (rowVersion: string) =>
  ({ id: 'A', seriesNo: 1, rowVersion, releases: [], deletedOn: null }) as unknown as Series;
const request = { fields: ['date', 'notes'], from: '0001-01-01', to: '9999-12-31', vintage: null } as unknown as SeriesRequest; // prettier-ignore
const call = { changesAt: () => undefined };

/** A database into which a load commits before each statement about notes; the facts are those of the last load. */
function loads(...versions: readonly string[]): Dependencies {
  let read = 0;
  return {
    database: {
      query: () => {
        const rowVersion = versions[Math.min(read++, versions.length - 1)] ?? '';
        return Promise.resolve([{ rowVersion, notes: [{ date: '2024-01-31', notes: [note(rowVersion)] }] }]);
      },
    },
    seriesFacts: { find: () => Promise.resolve(facts(versions[Math.min(read, versions.length) - 1] ?? '')) },
    clock: { now: () => new Date(0) },
  } as unknown as Dependencies;
}

const seen = ({ rowVersion, pointNotes }: Series) => [rowVersion, pointNotes?.get('2024-01-31')?.[0]?.text];

test('notes and facts are of one state, however many loads commit between their statements', async (t) => {
  t.deepEqual(seen(await withPointNotes(loads('1'), call, facts('1'), request)), ['1', '1']);
  t.deepEqual(seen(await withPointNotes(loads('2'), call, facts('1'), request)), ['2', '2']);
  t.deepEqual(seen(await withPointNotes(loads('2', '4', '5'), call, facts('1'), request)), ['5', '5']);
});

test('notes are read only if requested', async (t) => {
  const series = facts('1');
  t.is(await withPointNotes(loads('9'), call, series, { ...request, fields: ['date'] }), series);
});

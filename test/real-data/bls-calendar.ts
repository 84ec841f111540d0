// The release calendar of the U.S. Bureau of Labor Statistics, an iCalendar file with a nonstandard time zone name.
import assert from 'node:assert/strict';
import path from 'node:path';
import type { Check } from './run.ts';

interface Releases {
  data: { title: string; release_at: string; release_date: string; status: string }[];
  count: number;
}

export async function checkBlsCalendar({ instance, folder, seen }: Check): Promise<void> {
  const words = [
    'calendar',
    path.join(folder, '20_release_calendar', 'bls_2023_2024.ics'),
    '--ignore', // US-Eastern, which is no IANA name
    'time_zone',
    '--set',
    'time_zone=America/New_York,source=U.S. Bureau of Labor Statistics',
  ];
  const count = async () =>
    JSON.parse(await instance.almanac('ingest', ...words, '--json')) as Record<string, number>;
  assert.equal((await count())['points_new'], 321);
  assert.equal((await count())['points_unchanged'], 321);
  seen('321 releases load from the .ics file, and again without a change');

  const ask = async (query: string) =>
    (await (
      await instance.get(`/v1/calendar?source=U.S.+Bureau+of+Labor+Statistics&${query}`)
    ).json()) as Releases;
  const all = await ask('from=2023&to=2024&limit=1000');
  assert.equal(all.count, 321);
  assert.ok(all.data.every(({ status }) => status === 'released'));
  assert.deepEqual([all.data[0]?.release_date, all.data.at(-1)?.release_date], ['2023-01-04', '2024-12-20']);
  const employment = all.data.filter(({ title }) => title === 'Employment Situation');
  assert.deepEqual(
    employment.slice(0, 2).map(({ release_at }) => release_at),
    ['2023-01-06T13:30:00Z', '2023-02-03T13:30:00Z'],
  );
  assert.equal(
    employment.find(({ release_date }) => release_date === '2023-07-07')?.release_at,
    '2023-07-07T12:30:00Z',
  );
  seen('the employment reports come at 8:30 in New York, in winter 13:30 and in summer 12:30 UTC');
}

// Frequencies and transforms of every regular series that the other checks have loaded, as pandas computes them from the published points.
// Hides that pandas works in floating point: what it gives is compared to ten significant digits.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { json, points, type Instance } from './answers.ts';
import type { Check } from './run.ts';

const frequencies = ['daily', 'weekly', 'monthly', 'quarterly'] as const;
const interpreters = ['python3', '/usr/bin/python3'];

/** An interpreter that has pandas; undefined if none does. */
export function pandasPython(): string | undefined {
  return interpreters.find((each) => spawnSync(each, ['-c', 'import pandas']).status === 0);
}

type Expected = Record<string, [date: string, value: number][]>;

export async function checkFrequencies({ instance, seen }: Check): Promise<void> {
  const python = pandasPython();
  if (python === undefined) {
    process.stdout.write('  pandas is not installed, so frequencies are not compared with it.\n');
    return;
  }
  const oracle = startOracle(python);
  const compared = { series: 0, answers: 0, points: 0 };
  try {
    for (const { id, frequency } of spread(await regularSeries(instance))) {
      const published = await publishedPoints(instance, id);
      if (published === null || published.length < 3) continue;
      const expected = await oracle.ask({ id, frequency, points: published });
      const scale = Math.max(...published.map(([, digits]) => Math.abs(Number(digits))));
      for (const [query, wanted] of Object.entries(expected)) {
        const found = await points(instance, `/v1/series/${id}?limit=100000&${query}`);
        assertClose(found, wanted, { what: `${id} by ${query}`, scale });
        compared.answers += 1;
        compared.points += found.length;
      }
      compared.series += 1;
    }
  } finally {
    oracle.end();
  }
  assert.ok(compared.series > 0, 'no other check has loaded a series');
  seen(
    `${compared.points} values in ${compared.answers} answers of ${compared.series} series are those of pandas`,
  );
}

/** So many at most, from all frequencies and sources. */
const seriesMax = 200;

function spread<Item>(all: readonly Item[]): Item[] {
  const step = Math.max(1, all.length / seriesMax);
  return all.filter((_, i) => i === 0 || Math.floor(i / step) > Math.floor((i - 1) / step));
}

/** The series without dimensions, of a frequency that has lower ones. */
async function regularSeries(instance: Instance): Promise<{ id: string; frequency: string }[]> {
  const found: { id: string; frequency: string }[] = [];
  for (const frequency of frequencies) {
    let cursor: string | null = '';
    while (cursor !== null) {
      const next: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = (await json(instance, `/v1/catalog?frequency=${frequency}&limit=500${next}`)) as {
        data: { id: string }[];
        pagination: { next_cursor: string | null };
      };
      found.push(...page.data.map(({ id }) => ({ id, frequency })));
      cursor = page.pagination.next_cursor;
    }
  }
  return found;
}

/** Date and digits; null for a series with dimensions. */
async function publishedPoints(instance: Instance, id: string): Promise<[string, string][] | null> {
  const response = await instance.get(`/v1/series/${id}?format=csv`);
  const text = await response.text();
  assert.equal(response.status, 200, text.slice(0, 300));
  const [header, ...lines] = text.trimEnd().split('\r\n');
  if (header !== 'date,value') return null;
  return lines.map((line): [string, string] => {
    const [date = '', digits = ''] = line.split(',');
    return [date, digits];
  });
}

/**
 * The same dates, and values that agree to ten significant digits. A difference of close numbers has fewer of them in floating point:
 * it agrees to what such a number of that scale can hold.
 */
function assertClose(
  found: readonly { date: string; value: number }[],
  wanted: readonly (readonly [date: string, value: number])[],
  { what, scale }: { what: string; scale: number },
): void {
  const [dates, wantedDates] = [
    new Set(found.map(({ date }) => date)),
    new Set(wanted.map(([date]) => date)),
  ];
  const onlyOne = { found: [...dates.difference(wantedDates)], wanted: [...wantedDates.difference(dates)] };
  assert.deepEqual(onlyOne, { found: [], wanted: [] }, what);
  for (const [i, [date, value]] of wanted.entries()) {
    const own = found[i]?.value ?? Number.NaN;
    const isClose = Math.abs(own - value) <= Math.max(Math.abs(value) * 1e-9, scale * 1e-12, 1e-10);
    assert.ok(isClose, `${what} on ${date}: ${own}, not ${value}`);
  }
}

function startOracle(python: string) {
  const program = spawn(python, [path.join(import.meta.dirname, 'pandas-oracle.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  return {
    async ask(series: { id: string; frequency: string; points: [string, string][] }): Promise<Expected> {
      program.stdin.write(`${JSON.stringify(series)}\n`);
      const answer = await lines.next();
      assert.ok(answer.done !== true, `pandas ended at ${series.id}`);
      return JSON.parse(answer.value) as Expected;
    },
    end: () => program.stdin.end(),
  };
}

// Two data-api processes read while a third process loads: each answer shows the state before or after a load, and once the load has ended both show
// the new state.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { createSealer, identityHeader } from '../../kernel/identity.ts';
import { projectRoot } from '../../kernel/project.ts';
import { proAccount } from '../services/data-service.ts';
import { createTestDatabase, testIdentitySecret } from '../services/harness.ts';
import { endChildren, startChild, startServing } from '../run/processes.ts';

const database = await createTestDatabase();
const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
const environment = {
  ...process.env,
  DATABASE_URL: database.url,
  DATA_DIR: path.join(folder, 'data'),
  IDENTITY_SECRET: testIdentitySecret,
  DATA_API_PORT: '0',
};
const seal = createSealer(testIdentitySecret, 'data-api');

test.after.always(async () => {
  await endChildren();
  await database.drop();
});
let urls: string[];
test.before(async () => {
  urls = await Promise.all([startDataApi(), startDataApi()]);
});

const program = path.join(projectRoot, 'almanac.ts');

async function startDataApi(): Promise<string> {
  const words = [program, 'start', 'data-api'];
  const child = await startServing(/data-api is running: (\S+)/, process.execPath, words, {
    name: 'data-api',
    env: environment,
  });
  return child.ready[1] ?? '';
}

const days = Array.from({ length: 2_000 }, (_, i) =>
  new Date(Date.UTC(2015, 0, 1 + i)).toISOString().slice(0, 10),
);
const seriesIds = ['WHOLE.A', 'WHOLE.B'];

/** Loads both series, with the number of the load as every value. Resolves once the command has succeeded. */
async function load(number: number): Promise<void> {
  const file = path.join(folder, `${number}.csv`);
  const rows = seriesIds.flatMap((id) => days.map((day) => `${id},${day},${number}`));
  writeFileSync(file, ['series_id,date,value', ...rows].join('\n'));
  const set = ['--create', '--set', 'frequency=daily,unit=Index,source=Test'];
  const words = [program, 'ingest', 'observations', file, ...set];
  const child = startChild(process.execPath, words, { name: 'ingest', env: environment });
  const code = await child.exit();
  if (code !== 0) throw new Error(child.output());
}

/** The load numbers in an answer; more than one means a mixed state. @returns them, and the number of points. */
async function numbersSeen(url: string, target: string): Promise<{ numbers: number[]; points: number }> {
  const response = await fetch(url + target, {
    headers: { [identityHeader]: seal(proAccount, 'GET', target) },
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  const values = target.includes('format=csv')
    ? text.trimEnd().split('\r\n').slice(1).map((line) => Number(line.split(',')[1])) // prettier-ignore
    : [...text.matchAll(/"value":(\d+)/g)].map((match) => Number(match[1]));
  return { numbers: [...new Set(values)], points: values.length };
}

test.serial(
  'every data-api shows a load completely or not at all, and shows it as soon as the command has ended',
  async (t) => {
    await load(1);
    const targets = seriesIds.flatMap((id) => [
      `/v1/series/${id}?limit=100000`,
      `/v1/series/${id}?format=csv`,
      `/v1/series/${id}?sort=desc&limit=100000`,
    ]);
    let loaded = 1;
    const over = new AbortController();
    let answers = 0;
    const readAll = urls.map(async (url) => {
      for (let at = 0; !over.signal.aborted; at += 1) {
        const least = loaded;
        const target = targets[at % targets.length] ?? '';
        const { numbers, points } = await numbersSeen(url, target);
        answers += 1;
        const [number = 0] = numbers;
        t.deepEqual([numbers.length, points], [1, days.length], `${target} of ${url}`);
        t.true(
          number >= least && number <= least + 2,
          'never older than what had been loaded when it was asked',
        );
      }
    });
    for (const number of [2, 3]) {
      await load(number);
      loaded = number;
      for (const url of urls)
        for (const target of targets) t.deepEqual((await numbersSeen(url, target)).numbers, [number]);
    }
    over.abort();
    await Promise.all(readAll);
    t.true(answers > 20, 'there were readers all the time');
  },
);

test.serial(
  'paging that began in one process continues in another, across a load, in the state of its first page',
  async (t) => {
    const [one = '', other = ''] = urls;
    await load(4);
    let cursor: string | null = '';
    let points = 0;
    for (let page = 0; cursor !== null; page += 1) {
      const target: string = `/v1/series/WHOLE.A?limit=700${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const response = await fetch((page % 2 === 0 ? one : other) + target, {
        headers: { [identityHeader]: seal(proAccount, 'GET', target) },
      });
      const { data, pagination } = (await response.json()) as {
        data: { value: number }[];
        pagination: { next_cursor: string | null };
      };
      t.true(data.every(({ value }) => value === 4));
      points += data.length;
      cursor = pagination.next_cursor;
      if (page === 0) await load(5);
    }
    t.is(points, days.length);
    t.deepEqual((await numbersSeen(other, '/v1/series/WHOLE.A?limit=100000')).numbers, [5]);
  },
);

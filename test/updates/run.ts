// Ten readers of /v1/updates that stop and go on at random while 1,000 loads run: each sees each change exactly once and in order.
// Usage: npm run try-updates -- [--seed N] [--loads M]. Exits with 1 if a reader does not.
import { parseArgs } from 'node:util';
import { openDatabase } from '../../kernel/database.ts';
import { createRandom, type Random } from '../chaos/random.ts';
import { daily, loadCsv, today } from '../ingest/loading.ts';
import { startServers } from '../run/servers.ts';
import { runGuarded } from '../run/guard.ts';
import { startDataService, type DataService } from '../services/data-service.ts';
import { silentLog } from '../services/harness.ts';

const { values } = parseArgs({
  options: { seed: { type: 'string' }, loads: { type: 'string', default: '1000' } },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32));
const loads = Number(values.loads);
const readers = 10;
const loaders = 4;

interface Update {
  id: string;
  type: string;
  data: { series?: string[]; load: number };
}
interface Page {
  data: Update[];
  pagination: { next_cursor: string | null };
  meta: { cursor: string };
}

/** The loads so far, and the readers that wait for more. */
class Progress {
  loaded = 0;
  #waiting: { until: number; wake: () => void }[] = [];

  add(): void {
    this.loaded += 1;
    const due = this.#waiting.filter(({ until }) => until <= this.loaded);
    this.#waiting = this.#waiting.filter(({ until }) => until > this.loaded);
    for (const { wake } of due) wake();
  }

  /** Resolves when so many are loaded, or all. */
  reached(count: number): Promise<void> {
    const until = Math.min(count, loads);
    return until <= this.loaded
      ? Promise.resolve()
      : new Promise((wake) => this.#waiting.push({ until, wake }));
  }
}

interface Read {
  seen: Update[];
  pages: number;
  stops: number;
  lost: number;
}

/** A reader stores only the updates it saw and the cursor. It may stop before it has stored an answer, which it then reads again. */
async function readAll(service: DataService, random: Random, progress: Progress): Promise<Read> {
  const read: Read = { seen: [], pages: 0, stops: 0, lost: 0 };
  let cursor = '0';
  for (;;) {
    const wasLoaded = progress.loaded === loads;
    const answer = await service.call(
      `/v1/updates?cursor=${cursor}&limit=${random.pick([1, 2, 7, 50, 1000])}`,
    );
    if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
    const page = answer.json as Page;
    read.pages += 1;
    if (random.below(10) === 0) {
      read.lost += 1;
      continue;
    }
    read.seen.push(...page.data);
    ({ cursor } = page.meta);
    const isAtEnd = page.pagination.next_cursor === null;
    if (wasLoaded && isAtEnd) return read;
    if (isAtEnd || random.below(20) === 0) {
      read.stops += 1;
      await progress.reached(progress.loaded + random.between(1, 60));
    }
  }
}

await runGuarded(async ({ directory }) => {
  const servers = await startServers(directory);
  Object.assign(process.env, servers.env);
  const service = await startDataService(`${today}T13:00:00Z`);
  const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'updates' });
  try {
    const random = createRandom(seed);
    printLine(`updates: seed ${seed}, ${loads} loads, ${readers} readers`);
    const started = performance.now();
    const progress = new Progress();
    let startedLoads = 0;
    const loader = async (number: number): Promise<void> => {
      while (startedLoads < loads) {
        startedLoads += 1;
        const rows = [1, 2].map((day) => `MANY.${number},2024-01-0${day},${startedLoads}`);
        await loadCsv(database, ['series_id,date,value', ...rows], { create: true, set: daily });
        progress.add();
      }
    };
    const reading = Array.from({ length: readers }, () => readAll(service, random.fork(), progress));
    await Promise.all(Array.from({ length: loaders }, (_, number) => loader(number)));
    const seconds = Math.round((performance.now() - started) / 1000);
    const all = await Promise.all(reading);
    const faults = all.flatMap(({ seen }, reader) =>
      faultsOf(seen, all[0]?.seen ?? []).map((what) => `reader ${reader} ${what}`),
    );
    const sum = (of: (read: Read) => number) => all.reduce((total, read) => total + of(read), 0);
    printLine(
      `${progress.loaded} loads in ${seconds} s; ${sum(({ seen }) => seen.length)} changes seen in ${sum(({ pages }) => pages)} answers, ${sum(({ lost }) => lost)} of them lost and read again; ${sum(({ stops }) => stops)} stops`,
    );
    for (const fault of faults) printLine(`WRONG: ${fault}`);
    printLine(faults.length === 0 ? 'updates: all is right' : `updates: ${faults.length} things are wrong`);
    return faults.length === 0 ? 0 : 1;
  } finally {
    await database.close();
    await service.close();
    await servers.stop();
  }
});

function faultsOf(seen: readonly Update[], first: readonly Update[]): string[] {
  const faults: string[] = [];
  const ofLoads = seen.filter(({ type }) => type === 'series.updated').map(({ data }) => data.load);
  if (ofLoads.length !== loads) faults.push(`saw ${ofLoads.length} loads`);
  if (new Set(seen.map(({ id }) => id)).size !== seen.length) faults.push('saw a change twice');
  if (ofLoads.some((load, i) => i > 0 && load <= (ofLoads[i - 1] ?? 0)))
    faults.push('saw loads in another order');
  if (seen.map(({ id }) => id).join() !== first.map(({ id }) => id).join())
    faults.push('saw other changes than the first');
  return faults;
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

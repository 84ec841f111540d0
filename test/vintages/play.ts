// Plays many cases in one database, each with its own series: equal steps of cases on a day are one file. After each step
// every question is asked of a series for each beginning of a case, and compared with a replay.
import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { acceptUnderEmbargo } from '../../ingest/publisher/releases/accept.ts';
import { makeNextReleases } from '../../ingest/publisher/releases/make-releases.ts';
import { retract } from '../../ingest/history/retract/retract.ts';
import { load } from '../../ingest/load/load.ts';
import { openDatabase, type Database } from '../../kernel/database.ts';
import { entryOf } from '../../kernel/entries.ts';
import { fakeReleaseClock } from '../ingest/releasing.ts';
import { daily } from '../ingest/loading.ts';
import { fakeClock, silentLog } from '../services/harness.ts';
import { Batched } from './batched.ts';
import type { Case } from './cases.ts';
import { answersOf, dateOf, expectedOf, points } from './questions.ts';
import { dayOf, releaseDayOf, type Moment, type Step } from './replay.ts';

export interface Fault {
  steps: Case;
  moment: Moment;
  question: string;
  found: unknown;
  expected: unknown;
}

export interface Played {
  cases: number;
  /** How many different beginnings of cases, at how many moments, were asked about. */
  moments: number;
  questions: number;
  statements: number;
  faults: Fault[];
}

const stepsMax = 5;
const askedAtOnce = 400;
const faultsMax = 20;
const never = new AbortController().signal;

/** @param url of a database without data. */
export async function play(url: string, cases: readonly Case[]): Promise<Played> {
  const options = { applicationName: 'vintages', statementTimeoutMs: 0 };
  const database = openDatabase(url, silentLog, options);
  const asking = openDatabase(oneByOne(url), silentLog, options);
  try {
    const player = new Player(database, asking, cases);
    for (let step = 0; step <= stepsMax; step += 1) {
      await player.release(step);
      if (player.faults.length >= faultsMax || step === stepsMax) break;
      await player.apply(step);
      if (player.faults.length >= faultsMax) break;
    }
    return player.played;
  } finally {
    await asking.close();
    await database.close();
  }
}

type Loaded = Extract<Step, { kind: 'load' }>;

/** Makes statements for many series look up each one, like those for a single series. */
function oneByOne(url: string): string {
  const own = new URL(url);
  const others = ['hashjoin', 'mergejoin', 'seqscan', 'bitmapscan'];
  own.searchParams.set('options', ['-c jit=off', ...others.map((plan) => `-c enable_${plan}=off`)].join(' '));
  return own.href;
}

class Player {
  readonly faults: Fault[] = [];
  readonly #database: Database;
  readonly #batched: Batched;
  readonly #cases: readonly Case[];
  /** By file, the number of its load or of its newest retraction. */
  readonly #numbers = new Map<string, number>();
  #pending: string[] = [];
  readonly #clock = fakeReleaseClock(`${dateOf(0)}T12:00:00Z`);
  readonly #now = fakeClock(`${dateOf(0)}T12:00:00Z`);
  #moments = 0;
  #questions = 0;

  constructor(database: Database, asking: Database, cases: readonly Case[]) {
    this.#database = database;
    this.#batched = new Batched(asking);
    this.#cases = cases;
  }

  get played(): Played {
    const { statements } = this.#batched;
    return {
      cases: this.#cases.length,
      moments: this.#moments,
      questions: this.#questions,
      statements,
      faults: this.faults,
    };
  }

  /** The morning of the day of a step: due releases are made. */
  async release(step: number): Promise<void> {
    this.#clock.set(`${dateOf(dayOf(step))}T06:00:00Z`);
    const before = await this.#newestLoad();
    const deps = { database: this.#database, clock: this.#clock, log: silentLog };
    for (let made = await makeNextReleases(deps, never); made.result !== 'none';)
      made = await makeNextReleases(deps, never);
    const numbers = await this.#loadsAfter(before);
    if (numbers.length !== this.#pending.length)
      throw new Error(`${numbers.length} of ${this.#pending.length} releases were made`);
    for (const [i, file] of this.#pending.entries()) this.#numbers.set(file, numbers[i] ?? NaN);
    this.#pending = [];
    await this.#ask({ stepsDone: step, day: dayOf(step) }, (last) => last.kind === 'load' && last.embargoed);
  }

  async apply(step: number): Promise<void> {
    for (const clock of [this.#clock, this.#now]) clock.set(`${dateOf(dayOf(step))}T12:00:00Z`);
    const files = new Map<string, { of: Loaded; rows: string[] }>();
    const retractions = new Set<string>();
    for (const [number, steps] of this.#cases.entries()) {
      const current = steps[step];
      if (current?.kind === 'retract') retractions.add(fileOf(steps, current.of));
      if (current?.kind !== 'load') continue;
      const name = fileOf(steps, step);
      const file = files.get(name) ?? { of: current, rows: ['series_id,date,side,value'] };
      files.set(name, file);
      for (const [at, letter] of current.content.split('').entries()) {
        const { date, side } = points[at] ?? {};
        if (letter !== '.') file.rows.push(`${idOf(number)},${date},${side},${letter === 'm' ? '' : letter}`);
      }
    }
    await this.#database.query('analyze'); // as autovacuum does, which is off in tests
    for (const [name, { of, rows }] of files) await this.#load(name, of, rows, step);
    for (const file of retractions) {
      const { loadNo } = await retract(this.#database, {
        loadNo: entryOf(this.#numbers, file),
        seriesTimeZone: 'UTC',
        clock: this.#now,
        noGateway: true,
      });
      this.#numbers.set(file, loadNo);
    }
    await this.#ask({ stepsDone: step + 1, day: dayOf(step) }, () => true);
  }

  /** Every second file is a stream, whose points are always compared with the stored ones. */
  async #load(
    name: string,
    { full, vintage, embargoed }: Loaded,
    rows: readonly string[],
    step: number,
  ): Promise<void> {
    const options = {
      dataset: 'observations',
      ...(step === 0 ? { create: true, set: daily } : {}),
      full,
      seriesTimeZone: 'UTC',
      sourceName: name,
    };
    const stream = () => Readable.from([Buffer.from(rows.join('\n'))]);
    if (embargoed) {
      const instant = `${dateOf(releaseDayOf(step))}T06:00:00Z`;
      await acceptUnderEmbargo(this.#database, { ...options, input: stream() }, { instant }, this.#clock);
      this.#pending.push(name);
      return;
    }
    const before = await this.#newestLoad();
    const again = this.#numbers.size % 2 === 0 && {
      rows: async function* () {
        const cells = rows.map((row) => row.split(','));
        yield await Promise.resolve({ rows: cells, lines: cells.map((_, i) => i + 1) });
      },
    };
    await load(this.#database, {
      ...options,
      ...again,
      input: stream(),
      vintage: dateOf(vintage),
      clock: this.#now,
      noGateway: true,
    });
    const [number = NaN] = await this.#loadsAfter(before);
    this.#numbers.set(name, number);
  }

  /** Asks a series for each beginning of a case. @param isAsked by its last step. */
  async #ask(moment: Moment, isAsked: (last: Step) => boolean): Promise<void> {
    const asked = new Map<string, number>();
    for (const [number, steps] of this.#cases.entries()) {
      const last = steps[moment.stepsDone - 1];
      if (last === undefined || !isAsked(last)) continue;
      const beginning = JSON.stringify(steps.slice(0, moment.stepsDone));
      if (!asked.has(beginning)) asked.set(beginning, number);
    }
    const numbers = [...asked.values()];
    for (let i = 0; i < numbers.length && this.faults.length < faultsMax; i += askedAtOnce)
      await Promise.all(numbers.slice(i, i + askedAtOnce).map((number) => this.#compare(number, moment)));
    this.#moments += numbers.length;
  }

  async #compare(number: number, moment: Moment): Promise<void> {
    const steps = this.#cases[number] ?? [];
    const found = await answersOf(this.#batched, idOf(number), moment.day);
    const expected = expectedOf(steps, moment);
    this.#questions += Object.keys(expected).length;
    if (isDeepStrictEqual(found, expected)) return;
    const question =
      Object.keys({ ...expected, ...found }).find(
        (name) => !isDeepStrictEqual(found[name], expected[name]),
      ) ?? '';
    this.faults.push({ steps, moment, question, found: found[question], expected: expected[question] });
  }

  async #newestLoad(): Promise<number> {
    const [row] = await this.#database.query<{ newest: number }>(
      'select coalesce(max(load_no), 0) as newest from data.loads',
    );
    return row?.newest ?? 0;
  }

  async #loadsAfter(load: number): Promise<number[]> {
    const rows = await this.#database.query<{ load_no: number }>(
      'select load_no from data.loads where load_no > $1 order by load_no',
      [load],
    );
    return rows.map(({ load_no }) => load_no);
  }
}

const idOf = (number: number): string => `CASE.${number}`;

/** The name of the file of a step: cases share it if they make the same kind of load, and retract it on the same days. */
function fileOf(steps: Case, at: number): string {
  const step = steps[at];
  if (step?.kind !== 'load') throw new Error(`step ${at} is no load`);
  const retracted = steps.flatMap((other, when) =>
    other.kind === 'retract' && other.of === at ? [when] : [],
  );
  const { full, vintage, embargoed } = step;
  return `${at}: ${full ? 'full' : 'partial'} of day ${vintage}${embargoed ? ', embargoed' : ''}, retracted on ${retracted.map(dayOf).join()}`;
}

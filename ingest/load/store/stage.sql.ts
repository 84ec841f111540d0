// The temporary tables that a load of points fills, and the queries on them. They are dropped with the transaction.
import { from as copyFrom } from 'pg-copy-streams';
import type { Transaction } from '../../../kernel/database.ts';

/** load_points: the rows of the vintage being stored. A row whose value is null was published as missing. */
export async function createStage(on: Transaction): Promise<void> {
  await on.query(`
    create temp table load_points (
      line integer not null, series_no integer not null, line_no integer not null, date date not null,
      value numeric, status text
    ) on commit drop`);
}

/** load_rows: the rows of every vintage, if the file has a column for it. */
export async function createStageOfVintages(on: Transaction): Promise<void> {
  await on.query(`create temp table load_rows (vintage date not null, like load_points) on commit drop`);
}

const flushCharacters = 1024 * 1024;

/** Buffers rows in COPY's text format: sends a megabyte at a time, while the next is being read. */
export class CopyBuffer {
  readonly #line: CopyLine;
  readonly #statement: string;
  #text = '';

  /** @param table the table and its columns, such as `load_points (line, date)`. */
  constructor(line: CopyLine, table: string) {
    this.#line = line;
    this.#statement = `copy ${table} from stdin`;
  }

  /** @param row cells separated by tabs, with a line break at the end; `\N` is null; text must be escaped by `copyText`. */
  add(row: string): void {
    this.#text += row;
  }

  /** Sends the buffer once it has a megabyte; returns as soon as the previous data has arrived. */
  async flushIfFull(): Promise<void> {
    if (this.#text.length >= flushCharacters) await this.#send();
  }

  /** Sends the rest and waits until all has arrived; required before any other statement of the transaction. */
  async flush(): Promise<void> {
    if (this.#text !== '') await this.#send();
    await this.#line.arrived();
  }

  async #send(): Promise<void> {
    const text = this.#text;
    this.#text = '';
    await this.#line.send(this.#statement, text);
  }
}

/** The running COPY on a connection, which supports one at a time. */
export class CopyLine {
  readonly #on: Transaction;
  #sending: Promise<void> = Promise.resolve();

  constructor(on: Transaction) {
    this.#on = on;
  }

  /** Sends rows once the previous ones have arrived; returns when the sending has begun. */
  async send(statement: string, rows: string): Promise<void> {
    await this.#sending;
    this.#sending = new Promise((resolve, reject) => {
      const copy = this.#on.client.query(copyFrom(statement));
      copy.once('finish', resolve);
      copy.once('error', reject);
      copy.end(rows);
    });
    this.#sending.catch(() => undefined); // reported by the next send, arrived or waitForCopy
  }

  async arrived(): Promise<void> {
    await this.#sending;
  }

  /** Waits for the running COPY, successful or not: a rollback must not overtake it. */
  async waitForCopy(): Promise<void> {
    await this.#sending.catch(() => undefined);
  }
}

/** Escapes text for a cell of COPY's text format. */
export function copyText(text: string): string {
  return /[\\\t\n\r]/.test(text)
    ? text.replaceAll(/[\\\t\n\r]/g, (character) => copyEscapes[character] ?? character)
    : text;
}

const copyEscapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

interface Duplicate {
  first_line: number;
  line: number;
  series_id: string;
  date: string;
  dims: Record<string, string>;
}

/**
 * Removes every row but the first of each point from the stage, and from load_rows also those of each vintage; of a point that one line has in two
 * columns, it removes all, as no column is the first.
 * @returns the removed rows, each with the first line that has the point.
 */
export async function rejectDuplicatePoints(
  on: Transaction,
  stage: 'load_points' | 'load_rows',
): Promise<Duplicate[]> {
  const key = ['line_no', 'date', ...(stage === 'load_rows' ? ['vintage'] : [])];
  const equal = key.map((name) => `p.${name} = r.${name}`).join(' and ');
  return on.query<Duplicate>(`
    with repeated as (
      select ${key.join(', ')}, min(line) as first_line
      from ${stage} group by ${key.join(', ')} having count(*) > 1
    ), in_columns as (
      select distinct ${key.join(', ')} from ${stage} p join repeated using (${key.join(', ')})
      group by ${key.join(', ')}, p.line having count(*) > 1
    ), taken as (
      delete from ${stage} p using repeated r left join in_columns c using (${key.join(', ')})
      where ${equal} and (p.line > r.first_line or c.line_no is not null)
      returning r.first_line, p.line, p.line_no, p.date
    )
    select t.first_line, t.line, s.series_id, t.date, d.dims
    from taken t join data.series_dims d using (line_no) join data.series s using (series_no)
    order by t.line`);
}

// Runs the statements that many questions ask at the same time as one each, so that a round trip answers hundreds. The text of a statement
// stays that of data-api: it is a lateral part of the query, with columns in place of its parameters.
import type { Database, Queryable } from '../../kernel/database.ts';
import { entryOf } from '../../kernel/entries.ts';

interface Asked {
  values: readonly unknown[];
  resolve: (rows: object[]) => void;
  reject: (error: unknown) => void;
}

export class Batched implements Queryable {
  readonly #database: Database;
  readonly #types = new Map<string, readonly string[]>();
  #asked = new Map<string, Asked[]>();
  #isDue = false;
  statements = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    this.statements += 1;
    return new Promise<Row[]>((resolve, reject) => {
      const asked = { values, resolve: (rows: object[]) => resolve(rows as Row[]), reject };
      const others = this.#asked.get(text);
      if (others === undefined) this.#asked.set(text, [asked]);
      else others.push(asked);
      if (this.#isDue) return;
      this.#isDue = true;
      setImmediate(() => void this.#askAll());
    });
  }

  async #askAll(): Promise<void> {
    const due = this.#asked;
    this.#asked = new Map();
    this.#isDue = false;
    await Promise.all([...due].map(([text, asked]) => this.#ask(text, asked)));
  }

  async #ask(text: string, asked: readonly Asked[]): Promise<void> {
    try {
      const types = await this.#typesOf(text);
      const columns = types.map((_, i) => asked.map(({ values }) => textOf(values[i])));
      const rows = await this.#database.query<{ '#': number }>(lateral(text, types), columns);
      const answers = asked.map((): object[] => []);
      for (const { '#': number, ...row } of rows) answers[number - 1]?.push(row);
      for (const [i, { resolve }] of asked.entries()) resolve(answers[i] ?? []);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }

  /** The types that PostgreSQL infers for the parameters. */
  async #typesOf(text: string): Promise<readonly string[]> {
    if (!this.#types.has(text)) {
      const types = await this.#database.transaction(async (on) => {
        await on.query(`prepare asked as ${text}`);
        const [row] = await on.query<{ types: string[] }>(
          `select parameter_types::text[] as types from pg_prepared_statements where name = 'asked'`,
        );
        await on.query('deallocate asked');
        return row?.types ?? [];
      });
      this.#types.set(text, types);
    }
    return entryOf(this.#types, text);
  }
}

function lateral(text: string, types: readonly string[]): string {
  const names = types.map((_, i) => `parameter_${i + 1}`);
  const own = text.replaceAll(/\$(\d+)/g, (_, number: string) => {
    const type = types[Number(number) - 1];
    return `(asked_.parameter_${number}::${type})`;
  });
  return `select asked_."#", answer_.* from unnest(${names.map((_, i) => `$${i + 1}::text[]`).join(', ')})
    with ordinality as asked_(${[...names, '"#"'].join(', ')}) cross join lateral (${own}) answer_`;
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  return Array.isArray(value) ? `{${value.join(',')}}` : `${value as string | number}`;
}

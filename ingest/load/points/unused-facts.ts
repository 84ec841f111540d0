// Notes the metadata from --set that had no effect, because the series, item or city already exists with other metadata.
import type { Transaction } from '../../../kernel/database.ts';
import { shellWord } from '../../datasets/shell-word.ts';
import { findOtherFacts, type FactTable } from './unused-facts.sql.ts';

/** How many ids are named in notes. */
const namedMax = 3;

export class UnusedFacts {
  readonly #on: Transaction;
  readonly #table: FactTable;
  readonly #facts: Readonly<Record<string, string | null>>;
  readonly #found = new Map<string, { name: string; stored: string | null }>();

  /** @param facts columns of the table, as given by `readCell`. */
  constructor(on: Transaction, table: FactTable, facts: Readonly<Record<string, string | null>>) {
    this.#on = on;
    this.#table = table;
    this.#facts = facts;
  }

  /**
   * Compares existing rows with the constants, until the notes are full. No other statement of the transaction may be running.
   * @param ids that the load uses; rows that the load created match the constants.
   */
  async compare(ids: readonly string[]): Promise<void> {
    if (ids.length === 0 || Object.keys(this.#facts).length === 0 || this.#found.size > namedMax) return;
    for (const { id, name, stored } of await findOtherFacts(this.#on, this.#table, ids, this.#facts))
      if (this.#found.size <= namedMax) this.#found.set(id, { name, stored });
  }

  #howToChange(id: string, name: string): string {
    if (this.#table !== 'series') return `Change it by a file for the dataset ${this.#table}.`;
    const fact = shellWord(`${name}=${this.#facts[name] ?? ''}`);
    const fromADate =
      name === 'unit' ? `, or from a date on by: almanac series break ${id} --from DATE ${fact}` : '';
    return `Change it by: almanac series set ${id} ${fact}${fromADate}`;
  }

  /** The notes for the load's summary. */
  notes(): string[] {
    const all = [...this.#found]
      .slice(0, namedMax)
      .map(
        ([id, { name, stored }]) =>
          `${id} exists, so --set ${name}=${this.#facts[name] ?? ''} changed nothing: its ${name} is ${stored ?? 'empty'}. ` +
          this.#howToChange(id, name),
      );
    const what = this.#table.replace(/^commodity-/, '');
    return this.#found.size > namedMax ? [...all, `More ${what} exist and differ from --set.`] : all;
  }
}

// Facts that --set gives for what --create makes, and that change nothing where it exists with others. Hides how they are compared.
import type { Transaction } from '../../../kernel/database.ts';
import { shellWord } from '../../datasets/shell-word.ts';
import { findOtherFacts, type FactTable } from './idle-facts.sql.ts';

/** How many ids are named in notes. */
const namedMax = 3;

export class IdleFacts {
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
   * Compares what exists with the constants, up to as many as are named. No other statement of the transaction may be under way.
   * @param ids that the load uses; what it has made is as the constants say.
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

  /** What to say of them. */
  notes(): string[] {
    const all = [...this.#found]
      .slice(0, namedMax)
      .map(
        ([id, { name, stored }]) =>
          `${id} exists, so --set ${name}=${this.#facts[name] ?? ''} changed nothing: its ${name} is ${stored ?? 'empty'}. ` +
          this.#howToChange(id, name),
      );
    const what = this.#table.replace(/^commodity-/, '');
    return this.#found.size > namedMax ? [...all, `More ${what} exist and are not as --set says.`] : all;
  }
}

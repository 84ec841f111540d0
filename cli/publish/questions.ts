// Asks the user at the terminal how to settle guesses, and for missing facts: one question after the other; tables with the same question
// share it.
import { createInterface, type Interface } from 'node:readline/promises';
import type { TableDescription } from '../../ingest/entry/entry-schema.ts';
import { nameOf } from '../../ingest/plan/preview-text.ts';
import { isMissing, titled } from '../../ingest/entry/missing-facts.ts';
import { changeOf, type Choice, type EntryChange, type Pick } from '../../ingest/entry/resolve-guesses.ts';
import type { Terminal } from '../command.ts';

/** Lines that somebody types. */
export interface Asking {
  /** @returns null at the end of the input. */
  ask(question: string): Promise<string | null>;
  close(): void;
}

export function askingAt({ stdin, stderr }: Terminal): Asking {
  // One reader for the whole run: a second one might miss lines that the first has already read.
  let lines: Interface | undefined;
  let read: AsyncIterator<string> | undefined;
  return {
    async ask(question) {
      lines ??= createInterface({ input: stdin });
      read ??= lines[Symbol.asyncIterator]();
      stderr.write(question);
      const { done, value } = await read.next();
      return done === true ? null : value.trim();
    },
    close: () => lines?.close(),
  };
}

/** A question, and the tables that it is asked of. */
interface Question {
  choice: Choice;
  of: { entry: TableDescription; choice: Choice }[];
  /** For a missing fact, not for a guess. */
  isMissing: boolean;
}

export interface PickedChange {
  entry: TableDescription;
  change: EntryChange;
  label: string;
}

/**
 * Asks about all guesses of the tables that can be picked or typed, and then for the missing facts. `all` confirms the remaining guesses;
 * `all: PKR` answers this question and those for the same fact of further columns of the table.
 * @returns the picks that change an entry; null if the input ended.
 */
export async function askAll(
  tables: readonly { entry: TableDescription; choices: readonly Choice[] }[],
  asking: Asking,
  terminal: Terminal,
): Promise<PickedChange[] | null> {
  const changes: PickedChange[] = [];
  const questions = questionsOf(tables).toSorted((a, b) => Number(a.isMissing) - Number(b.isMissing));
  const ofAll = new Map<string, Pick>();
  for (const [at, question] of questions.entries()) {
    const { of, isMissing: isFact } = question;
    if (!isFact && ofAll.has(guesses)) continue;
    const place = isFact ? factPlace(question) : guesses;
    let pick = ofAll.get(place);
    if (pick === undefined) {
      terminal.stderr.write(`\n(${at + 1} of ${questions.length}) ${forWhom(of)}\n${shownOf(question)}`);
      const answer = await answerTo(question, asking);
      if (answer === null) return null;
      pick = answer.pick;
      if (answer.isOfAll) ofAll.set(place, pick);
    }
    changes.push(...changesBy(question, pick));
  }
  return changes;
}

/** The key under which one answer for all guesses is kept. */
const guesses = '';

/** The same for the units of the columns of one table. */
const factPlace = ({ choice: { key }, of }: Question): string =>
  `${nameOf(of[0]?.entry ?? { file: '' })}\n${key.split('.').at(-1) ?? ''}`;

function changesBy({ of }: Question, pick: Pick): PickedChange[] {
  if ('option' in pick && pick.option === 0) return [];
  return of.flatMap(({ entry, choice: own }) => {
    const typed = 'text' in pick && own.key === 'series.name' ? { text: titled(entry, pick.text) } : pick;
    const change = changeOf(own, typed);
    const label = 'option' in typed ? (own.options[typed.option]?.label ?? '') : typed.text;
    return change === null ? [] : [{ entry, change, label }];
  });
}

/** Tables share a question if it is about the same key and each answer but the first makes the same change. */
function questionsOf(tables: readonly { entry: TableDescription; choices: readonly Choice[] }[]): Question[] {
  const questions = new Map<string, Question>();
  for (const { entry, choices } of tables)
    for (const choice of choices) {
      const { key, options, text, question } = choice;
      const sets = options.slice(1).map(({ set }) => set);
      const isFact = isMissing(entry, choice);
      // Columns with the same title have different units in different tables; the publisher is usually the same.
      const own = isFact && key !== 'series.source' ? nameOf(entry) : '';
      const same = JSON.stringify([key, text, sets, options.length === 0 ? question : '', own]);
      const known = questions.get(same);
      if (known === undefined) questions.set(same, { choice, of: [{ entry, choice }], isMissing: isFact });
      else known.of.push({ entry, choice });
    }
  return [...questions.values()];
}

function forWhom(of: Question['of']): string {
  const [first, ...others] = of.map(({ entry }) => nameOf(entry));
  return others.length === 0
    ? (first ?? '')
    : `${first ?? ''} and ${others.length} more: asked once for ${of.length} tables`;
}

function shownOf({ choice: { key, question, options, text }, isMissing: isFact }: Question): string {
  if (isFact) {
    const ofAll = key.startsWith('columns.') ? ', as all: … to answer for all further columns too' : '';
    const without = key === 'series.name' ? 'to keep it' : 'to leave it out';
    return `${key}: ${question}\nType it${ofAll}, or press Enter ${without}: `;
  }
  const lines = options.map(({ label }, at) => `  ${at + 1}  ${label}\n`).join('');
  const how =
    options.length === 0
      ? 'Type it, or press Enter to leave it unchanged; "all" confirms all guesses'
      : `Type a number${text === null ? '' : ' or another text'}, or press Enter for 1; all confirms all guesses`;
  return `${key}: ${question}\n${lines}${how}: `;
}

/** Null at the end of the input. */
async function answerTo(
  { choice, isMissing: isFact }: Question,
  asking: Asking,
): Promise<{ pick: Pick; isOfAll: boolean } | null> {
  const pick = await pickOf(choice, asking, isFact);
  if (pick === null || !('text' in pick)) return pick && { pick, isOfAll: false };
  if (!isFact) return pick.text === 'all' ? { pick: { option: 0 }, isOfAll: true } : { pick, isOfAll: false };
  const [, text] = /^all:\s*(.+)$/s.exec(pick.text) ?? [];
  return text === undefined ? { pick, isOfAll: false } : { pick: { text }, isOfAll: true };
}

/** Null at the end of the input. */
async function pickOf(choice: Choice, asking: Asking, isFact: boolean): Promise<Pick | null> {
  const { options, text } = choice;
  for (let answer = await asking.ask(''); answer !== null;) {
    if (answer === '') return { option: 0 };
    const number = Number(answer);
    if (options.length > 0 && Number.isInteger(number) && number >= 1 && number <= options.length)
      return { option: number - 1 };
    if (text !== null || (answer === 'all' && !isFact)) return { text: answer };
    answer = await asking.ask(
      `"${answer}" is not a number from 1 to ${options.length}. Type one of them, or press Enter for 1: `,
    );
  }
  return null;
}

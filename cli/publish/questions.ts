// Asks whoever sits at a terminal how guesses are to be settled: one question after the other, the same question of several tables once.
import { createInterface, type Interface } from 'node:readline/promises';
import type { TableDescription } from '../../ingest/entry/entry.ts';
import { nameOf } from '../../ingest/plan/preview-text.ts';
import { changeOf, type Choice, type EntryChange, type Pick } from '../../ingest/entry/settle.ts';
import type { Terminal } from '../command.ts';

/** Lines that somebody types. */
export interface Asking {
  /** @returns null at the end of the input. */
  ask(question: string): Promise<string | null>;
  close(): void;
}

export function askingAt({ stdin, stderr }: Terminal): Asking {
  // One for the whole run: another one might miss lines that this one has read ahead.
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
}

export interface Settled {
  entry: TableDescription;
  change: EntryChange;
  label: string;
}

/**
 * Asks about all guesses of the tables that are to be picked, or typed.
 * @returns the picks that change an entry; null if the input ended.
 */
export async function askAll(
  tables: readonly { entry: TableDescription; choices: readonly Choice[] }[],
  asking: Asking,
  terminal: Terminal,
): Promise<Settled[] | null> {
  const settled: Settled[] = [];
  const questions = questionsOf(tables);
  for (const [at, { choice, of }] of questions.entries()) {
    terminal.stderr.write(`\n(${at + 1} of ${questions.length}) ${forWhom(of)}\n${shownOf(choice)}`);
    const pick = await pickOf(choice, asking);
    if (pick === null) return null;
    if ('option' in pick && pick.option === 0) continue;
    for (const { entry, choice: own } of of) {
      const change = changeOf(own, pick);
      const label = 'option' in pick ? (own.options[pick.option]?.label ?? '') : pick.text;
      if (change !== null) settled.push({ entry, change, label });
    }
  }
  return settled;
}

/** Tables share a question if it is about the same key and each answer but the first makes the same change. */
function questionsOf(tables: readonly { entry: TableDescription; choices: readonly Choice[] }[]): Question[] {
  const questions = new Map<string, Question>();
  for (const { entry, choices } of tables)
    for (const choice of choices) {
      const { key, options, text, question } = choice;
      const sets = options.slice(1).map(({ set }) => set);
      const same = JSON.stringify([key, text, sets, options.length === 0 ? question : '']);
      const known = questions.get(same);
      if (known === undefined) questions.set(same, { choice, of: [{ entry, choice }] });
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

function shownOf({ key, question, options, text }: Choice): string {
  const lines = options.map(({ label }, at) => `  ${at + 1}  ${label}\n`).join('');
  const how =
    options.length === 0
      ? 'Type it, or press Enter to leave it as it is'
      : `Type a number${text === null ? '' : ' or another text'}, or press Enter for 1`;
  return `${key}: ${question}\n${lines}${how}: `;
}

/** Null: the input has ended. */
async function pickOf(choice: Choice, asking: Asking): Promise<Pick | null> {
  const { options, text } = choice;
  for (let answer = await asking.ask(''); answer !== null;) {
    if (answer === '') return { option: 0 };
    const number = Number(answer);
    if (options.length > 0 && Number.isInteger(number) && number >= 1 && number <= options.length)
      return { option: number - 1 };
    if (text !== null) return { text: answer };
    answer = await asking.ask(
      `"${answer}" is none of 1 to ${options.length}. Type one of them, or press Enter for 1: `,
    );
  }
  return null;
}

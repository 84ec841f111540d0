// The results of many files as text: a table by layout, and the most frequent faults by each other property of the files.
import type { Kind } from './office-file.ts';
import { isWrong, verdicts, type Verdict } from './try.ts';

export interface Counted {
  kind: Kind;
  verdict: Verdict;
}

const groupsOf = (all: readonly Counted[], by: keyof Kind) =>
  [...Map.groupBy(all, ({ kind }) => kind[by])].toSorted(([a], [b]) => (a < b ? -1 : 1));

/** A row for each layout and each format. */
export function tableLines(all: readonly Counted[]): string[] {
  const row = (name: string, of: readonly Counted[]) =>
    `| ${name.padEnd(26)} | ${verdicts.map((verdict) => String(of.filter((each) => each.verdict === verdict).length).padStart(verdict.length)).join(' | ')} |`;
  return [
    `| ${''.padEnd(26)} | ${verdicts.join(' | ')} |`,
    `|---|${verdicts.map(() => '--:').join('|')}|`,
    ...groupsOf(all, 'layout').map(([name, of]) => row(name, of)),
    ...groupsOf(all, 'format').map(([name, of]) => row(`as ${name}`, of)),
    row('all', all),
    `right without an edit: ${percent(all.filter(({ verdict }) => verdict.startsWith('right')).length, all.length)}`,
  ];
}

const aspects = ['frequency', 'language', 'dates', 'numbers', 'marks', 'around', 'encoding'] as const;
const shownMax = 12;

/** Of each property, the values with most files that are wrong or refused. */
export function rateLines(all: readonly Counted[]): string[] {
  return aspects.flatMap((by) => {
    const rows = groupsOf(all, by)
      .map(([name, of]) => ({
        name,
        wrong: of.filter(({ verdict }) => isWrong(verdict)).length,
        refused: of.filter(({ verdict }) => verdict === 'refused').length,
        of: of.length,
      }))
      .filter(({ wrong, refused }) => wrong + refused > 0)
      .toSorted((a, b) => b.wrong + b.refused / 2 - a.wrong - a.refused / 2);
    if (rows.length === 0) return [];
    const texts = rows
      .slice(0, shownMax)
      .map(({ name, wrong, refused, of }) => `${name} ${wrong}+${refused}/${of}`);
    return [`${by} (wrong + refused / files): ${texts.join(', ')}`];
  });
}

const percent = (part: number, all: number) => `${((100 * part) / Math.max(1, all)).toFixed(1)} %`;

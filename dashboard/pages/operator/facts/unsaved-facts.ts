// The user's unsaved metadata of series, for all pages of the list, stored in sessionStorage so that it survives a required sign-in.
import type { Row } from '../../../api/rows.ts';

export type SeriesFacts = Row<'/v1/operator/series'>;
export type Fact = Exclude<keyof SeriesFacts, 'id' | 'fixed'>;

export const labels: Readonly<Record<Fact, string>> = {
  name: 'Name',
  unit: 'Unit',
  frequency: 'Frequency',
  source: 'Source',
  description: 'Description',
  geography: 'Geography',
  seasonal_adjustment: 'Seasonal adjustment',
  unit_multiplier: 'Unit multiplier',
  decimals: 'Decimals',
  licence: 'Licence',
  licence_url: 'URL of the licence',
  attribution: 'Attribution',
  fiscal_year_end: 'End of the fiscal year',
  tags: 'Tags',
  category: 'Category',
  methodology_url: 'URL of the methods',
};
export const facts = Object.keys(labels) as readonly Fact[];
/** The facts that can be cleared: every series must have a name and a frequency. */
export const optionalFacts = facts.filter(
  (fact): fact is Exclude<Fact, 'name' | 'frequency'> => fact !== 'name' && fact !== 'frequency',
);

/** Id → fact → its text; empty: the fact is cleared. */
export type Draft = Readonly<Record<string, Readonly<Partial<Record<Fact, string>>>>>;

/** The fact in the format of the input; empty if unknown. */
export function textOf(row: SeriesFacts, fact: Fact): string {
  const value = row[fact];
  return Array.isArray(value) ? value.join('; ') : String(value ?? '');
}

/** The draft with this text. If the text is the stored one, the draft does not have the fact. */
export function withText(draft: Draft, row: SeriesFacts, fact: Fact, text: string): Draft {
  const { [fact]: _, ...rest } = draft[row.id] ?? {};
  const after = text === textOf(row, fact) ? rest : { ...rest, [fact]: text };
  const next = { ...draft, [row.id]: after };
  return Object.fromEntries(Object.entries(next).filter(([, typed]) => Object.keys(typed).length > 0));
}

interface Filling {
  fact: Fact;
  text: string;
  /** Only series for which the fact is neither stored nor typed. */
  onlyUnknown: boolean;
}

/** The draft with the same text for all these series; facts that are fixed stay. */
export function filled(
  draft: Draft,
  rows: readonly SeriesFacts[],
  { fact, text, onlyUnknown }: Filling,
): Draft {
  const isFilled = (row: SeriesFacts) =>
    !row.fixed.includes(fact) && !(onlyUnknown && (draft[row.id]?.[fact] ?? textOf(row, fact)) !== '');
  return rows.filter(isFilled).reduce((next, row) => withText(next, row, fact, text), draft);
}

/** The series of the API's request. */
export const requestedFacts = (draft: Draft): { id: string; facts: Record<string, string | null> }[] =>
  Object.entries(draft).map(([id, typed]) => ({
    id,
    facts: Object.fromEntries(Object.entries(typed).map(([fact, text]) => [fact, text.trim() || null])),
  }));

export const countOf = (draft: Draft): number =>
  Object.values(draft).reduce((sum, typed) => sum + Object.keys(typed).length, 0);

const storedAs = 'almanac.facts-draft';

export const storedDraft = (): Draft => JSON.parse(sessionStorage.getItem(storedAs) ?? '{}') as Draft;

export function storeDraft(draft: Draft): void {
  sessionStorage.setItem(storedAs, JSON.stringify(draft));
}

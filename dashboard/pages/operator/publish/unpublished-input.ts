// The user's unpublished input for a table, stored in sessionStorage so that it survives a required sign-in.
import type { FactField } from './fact-fields.ts';

export interface Draft {
  /** Facts of the series by the key of their field; one that is not here is as it was found. */
  facts: Readonly<Record<string, string>>;
  /** The entry as YAML, edited; undefined: as it was found. */
  entry: string | undefined;
  /** The picked option by the key of its choice. The entry already contains its effect. */
  picks: Readonly<Record<string, number>>;
  /** The guesses that were confirmed, by their paths. */
  confirmed: readonly string[];
}

export const emptyDraft: Draft = { facts: {}, entry: undefined, picks: {}, confirmed: [] };

const storedAs = 'almanac.publish-draft';

/** The draft of this table. @param of the upload and the table. */
export function storedDraft(of: string): Draft {
  // Only storeDraft writes it, but possibly in an earlier version.
  const stored = JSON.parse(sessionStorage.getItem(`${storedAs} ${of}`) ?? '{}') as Partial<Draft>;
  return { ...emptyDraft, ...stored };
}

export function storeDraft(of: string, draft: Draft): void {
  sessionStorage.setItem(`${storedAs} ${of}`, JSON.stringify(draft));
}

/** The API request for the table: texts are trimmed, and empty or unchanged ones are left out. */
export function requestOf(
  table: number,
  { facts, entry }: Draft,
  fields: readonly FactField[],
): { table: number; entry?: string; set?: Record<string, string> } {
  const set = Object.fromEntries(
    fields.flatMap(({ key, fact, found }) => {
      const text = (facts[key] ?? '').trim();
      return text === '' || text === found ? [] : [[fact, text]];
    }),
  ) as Record<string, string>;
  return {
    table,
    ...(entry === undefined ? {} : { entry }),
    ...(Object.keys(set).length === 0 ? {} : { set }),
  };
}

/** The unconfirmed guesses. */
export const openGuesses = (guesses: readonly { path: string }[], { confirmed }: Draft): string[] =>
  guesses.map(({ path }) => path).filter((path) => !confirmed.includes(path));

/** The draft with these guesses confirmed, or not. */
export function confirmedBy(draft: Draft, paths: readonly string[], isConfirmed: boolean): Draft {
  const others = draft.confirmed.filter((path) => !paths.includes(path));
  return { ...draft, confirmed: isConfirmed ? [...others, ...paths] : others };
}

/** The draft with these options picked, which confirms them. @param entry that has their effect; undefined: as it was found. */
export const pickedIn = (draft: Draft, choose: Draft['picks'], entry: string | undefined): Draft => ({
  ...confirmedBy(draft, Object.keys(choose), true),
  ...{ entry, picks: { ...draft.picks, ...choose } },
});

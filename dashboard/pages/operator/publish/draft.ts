// What somebody has filled in for a table and not yet published. It is kept in sessionStorage: a sign-in may come between.

export interface Draft {
  /** Facts of the series; an empty one stays as it was found. */
  facts: Readonly<Record<FactName, string>>;
  /** The entry as YAML, edited; undefined: as it was found. */
  entry: string | undefined;
  /** By the key of a choice: the option that was picked. The entry has what it means. */
  picks: Readonly<Record<string, number>>;
}

/** The facts that have a field. */
export const factNames = ['unit', 'source', 'name'] as const;
export type FactName = (typeof factNames)[number];

export const emptyDraft: Draft = { facts: { unit: '', source: '', name: '' }, entry: undefined, picks: {} };

const storedAs = 'almanac.publish-draft';

/** The draft of this table, if the last one that was kept is of it. @param of the upload and the table. */
export function keptDraft(of: string): Draft {
  const text = sessionStorage.getItem(storedAs);
  if (text === null) return emptyDraft;
  // Written by keepDraft alone.
  const kept = JSON.parse(text) as {
    of: string;
    facts: Draft['facts'];
    entry?: string;
    picks?: Draft['picks'];
  };
  return kept.of === of ? { facts: kept.facts, entry: kept.entry, picks: kept.picks ?? {} } : emptyDraft;
}

export function keepDraft(of: string, draft: Draft): void {
  sessionStorage.setItem(storedAs, JSON.stringify({ of, ...draft }));
}

/** What is asked of the API for the table; texts are trimmed, and what is empty is left out. */
export function wishOf(
  table: number,
  { facts, entry }: Draft,
): { table: number; entry?: string; set?: Record<string, string> } {
  const set = Object.fromEntries(
    factNames.map((name) => [name, facts[name].trim()]).filter(([, text]) => text !== ''),
  ) as Record<string, string>;
  return {
    table,
    ...(entry === undefined ? {} : { entry }),
    ...(Object.keys(set).length === 0 ? {} : { set }),
  };
}

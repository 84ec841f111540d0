// Chooses the metadata fields of the publish form: unit, source and name, once per table, or once per column if each column is its own series.

export interface FactField {
  /** The key of the field in its form. */
  key: string;
  /** The name of the fact in `set` of the API: `unit`, or `columns.Price.unit`. */
  fact: string;
  label: string;
  /** The detected value; empty if unknown. */
  found: string;
  /** The meaning of an empty field. */
  hint: string;
}

interface FoundFacts {
  sure: readonly { path: string; value: string }[];
  guesses: readonly { path: string; value: string }[];
  choices: readonly { key: string; question: string; options: readonly unknown[]; text: string | null }[];
}

const names = ['unit', 'source', 'name'] as const;
const labels = { unit: 'Unit', source: 'Source', name: 'Name' } as const;

/** The fields of a table, in their order: units, source, name. */
export function factFields({ sure, guesses, choices }: FoundFacts): FactField[] {
  const isGuess = (path: string) => guesses.some((guess) => guess.path === path);
  const asked = choices.flatMap(({ key, question, options, text }) =>
    options.length === 0 && text !== null && !isGuess(key) ? [{ key, question, text }] : [],
  );
  return names.flatMap((name) => {
    const ofColumns = asked.flatMap(({ text, question }) => {
      const [, column] = /^columns\.(.+)\.(\w+)$/s.exec(text) ?? [];
      return column !== undefined && text.endsWith(`.${name}`)
        ? [missing(text, `${labels[name]} of ${column}`, question)]
        : [];
    });
    if (ofColumns.length > 0) return ofColumns;
    const path = `series.${name}`;
    const question = asked.find(({ key }) => key === path)?.question;
    const known = [...sure, ...guesses].find((each) => each.path === path);
    if (known === undefined)
      return [missing(name, labels[name], question ?? 'As in the entry below, if it has one.')];
    const found = name === 'name' ? withoutPlaceholders(known.value) : known.value;
    const hint = question ?? `If empty: ${found}${isGuess(path) ? ' (a guess)' : ''}`;
    return [{ key: name, fact: name, label: labels[name], found, hint }];
  });
}

const missing = (fact: string, label: string, hint: string): FactField => ({
  ...{ key: fact, fact, label, hint },
  found: '',
});

/** The title of the table; the distinguishing part of each series is appended to it. */
const withoutPlaceholders = (name: string) => name.replace(/(?:, \{[^{}]*\})+$/, '');

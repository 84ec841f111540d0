// Describes an edit of an almanac.yml entry, key by key, with the consequences for the stored series.
import type { TableDescription } from './entry-schema.ts';

/** Keys for the matching, schedule and confirmation of an entry: they change no loaded data. */
const withoutEffect = new Set(['file', 'guessed', 'schedule']);

const consequences: Readonly<Record<string, string>> = {
  'series.id': 'the points go to the new id; the series under the old one stay as they are',
  'series.frequency': 'refused while the series have points: their dates depend on it',
  dimensions: 'refused where the series have points with other dimensions',
};

/** One line for each key that differs. */
export function entryChanges(before: TableDescription, after: TableDescription): string[] {
  const [old, now] = [flat(before), flat(after)];
  const keys = [...new Set([...old.keys(), ...now.keys()])].filter(
    (key) => !withoutEffect.has(key.split('.')[0] ?? ''),
  );
  return keys
    .filter((key) => old.get(key) !== now.get(key))
    .map((key) => {
      const consequence = consequences[key] ?? consequences[key.split('.')[0] ?? ''];
      const change = `${key}: ${old.get(key) ?? '(none)'} → ${now.get(key) ?? '(none)'}`;
      return consequence === undefined ? change : `${change} (${consequence})`;
    });
}

/** The facts of the series that differ, by name. */
export function factsChanged(before: TableDescription | null, after: TableDescription): boolean {
  if (before === null) return false;
  const isFact = (key: string) => /^(?:series|columns)\b/.test(key) && !key.startsWith('series.id:');
  return entryChanges(before, after).some(isFact);
}

/** Leaves by their path, as text. */
function flat(value: object | string | number | boolean | null | undefined, above = ''): Map<string, string> {
  if (Array.isArray(value)) return new Map([[above, value.map((each) => String(each)).join(', ')]]);
  if (typeof value !== 'object' || value === null)
    return new Map(value === undefined ? [] : [[above, String(value)]]);
  return new Map(
    Object.entries(value as Record<string, Parameters<typeof flat>[0]>).flatMap(([key, each]) => [
      ...flat(each, above === '' ? key : `${above}.${key}`),
    ]),
  );
}

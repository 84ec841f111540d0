// What a run will do, in words: the tables with what is sure and what is guessed, what edits change, and what is left out.
import { stringify } from 'yaml';
import type { Plan, PlannedTable } from './plan.ts';

const tablesShown = 40;

/** Lines of text; empty if everything is as it was. */
export function previewOf(plan: Plan): string {
  const lines: string[] = [];
  const fresh = plan.newEntries;
  if (fresh.length > 0)
    lines.push(`${plan.descriptionPath}: ${fresh.length} new ${fresh.length === 1 ? 'entry' : 'entries'}`);
  for (const { entry, evidence, title } of fresh.slice(0, tablesShown)) {
    const name = [entry.file].flat()[0] ?? '';
    const sheet = entry.sheet === undefined ? '' : `, sheet ${entry.sheet}`;
    if (entry.skip !== undefined) {
      lines.push('', `${name}${sheet}: left out, ${entry.skip}`);
      continue;
    }
    lines.push('', `${name}${sheet}: ${title}`);
    const guessed = new Set(entry.guessed ?? []);
    for (const [key, why] of Object.entries(evidence)) {
      const text = valueAt(entry, key);
      lines.push(
        `  ${guessed.has(key) ? 'guess' : 'sure '}  ${key}${text === '' ? '' : `: ${text}`}  (${shortened(why)})`,
      );
    }
  }
  if (fresh.length > tablesShown) lines.push(`… and ${fresh.length - tablesShown} more`);
  for (const table of plan.tables.filter(({ state }) => state === 'entry changed'))
    lines.push(...editOf(table));
  for (const { path, reason } of plan.unreadable) lines.push(`${path}: cannot be read. ${reason}`);
  return lines.length === 0 ? '' : `${lines.join('\n')}\n\n`;
}

function editOf({ path, changes }: PlannedTable): string[] {
  return [`${path}: its entry was edited since it was loaded`, ...changes.map((change) => `  ${change}`)];
}

const textMax = 160;
const shortened = (text: string) => (text.length > textMax ? `${text.slice(0, textMax)}…` : text);

/** On one line, as almanac.yml has it. */
const flow = (value: unknown) => stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim();

/** What stands under a key such as `series.unit`, on one line; empty: nothing. */
export function valueAt(entry: object, key: string): string {
  let value: unknown = entry;
  for (const part of key.split('.')) value = (value as Record<string, unknown> | undefined)?.[part];
  if (value === undefined) return '';
  return shortened(typeof value === 'string' ? value : flow(value));
}

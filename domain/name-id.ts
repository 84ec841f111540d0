// Derives ids for things that have a name but no id, such as a source: from the name, so that they are the same in every installation.
import { hash } from 'node:crypto';

const wordsMax = 60;

/**
 * The words of a name in plain letters and digits, and eight digits that distinguish names with the same words:
 * `statistics-office-3f0c9a1e`; only the digits if the name has no such letter.
 * @param within the scope in which the name is unique.
 */
export function nameId(name: string, within = ''): string {
  const words = name
    .normalize('NFD')
    .replaceAll(/\p{Mn}+/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, wordsMax)
    .replaceAll(/^-|-$/g, '');
  const digits = hash('sha256', `${within}\n${name}`).slice(0, 8);
  return words === '' ? digits : `${words}-${digits}`;
}

/** An id as a whole number below 2^31, for formats whose ids are numbers: its eight digits. Two names may have the same one. */
export function numberOfNameId(id: string): number {
  return Number.parseInt(id.slice(-8), 16) % 2_147_483_648;
}

// Finds environment variables whose names are misspelled settings.
import { editDistance } from '../text/edit-distance.ts';
import { variableNames } from './variables.ts';

/**
 * Variables that are not settings but nearly have a setting's name, such as `REDIS_ULR`: one letter extra, missing, different, or two swapped; in a
 * long name two letters. The variables of other programs differ more.
 */
export function misspelledSettings(
  env: Readonly<Record<string, string | undefined>>,
): { name: string; meant: string }[] {
  return Object.keys(env).flatMap((name) => {
    if (variableNames.includes(name)) return [];
    const meant = variableNames.find((setting) => isNearly(name.toUpperCase(), setting));
    return meant === undefined ? [] : [{ name, meant }];
  });
}

function isNearly(name: string, setting: string): boolean {
  if (Math.abs(name.length - setting.length) > 2) return false;
  const distance = editDistance(name, setting);
  const lettersAllowed = setting.length < 6 ? 0 : setting.length < 12 ? 1 : 2;
  return distance <= lettersAllowed || (distance <= 2 && lettersOf(name) === lettersOf(setting));
}

function lettersOf(name: string): string {
  return name.split('').toSorted().join('');
}

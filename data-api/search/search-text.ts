// The text of a search, as a parameter. Words are required wherever it is a full-text search, as nothing could match a text without one.
import { z } from 'zod';
import { refuseParam } from '../../kernel/errors.ts';

const wordPattern = /[\p{L}\p{N}]/u;
const rule = 'must have a letter or a digit';

/** Words, or another text. */
export const anyText = z.string().max(200, 'must not be longer than 200 characters');

/** Words. */
export const searchText = anyText.regex(wordPattern, rule).meta({ override: { pattern: undefined } });

/** @throws Failure `invalid_parameter` for a text without a word. */
export function requireWord(param: string, text: string): void {
  if (!wordPattern.test(text)) refuseParam(param, `"${param}" is "${text}", but ${rule}.`);
}

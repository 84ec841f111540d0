// Decides which passwords are accepted: long enough, and not among those that attackers try first. The list of common passwords comes from a
// dependency, and is compared with common disguises removed: "P@ssw0rd2024!" is refused like "password".
import { createRequire } from 'node:module';
import type { dictionary as Dictionary } from '@zxcvbn-ts/language-common';
import { memberOf } from '../../kernel/entries.ts';
import { refuseField } from '../../kernel/errors.ts';
import { faultText } from '../../kernel/http/params.ts';

export const passwordLengthMax = 256;

// The most used passwords, by frequency in leaks: 49,000, lower case. They are also used as stems.
let common: ReadonlySet<string> | undefined;
function commonPasswords(): ReadonlySet<string> {
  if (common !== undefined) return common;
  // Loaded on first use: the list uses 10 MiB (2026-11-23), and most processes of accounts-api see no new password for a long time.
  const { dictionary } = createRequire(import.meta.url)('@zxcvbn-ts/language-common') as {
    dictionary: typeof Dictionary;
  };
  return (common = new Set([
    ...memberOf(dictionary, 'passwords-common').map(String),
    ...['almanac', 'changeit', 'linkedin', 'pakistan', 'superuser', 'welcomehome'], // additions to the list
  ]));
}
// Shorter words are part of too many good passwords. A stem of at least this length is refused with anything appended to it.
const stemLengthMin = 4;

// Keyboard rows, the alphabet and the digits. Any part of one, in either direction, is a keyboard run.
const keyboardRuns = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'qwertzuiop',
  'azertyuiop',
];
const columns = [
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  '1q2w3e4r5t6y7u8i9o0p',
  'qazwsxedcrfvtgbyhnujm',
  'q1w2e3r4t5y6',
];

const leet: Record<string, string> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/**
 * Refuses a new password that is too short, too long or too easy to guess.
 * @param field the name of the body's field, for the message. @param context texts about the owner: e-mail address, name.
 * @throws Failure `invalid_body`.
 */
export function requireGoodPassword(
  password: string,
  { field, lengthMin, context }: { field: string; lengthMin: number; context: readonly (string | null)[] },
): void {
  const refuse = (reason: string): never => refuseField(field, faultText(field, reason));
  const length = Array.from(password).length; // code points, not UTF-16 units
  if (!password.isWellFormed()) refuse('must be valid Unicode');
  if (length < lengthMin) refuse(`must have at least ${lengthMin} characters`);
  if (length > passwordLengthMax) refuse(`must have at most ${passwordLengthMax} characters`);
  if (isCommon(password)) refuse('is easy to guess; choose another, for example four unrelated words');
  const words = context.flatMap((text) => (text ?? '').toLowerCase().split(/[^\p{L}\p{N}]+/u));
  if (isMadeOf(password, words)) refuse('must not be made of your name or your e-mail address');
}

/** Whether a password is a common one, with or without disguise. */
export function isCommon(password: string): boolean {
  const plain = password.toLowerCase();
  if (new Set(plain).size <= 2 || isRepeated(plain) || isKeyboardRun(plain) || isDateOrNumber(plain))
    return true;
  return [plain, undress(plain)].some((text) => {
    const core = text.replace(/^[^a-z]+|[^a-z]+$/g, '');
    return (
      commonPasswords().has(text) ||
      isStem(core) ||
      isStem(core.replace(/s$/, '')) ||
      isRepeatedStem(core) ||
      isKeyboardRun(core)
    );
  });
}

function isStem(word: string): boolean {
  return word.length >= stemLengthMin && commonPasswords().has(word);
}

/** Whether fewer than five characters remain without the words of the context. */
function isMadeOf(password: string, words: readonly string[]): boolean {
  const plain = password.toLowerCase();
  const longestFirst = words.filter((word) => word.length >= 2).toSorted((a, b) => b.length - a.length);
  const rest = longestFirst.reduce((left, word) => left.replaceAll(word, ''), plain);
  return rest !== plain && rest.length < 5;
}

/** Replaces digits and signs with the letters that they resemble, and removes appended ones. */
function undress(text: string): string {
  return text.replace(/[\d!?.,*#_-]+$/, '').replaceAll(/[0134578@$!]/g, (sign) => leet[sign] ?? sign);
}

/** `abcabcabc`: a repeated prefix of at most four characters. */
function isRepeated(text: string): boolean {
  return /^(.{1,4})\1+.{0,3}$/s.test(text);
}

function isRepeatedStem(core: string): boolean {
  const half = core.slice(0, core.length / 2);
  return core === half + half && isStem(half);
}

function isKeyboardRun(text: string): boolean {
  if (text.length < 4) return false;
  const lines = [...keyboardRuns.map((run) => run + run), ...columns];
  const backwards = Array.from(text).reverse().join('');
  if (lines.some((line) => line.includes(text) || line.includes(backwards))) return true;
  const halves =
    /^([a-z]+)([\d]+)$|^(\d+)([a-z]+)$/
      .exec(text)
      ?.slice(1)
      .filter((part) => part !== undefined) ?? [];
  return (
    halves.length === 2 &&
    halves.every((part) => part.length < 3 || isKeyboardRun(part) || new Set(part).size === 1)
  );
}

/** Up to twelve digits, with or without separators, are a date, a telephone number or a count. */
function isDateOrNumber(text: string): boolean {
  return /^[\d\s./:+-]+$/.test(text) && text.replaceAll(/\D/g, '').length <= 12;
}

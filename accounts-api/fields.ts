// The body fields that several endpoints or commands accept.
import { z } from 'zod';
import { passwordLengthMax } from './auth/password-rules.ts';

const nameRule = 'must have 1 to 100 characters, none of them a control character';
// No control characters, no characters that change the text direction, no lone surrogates.
const printed = /^[^\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]*$/u;

/** A displayed name, of an account or of a key. */
export const nameField = z
  .string({ error: nameRule })
  .trim()
  .min(1, nameRule)
  .max(100, nameRule)
  .regex(printed, nameRule);

/** An e-mail address, stored as entered. */
export const emailField = z.email('must be an e-mail address').max(254, 'must have at most 254 characters');

/** A password for comparison, as received. New passwords must also pass `requireGoodPassword`. */
export const passwordField = z
  .string({ error: 'must be text' })
  .max(passwordLengthMax * 4, 'is longer than the longest accepted password');

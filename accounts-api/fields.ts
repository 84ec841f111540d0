// The body fields that more than one endpoint or command takes.
import { z } from 'zod';
import { passwordLengthMax } from './auth/password-rules.ts';

const nameRule = 'must have 1 to 100 characters, none of them a control character';
// Nothing that a terminal obeys, that turns the direction of the text around it, or that is half a character.
const printed = /^[^\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]*$/u;

/** A name that people read: of an account or of a key. */
export const nameField = z
  .string({ error: nameRule })
  .trim()
  .min(1, nameRule)
  .max(100, nameRule)
  .regex(printed, nameRule);

/** An e-mail address, kept as its owner writes it. */
export const emailField = z.email('must be an e-mail address').max(254, 'must have at most 254 characters');

/** A password that is compared, as it came. New ones are held to `requireGoodPassword` too. */
export const passwordField = z
  .string({ error: 'must be a password' })
  .max(passwordLengthMax * 4, 'is longer than any password here');

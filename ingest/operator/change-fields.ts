// The fields of a request of an operator that changes published data.
import { z } from 'zod';
import { isPrintable } from '../cells/cells.ts';

/** The rule of texts that are stored or looked up. */
export const printable = [isPrintable, 'must have no control characters'] as const;

export const changeFields = {
  reason: z
    .string({ error: 'must be a text' })
    .trim()
    .min(1, 'must not be empty')
    .max(1000, 'must have at most 1000 characters')
    .refine(...printable)
    .optional()
    .describe('Why, for the record.'),
  dry_run: z
    .boolean({ error: 'must be true or false' })
    .default(false)
    .describe('Says what would change; stores nothing.'),
};

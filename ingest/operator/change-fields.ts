// The fields of a request of an operator that changes published data.
import { z } from 'zod';

export const changeFields = {
  reason: z
    .string({ error: 'must be a text' })
    .trim()
    .min(1, 'must not be empty')
    .max(1000, 'must have at most 1000 characters')
    .optional()
    .describe('Why, for the record.'),
  dry_run: z
    .boolean({ error: 'must be true or false' })
    .default(false)
    .describe('Says what would change; stores nothing.'),
};

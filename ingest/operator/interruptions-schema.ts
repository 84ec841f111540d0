// The schema of the interruptions of a load or retraction by releases under embargo, for operators.
import { z } from 'zod';

export const interruptionsSchema = z
  .array(z.object({ release: z.int(), at: z.iso.datetime(), started_again_at: z.iso.datetime() }))
  .optional()
  .describe(
    'The releases that came due meanwhile: each interrupted the load, which restarted after the release. Absent: none.',
  );

// The state of a release as a badge.
import type { Row } from '../../../api/rows.ts';
import { numberText } from '../../../text/numbers.ts';

type OfRelease = Pick<Row<'/v1/operator/releases'>, 'state' | 'held_because' | 'late_seconds'>;

/** A longer delay is shown. */
const lateSeconds = 1;

export function ReleaseState({ of: { state, held_because: held, late_seconds: late } }: { of: OfRelease }) {
  if (state === 'pending') return <span class="st">Under embargo</span>;
  if (state === 'held') return <span class="st warn">Held{held !== null && `: ${held}`}</span>;
  if (state === 'failed') return <span class="st bad">Failed</span>;
  if (state === 'cancelled') return <span class="st off">Cancelled</span>;
  if (late > lateSeconds) return <span class="st warn">Published, {numberText(late, 1)} s late</span>;
  return <span class="st good">Published</span>;
}

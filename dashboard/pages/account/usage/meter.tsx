// The bar of used against limit, with a mark for the elapsed part of the month.
import { monthOf } from './history.ts';
import { elapsedPart } from './projection.ts';
import { shareText } from '../../../text/amounts.ts';

interface MeterProps {
  used: number;
  limit: number | null;
  /** The first instant of the next month. */
  resetsAt: string;
  now: number;
}

/** Nothing without a limit. */
export function Meter({ used, limit, resetsAt, now }: MeterProps) {
  if (limit === null) return null;
  const part = Math.min(1, used / Math.max(1, limit));
  const elapsed = elapsedPart({ ...monthOf(resetsAt), now });
  const label = `${shareText(used / Math.max(1, limit))} of the quota used, ${shareText(elapsed)} of the month passed`;
  return (
    <div class="meter" role="img" aria-label={label}>
      <i style={{ width: `${part * 100}%` }} />
      <b style={{ left: `${elapsed * 100}%` }} />
    </div>
  );
}

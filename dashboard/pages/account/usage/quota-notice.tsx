// Warns that most of the month's calls are used, that they will run out at the present pace, or that they are all used.
import { Link } from 'wouter-preact';
import { WarningIcon } from '../../../components/icons.tsx';
import { shareText } from '../../../text/amounts.ts';
import { dayText, instantText } from '../../../text/times.ts';
import type { MonthSoFar, Projection } from './projection.ts';

interface NoticeProps {
  month: MonthSoFar;
  projection: Projection | null;
  resetsAt: string;
}

/** The part of the month's calls from which the notice is shown. */
const noticeFrom = 0.8;

/** Null below that part, unless the calls run out at the present pace. */
export function QuotaNotice({ month: { used, limit }, projection, resetsAt }: NoticeProps) {
  if (limit === null) return null;
  const until = `until ${instantText(resetsAt)} UTC.`;
  const change = <Link href="/dashboard/billing">Change the plan</Link>;
  if (used >= limit) {
    return (
      <div class="note bad">
        <WarningIcon />
        <div>
          <b>The quota of this month is used</b>Calls are refused with 402 {until} {change}
        </div>
      </div>
    );
  }
  const exhausted = projection?.exhaustedAt ?? null;
  if (exhausted === null && used < limit * noticeFrom) return null;
  const title =
    exhausted === null
      ? `${shareText(used / limit)} of the quota is used`
      : `At this pace the limit is reached on ${dayText(new Date(exhausted).toISOString())}`;
  return (
    <div class="note warn">
      <WarningIcon />
      <div>
        <b>{title}</b>Calls beyond the quota are refused with 402 {until} {change}
      </div>
    </div>
  );
}

// The calls of the month against the limit, and the projection at the present pace.
import { Link } from 'wouter-preact';
import { accountApi } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import { rowsOf } from '../../../api/rows.ts';
import { WarningIcon } from '../../../components/icons.tsx';
import { Waiting } from '../../../components/states.tsx';
import { shareText } from '../../../text/amounts.ts';
import { numberText } from '../../../text/numbers.ts';
import { dayText, instantText, monthText, utcDay } from '../../../text/times.ts';
import { monthOf } from './history.ts';
import { Meter } from './meter.tsx';
import { MonthChart } from './month-chart.tsx';
import { elapsedPart, project, type MonthSoFar, type Projection } from './projection.ts';

interface Month {
  month: MonthSoFar;
  plan: string;
  resetsAt: string;
}

async function monthSoFar(signal: AbortSignal): Promise<Month> {
  const { data } = await accountApi.get('/v1/usage', { signal });
  const { from, to } = monthOf(data.resets_at);
  const now = Math.min(to - 1, Math.max(from, Date.now())); // the clock of the browser may be wrong
  const query = { from: utcDay(from), to: utcDay(now), limit: 1000 };
  const rows = rowsOf(await accountApi.get('/v1/usage/history', { query, signal }));
  const billed = new Map(rows.map((row) => [row.date, row.billed]));
  const days: number[] = [];
  for (let day = utcDay(from); day < utcDay(now); day = utcDay(Date.parse(day), 1))
    days.push(billed.get(day) ?? 0);
  return {
    month: { from, to, now, used: data.used, limit: data.limit, days },
    plan: data.plan,
    resetsAt: data.resets_at,
  };
}

export function MonthSection() {
  const loaded = useLoad(monthSoFar, []);
  return (
    <Waiting for={loaded} failure="The usage of this month could not be loaded">
      {(found) => <MonthView {...found} />}
    </Waiting>
  );
}

function MonthView({ month, plan, resetsAt }: Month) {
  const { used, limit, now } = month;
  const projection = project(month);
  return (
    <div class="half month">
      <div>
        <p class="sm dim">
          {monthText(utcDay(month.from))}, <span class="plan-name">{plan}</span> plan
        </p>
        <p class="big" data-test="used">
          {numberText(used)}{' '}
          <small>{limit === null ? 'calls, without a limit' : `of ${numberText(limit)} calls`}</small>
        </p>
        <Meter used={used} limit={limit} resetsAt={resetsAt} now={now} />
        <p class="xs dim ends">
          <span>{limit !== null && `${shareText(used / limit)} used`}</span>
          <span>
            {limit !== null && 'The mark: '}
            {shareText(Math.round(elapsedPart(month) * 100) / 100)} of the month has passed
          </span>
        </p>
        <Notice month={month} projection={projection} resetsAt={resetsAt} />
      </div>
      <MonthChart month={month} projection={projection} />
    </div>
  );
}

interface NoticeProps {
  month: MonthSoFar;
  projection: Projection | null;
  resetsAt: string;
}

/** Below 80 % and with no exhaustion ahead, no text is shown. */
function Notice({ month: { used, limit }, projection, resetsAt }: NoticeProps) {
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
  if (exhausted === null && used < limit * 0.8) return null;
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

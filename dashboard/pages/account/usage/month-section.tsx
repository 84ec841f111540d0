// The calls of the month against the limit, and the projection at the present pace.
import { accountApi } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import { rowsOf } from '../../../api/rows.ts';
import { Waiting } from '../../../components/states.tsx';
import { shareText } from '../../../text/amounts.ts';
import { numberText } from '../../../text/numbers.ts';
import { monthText, utcDay } from '../../../text/times.ts';
import { monthOf } from './history.ts';
import { Meter } from './meter.tsx';
import { MonthChart } from './month-chart.tsx';
import { elapsedPart, project, type MonthSoFar } from './projection.ts';
import { QuotaNotice } from './quota-notice.tsx';

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
        <QuotaNotice month={month} projection={projection} resetsAt={resetsAt} />
      </div>
      <MonthChart month={month} projection={projection} />
    </div>
  );
}

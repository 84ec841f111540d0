// /dashboard/usage: this month's usage, its projection, and the calls of each day by status, endpoint or key. The selection is in the URL.
import { palettes } from '../../../../domain/chart/palette.ts';
import { accountApi } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import { rowsOf } from '../../../api/rows.ts';
import { saveText } from '../../../charts/files.ts';
import { Swatch } from '../../../charts/legend.tsx';
import { Choice } from '../../../components/choice.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import { DownloadIcon } from '../../../components/icons.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { Pick } from '../../../components/pick.tsx';
import { Problem, useAction } from '../../../components/forms/action.tsx';
import { Empty, Waiting } from '../../../components/states.tsx';
import { useQuery } from '../../../components/use-query.ts';
import { shareText } from '../../../text/amounts.ts';
import { countText, numberText } from '../../../text/numbers.ts';
import { dayText, monthText, timeText } from '../../../text/times.ts';
import { accountPage } from '../account-page.tsx';
import {
  historyOf,
  periodOf,
  viewOf,
  type Grouping,
  type History,
  type HistoryRow,
  type Range,
  type UsageView,
} from './history.ts';
import { MonthSection } from './month-section.tsx';
import { StackedBars } from './stacked-bars.tsx';

const rangeNames: { value: Range; label: string }[] = [
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
  { value: 'month', label: 'This month' },
  { value: '12m', label: '12 months' },
];
const groupingNames: { value: Grouping; label: string }[] = [
  { value: 'status', label: 'Status' },
  { value: 'endpoint', label: 'Endpoint' },
  { value: 'key', label: 'Key' },
];

export const Usage = accountPage(() => (
  <>
    <PageHead
      title="Usage"
      lede="Only answered calls count: 2xx and 304. Refused and failed calls cost nothing."
    />
    <MonthSection />
    <DaysSection />
  </>
));

/** The names of keys, including revoked ones. */
async function keyNames(signal: AbortSignal): Promise<Map<string, string>> {
  const keys = rowsOf(await accountApi.get('/v1/keys', { query: { limit: 1000 }, signal }));
  return new Map(keys.map(({ id, name }) => [id, name]));
}

function DaysSection() {
  const [query, change] = useQuery();
  const view = viewOf(query);
  const now = Date.now();
  const { from, to, interval } = periodOf(view.range, now);
  const requested = { from, to, interval, by: view.by } as const;
  const loaded = useLoad(
    async (signal) => {
      const [rows, names] = await Promise.all([historyRows(requested, signal), keyNames(signal)]);
      return { rows, names, at: new Date().toISOString() };
    },
    [from, to, interval, view.by],
  );
  return (
    <section aria-labelledby="days">
      <div class="bar-ctl">
        <h2 id="days">{interval === 'day' ? 'Calls a day' : 'Calls a month'}</h2>
        <Choice
          label="Range"
          options={rangeNames}
          value={view.range}
          onChange={(range) => change({ range })}
          small
        />
        <Choice
          label="Stacked by"
          options={groupingNames}
          value={view.by}
          onChange={(by) => change({ by, only: null })}
          small
        />
        <span class="push">
          <CsvButton requested={requested} />
        </span>
      </div>
      <Waiting for={loaded} failure="The history could not be loaded">
        {({ rows, names, at }) => (
          <Days
            view={view}
            history={historyOf(rows, view, now)}
            nameOf={(id) => (view.by === 'key' ? (names.get(id) ?? id) : id)}
            at={at}
            choose={(only) => change({ only })}
          />
        )}
      </Waiting>
    </section>
  );
}

interface HistoryQuery {
  from: string;
  to: string;
  interval: 'day' | 'month';
  by: Grouping;
}

/** A page of the API has a thousand rows at most; a year of days by endpoint has more. */
async function historyRows(requested: HistoryQuery, signal: AbortSignal): Promise<HistoryRow[]> {
  const rows: HistoryRow[] = [];
  let cursor: string | null | undefined;
  do {
    const query = { ...requested, limit: 1000, ...(cursor == null ? {} : { cursor }) };
    const answer = await accountApi.get('/v1/usage/history', { query, signal });
    for (const row of answer.data) rows.push({ ...row, ...numbersIn(row) });
    cursor = answer.pagination.next_cursor;
  } while (cursor !== null);
  return rows;
}

/** All fields are present: this page does not send the parameter `fields`, for which the type allows missing ones. */
const numbersIn = ({ date = '', calls = 0, billed = 0 }: Partial<HistoryRow>) => ({ date, calls, billed });

function CsvButton({ requested }: { requested: HistoryQuery }) {
  const action = useAction();
  const save = () =>
    action.run(async () => {
      const text = await accountApi.getText('/v1/usage/history', { query: { ...requested, format: 'csv' } });
      saveText(text, `usage-${requested.from}-${requested.to}-by-${requested.by}.csv`, 'text/csv');
    });
  return (
    <>
      <button class="btn sml" type="button" onClick={save} disabled={action.isBusy}>
        <DownloadIcon />
        CSV
      </button>
      <Problem of={action.error} />
    </>
  );
}

interface DaysProps {
  view: UsageView;
  history: History;
  nameOf: (id: string) => string;
  /** When the usage was requested. */
  at: string;
  choose: (only: string | null) => void;
}

function Days({ view, history, nameOf, at, choose }: DaysProps) {
  const { groups, bars, calls, billed } = history;
  const shown = view.only === null ? groups : groups.filter(({ id }) => id === view.only);
  const colourOf = (id: string) =>
    coloursOf(view.by)(
      id,
      groups.findIndex((group) => group.id === id),
    );
  if (groups.length === 0) {
    return (
      <Empty title="No calls in this period">
        <p>The first call shows here within a minute.</p>
      </Empty>
    );
  }
  return (
    <>
      <div class="only">
        <label class="lab" for="only">
          Show
        </label>
        <Pick
          id="only"
          value={view.only ?? ''}
          options={[
            { value: '', label: 'All' },
            ...groups.map(({ id }) => ({ value: id, label: nameOf(id) })),
          ]}
          onPick={(id) => choose(id === '' ? null : id)}
        />
      </div>
      <dl class="strip">
        <div>
          <dt>Calls</dt>
          <dd data-test="calls">{numberText(calls)}</dd>
        </div>
        <div>
          <dt>Counted</dt>
          <dd data-test="billed">{numberText(billed)}</dd>
        </div>
        {shown.slice(0, 3).map(({ id, calls: own }) => (
          <div key={id}>
            <dt>
              <Swatch colour={colourOf(id)} />
              {nameOf(id)}
            </dt>
            <dd>
              {numberText(own)}
              <small>{shareText(calls === 0 ? 0 : own / calls)}</small>
            </dd>
          </div>
        ))}
      </dl>
      <StackedBars
        label={`${countText(calls, 'call', 'calls')} from ${dayText(bars[0]?.date ?? '')} to ${dayText(bars.at(-1)?.date ?? '')}.`}
        bars={bars}
        groups={shown.map(({ id }) => ({ name: nameOf(id), colour: colourOf(id) }))}
        interval={view.range === '12m' ? 'month' : 'day'}
      />
      <p class="xs dim below">
        Days in UTC. As of today, {timeText(at)} UTC. The same numbers as <code>GET /v1/usage/history</code>.
      </p>
      <Tables view={view} history={history} nameOf={nameOf} />
    </>
  );
}

const groupTitles: Record<Grouping, string> = { status: 'By status', endpoint: 'By endpoint', key: 'By key' };

function Tables({ view, history, nameOf }: Pick<DaysProps, 'view' | 'history' | 'nameOf'>) {
  const { groups, bars } = history;
  const all = groups.reduce((sum, { calls }) => sum + calls, 0);
  return (
    <>
      <section aria-labelledby="groups">
        <div class="sec-head">
          <h2 id="groups">{groupTitles[view.by]}</h2>
        </div>
        <DataTable
          caption={groupTitles[view.by]}
          dense
          rows={groups}
          keyOf={({ id }) => id}
          columns={[
            { label: 'Group', cell: ({ id }) => <b>{nameOf(id)}</b> },
            { label: 'Calls', right: true, cell: ({ calls }) => numberText(calls) },
            { label: 'Counted', right: true, cell: ({ billed }) => numberText(billed) },
            { label: 'Share', right: true, cell: ({ calls }) => shareText(all === 0 ? 0 : calls / all) },
          ]}
        />
      </section>
      <details class="as-table">
        <summary>The bars as a table</summary>
        <DataTable
          caption="Calls of each bar"
          dense
          rows={bars.toReversed()}
          keyOf={({ date }) => date}
          columns={[
            {
              label: view.range === '12m' ? 'Month' : 'Day',
              cell: ({ date }) => (view.range === '12m' ? monthText(date) : dayText(date)),
            },
            { label: 'Calls', right: true, cell: ({ total }) => numberText(total) },
          ]}
        />
      </details>
    </>
  );
}

const [colour2, colour3, colour4, colour5, colour6, colour7, colourOfRest] = palettes.page.series.slice(1);
const colourOfBars = 'var(--bar)';

/** The group with the most calls, or the status 2xx, has the colour of bars; the others have the colours of series. */
function coloursOf(by: Grouping): (id: string, at: number) => string {
  const inOrder = [colourOfBars, colour3, colour5, colour4, colour6, colour2, colour7];
  const ofStatus = { '2xx': colourOfBars, '3xx': colour6, '4xx': colour5, '5xx': colour2 };
  return (id, at) =>
    (by === 'status' ? ofStatus[id as keyof typeof ofStatus] : inOrder[at]) ?? colourOfRest ?? '';
}

// The calendar of releases: a month as a grid of days, or as a list. The URL has the month, the layout and the filters.
import { Link } from 'wouter-preact';
import { listed, type AnswerOf } from '../../clients/typescript/client.ts';
import { api } from '../api/clients.ts';
import { useLoad } from '../api/use-load.ts';
import { Choice } from '../components/choice.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { DataTable, type Column } from '../components/data-table.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Empty, SkeletonRows, Waiting } from '../components/states.tsx';
import { useQuery } from '../components/use-query.ts';
import { dayText, monthText, referencePeriodText, shortDayText, timeOnText, today } from '../text/times.ts';
import { daysOfMonth, monthAfter } from './calendar-months.ts';
import '../styles/calendar.css';

type Release = AnswerOf<'get', '/v1/calendar'>['data'][number];
type Form = 'month' | 'list';

const forms = [
  { value: 'month', label: 'Month' },
  { value: 'list', label: 'List' },
] as const;
const releasesMax = 1_000;

export function Calendar() {
  const [params, change] = useQuery();
  const given = params.get('month') ?? '';
  const month = /^\d{4}-(?:0[1-9]|1[0-2])$/.test(given) ? given : today().slice(0, 7);
  const form: Form = params.get('as') === 'list' ? 'list' : 'month';
  const source = params.get('source') || undefined;
  const query = {
    from: month,
    to: month,
    limit: releasesMax,
    ...(source === undefined ? {} : { source: [source] }),
  };
  const releases = useLoad((signal) => api.get('/v1/calendar', { query, signal }), [JSON.stringify(query)]);
  return (
    <div class="wrap">
      <PageHead
        title="Calendar"
        lede="When series are released. Days are those of the publisher, times are UTC."
        actions={<Subscription source={source} />}
      />
      <div class="bar-ctl month-bar">
        <h2>{monthText(month)}</h2>
        <div class="actions">
          <button class="btn sml" type="button" onClick={() => change({ month: monthAfter(month, -1) })}>
            Earlier
          </button>
          <button class="btn sml" type="button" onClick={() => change({ month: null })}>
            Today
          </button>
          <button class="btn sml" type="button" onClick={() => change({ month: monthAfter(month, 1) })}>
            Later
          </button>
        </div>
        {source !== undefined && (
          <button class="btn sml" type="button" onClick={() => change({ source: null })}>
            source: {source} <span aria-hidden="true">×</span>
            <span class="vh">Remove</span>
          </button>
        )}
        <span class="push">
          <Choice
            label="Form"
            options={forms}
            value={form}
            onChange={(value) => change({ as: value === 'month' ? null : value })}
          />
        </span>
      </div>
      <Waiting for={releases} skeleton={<SkeletonRows rows={8} />} failure="The calendar could not be loaded">
        {({ data }) =>
          data.length === 0 ? (
            <NoRelease month={month} />
          ) : (
            <div class={`as-${form}`}>
              <MonthGrid month={month} releases={data} />
              <ReleaseList releases={data} />
            </div>
          )
        }
      </Waiting>
    </div>
  );
}

/** The address that calendar programs subscribe to. */
function Subscription({ source }: { source: string | undefined }) {
  const query = new URLSearchParams({
    format: 'ics',
    ...(source === undefined ? {} : { source: listed(source) }),
  });
  const path = `/v1/calendar?${query.toString()}`;
  return (
    <>
      <CopyButton class="btn" text={location.origin + path} label="Copy ICS link">
        Copy ICS link
      </CopyButton>
      <a class="btn" href={path}>
        Download ICS
      </a>
    </>
  );
}

function NoRelease({ month }: { month: string }) {
  return (
    <Empty title={`No release is known in ${monthText(month)}`}>
      <p>Releases of other months are under Earlier and Later.</p>
    </Empty>
  );
}

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** A table of weeks. On a phone a list replaces it: seven columns are too narrow for names. */
function MonthGrid({ month, releases }: { month: string; releases: readonly Release[] }) {
  const byDay = Map.groupBy(releases, ({ release_date: day }) => day);
  const now = today();
  return (
    <table class="month">
      <caption class="vh">Releases in {monthText(month)}, by day</caption>
      <thead>
        <tr>
          {weekdays.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {daysOfMonth(month).map((week) => (
          <tr key={week[0]}>
            {week.map((day) => (
              <td
                key={day}
                class={day.startsWith(month) ? undefined : 'other'}
                aria-current={day === now ? 'date' : undefined}
              >
                <time dateTime={day}>{Number(day.slice(8))}</time>
                {byDay.get(day)?.map((release) => (
                  <p key={release.id} class={release.importance === 'high' ? 'high' : undefined}>
                    <ReleaseTitle release={release} />
                    {release.time_confirmed && <small>{timeOnText(release.release_at, day)}</small>}
                  </p>
                ))}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The title, which leads to its series: to the only one, or to the first. */
function ReleaseTitle({ release: { title, series } }: { release: Release }) {
  const [first] = series;
  return first === undefined ? (
    <span>{title}</span>
  ) : (
    <Link href={`/series/${encodeURIComponent(first)}`}>{title}</Link>
  );
}

const states: Readonly<Record<Release['status'], { name: string; mark: string }>> = {
  scheduled: { name: 'Scheduled', mark: 'off' },
  released: { name: 'Released', mark: 'good' },
  delayed: { name: 'Delayed', mark: 'warn' },
  cancelled: { name: 'Cancelled', mark: 'bad' },
};

const columns: Column<Release>[] = [
  {
    label: 'Release',
    cell: ({ title, source, series }) => (
      <>
        <b>{title}</b>
        <small>{source}</small>
        {series.length > 0 && (
          <small>
            {series.map((id, i) => (
              <span key={id}>
                {i > 0 && ', '}
                <Link class="mono" href={`/series/${encodeURIComponent(id)}`}>
                  {id}
                </Link>
              </span>
            ))}
          </small>
        )}
      </>
    ),
  },
  {
    label: 'Day',
    cell: ({ release_date: day }) => (
      <>
        <span class="hide-p">{shortDayText(day)}</span>
        <span class="show-p">{dayText(day)}</span>
      </>
    ),
  },
  {
    label: 'Time, UTC',
    cell: ({ release_at: at, release_date: day, time_confirmed: isSure }) =>
      isSure ? timeOnText(at, day) : 'not confirmed',
  },
  {
    label: 'Period',
    cell: ({ reference_period: period }) => (period === null ? '–' : referencePeriodText(period)),
  },
  {
    label: 'State',
    cell: ({ status }) => <span class={`st ${states[status].mark}`}>{states[status].name}</span>,
  },
];

function ReleaseList({ releases }: { releases: readonly Release[] }) {
  return (
    <div class="release-list">
      <DataTable caption="Releases" columns={columns} rows={releases} keyOf={({ id }) => id} />
    </div>
  );
}

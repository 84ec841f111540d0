// /status: whether the services are up, and how current each source is.
import { Link } from 'wouter-preact';
import type { AnswerOf } from '../../clients/typescript/client.ts';
import { api } from '../api/clients.ts';
import { useLoad } from '../api/use-load.ts';
import { DataTable, type Column } from '../components/data-table.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Empty, SkeletonRows, Waiting } from '../components/states.tsx';
import { countText, numberText } from '../text/numbers.ts';
import { dayText, instantText, recentText } from '../text/times.ts';

type StatusData = AnswerOf<'get', '/v1/status'>['data'];
type Source = StatusData['sources'][number];

export function Status() {
  const status = useLoad((signal) => api.get('/v1/status', { signal }), []);
  return (
    <div class="wrap">
      <PageHead title="Status" lede="The services of this installation, and how current its sources are." />
      <Waiting for={status} skeleton={<SkeletonRows rows={6} />} failure="The status could not be loaded">
        {({ data }) => (
          <>
            <Summary data={data} />
            <section>
              <div class="sec-head">
                <h2>Services</h2>
              </div>
              <ul class="cal services">
                <li>
                  <span>gateway</span>
                  <State isGood word="up" />
                </li>
                {data.components.map(({ name, state }) => (
                  <li key={name}>
                    <span>{name}</span>
                    <State isGood={state === 'operational'} word={state === 'operational' ? 'up' : 'down'} />
                  </li>
                ))}
              </ul>
            </section>
            <section>
              <div class="sec-head">
                <h2>Sources</h2>
                <p>{countText(data.sources.length, 'source', 'sources')}</p>
              </div>
              {data.sources.length === 0 ? (
                <Empty title="No source is known">
                  <p>Either nothing is loaded yet, or the database does not answer.</p>
                </Empty>
              ) : (
                <DataTable
                  caption="Sources"
                  columns={columns}
                  rows={data.sources}
                  keyOf={({ source }) => source}
                />
              )}
            </section>
          </>
        )}
      </Waiting>
    </div>
  );
}

function State({ isGood, word }: { isGood: boolean; word: string }) {
  return <span class={`st ${isGood ? 'good' : 'bad'}`}>{word}</span>;
}

function Summary({ data }: { data: StatusData }) {
  const isUp = data.state === 'operational';
  const late = data.sources.filter(({ state }) => state === 'due' || state === 'late');
  return (
    <div class={`note ${isUp ? 'good' : 'bad'}`}>
      <div>
        <b>{isUp ? 'All services are up' : 'A service is down'}</b>
        {late.length === 0
          ? 'No source is behind the calendar.'
          : `${countText(late.length, 'source is', 'sources are')} behind the calendar.`}{' '}
        Checked {instantText(data.checked_at)}.
      </div>
    </div>
  );
}

const columns: Column<Source>[] = [
  {
    label: 'Source',
    cell: ({ source, series_count: count }) => (
      <>
        <Link class="row-link" href={`/catalogue?${new URLSearchParams({ source }).toString()}`}>
          <b>{source}</b>
        </Link>
        <small>{countText(count, 'series', 'series')}</small>
      </>
    ),
  },
  {
    label: 'State',
    cell: ({ state }) => <span class={`st ${states[state].mark}`}>{states[state].name}</span>,
  },
  { label: 'Last load', cell: ({ last_success_at: at }) => (at === null ? '–' : recentText(at)) },
  { label: 'Newest date', cell: ({ last_data_date: day }) => (day === null ? '–' : dayText(day)) },
  { label: 'Next release', cell: ({ next_release_at: at }) => (at === null ? '–' : instantText(at)) },
  {
    label: 'Behind the calendar',
    right: true,
    cell: ({ lag_hours: hours }) =>
      hours === null ? '–' : hours === 0 ? 'no' : `${numberText(Math.round(hours))} h`,
  },
];

const states: Readonly<Record<Source['state'], { name: string; mark: string }>> = {
  current: { name: 'Current', mark: 'good' },
  due: { name: 'Due for less than a day', mark: 'warn' },
  late: { name: 'Late', mark: 'bad' },
  unscheduled: { name: 'Not in the calendar', mark: 'off' },
  empty: { name: 'Nothing loaded', mark: 'off' },
};

// The next releases of the calendar, as a short list.
import { Link } from 'wouter-preact';
import { api } from '../../api/clients.ts';
import { useLoad } from '../../api/use-load.ts';
import { shortDayText, timeOnText, today } from '../../text/times.ts';
import { Empty, SkeletonRows, Waiting } from '../../components/states.tsx';

export function NextReleases({ count }: { count: number }) {
  const releases = useLoad(
    (signal) =>
      api.get('/v1/calendar', { query: { from: today(), status: ['scheduled'], limit: count }, signal }),
    [count],
  );
  return (
    <Waiting
      for={releases}
      skeleton={<SkeletonRows rows={count} height={45} />}
      failure="The calendar could not be loaded"
    >
      {({ data }) =>
        data.length === 0 ? (
          <Empty title="No release is announced">
            <p>
              The <Link href="/calendar">calendar</Link> has those of the past.
            </p>
          </Empty>
        ) : (
          <ul class="cal">
            {data.map(({ id, title, release_at: at, release_date: day, time_confirmed: isSure }) => (
              <li key={id}>
                <time dateTime={day}>{shortDayText(day)}</time>
                <span>{title}</span>
                <span class="time">{at === null || !isSure ? '' : timeOnText(at, day)}</span>
              </li>
            ))}
          </ul>
        )
      }
    </Waiting>
  );
}

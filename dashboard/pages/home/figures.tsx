// The key figures of the front page: the amount of data and its freshness.
import type { AnswerOf } from '../../../clients/typescript/client.ts';
import type { Loaded } from '../../api/use-load.ts';
import { countText, numberText } from '../../text/numbers.ts';
import { dayText, recentText, shortDayText, timeText } from '../../text/times.ts';
import { seriesIn, type Facets } from './areas.tsx';
import type { Home } from './load-home.ts';

export function Figures({
  home,
  status,
}: {
  home: Loaded<Home>;
  status: Loaded<AnswerOf<'get', '/v1/status'>>;
}) {
  const facets = home.phase === 'ready' ? home.value.catalog.meta?.facets : undefined;
  const sources = status.phase === 'ready' ? status.value.data.sources : undefined;
  const loads = (sources ?? []).flatMap(({ last_success_at: at }) => at ?? []).sort();
  const dates = (sources ?? []).flatMap(({ last_data_date: date }) => date ?? []).sort();
  const nextAt = (sources ?? []).flatMap(({ next_release_at: at }) => at ?? []).sort()[0];
  const [lastLoad, newestDate] = [loads.at(-1), dates.at(-1)];
  const wait = '–';
  return (
    <dl class="figures" aria-label="In short">
      <Figure name="Series" value={facets === undefined ? wait : numberText(seriesIn(facets, 'frequency'))}>
        {facets === undefined
          ? ''
          : `${countText((facets['source'] ?? []).length, 'source', 'sources')}, ${frequenciesText(facets)}`}
      </Figure>
      <Figure name="Newest data" value={newestDate === undefined ? wait : dayText(newestDate)}>
        {newestDate === undefined ? '' : 'the newest date of any series'}
      </Figure>
      <Figure
        name="Next release"
        value={nextAt === undefined ? wait : `${shortDayText(nextAt)}, ${timeText(nextAt)}`}
      >
        {sources === undefined
          ? ''
          : nextAt === undefined
            ? 'none is announced'
            : 'according to the release calendar'}
      </Figure>
      <Figure name="Last load" value={lastLoad === undefined ? wait : capital(recentText(lastLoad))}>
        {status.phase === 'ready' && status.value.data.state === 'operational'
          ? 'all services are up'
          : status.phase === 'ready'
            ? 'a service is down'
            : ''}
      </Figure>
    </dl>
  );
}

function Figure({ name, value, children }: { name: string; value: string; children: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value}
        <small>{children}</small>
      </dd>
    </div>
  );
}

const capital = (text: string): string => text.replace(/^./, (letter) => letter.toUpperCase());

const byLength = ['daily', 'weekly', 'monthly', 'quarterly', 'semiannual', 'annual'];

function frequenciesText(facets: Facets): string {
  const present = new Set((facets?.['frequency'] ?? []).map(({ value }) => value));
  const known = byLength.filter((name) => present.has(name));
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined) return 'irregular';
  return first === last ? first : `${first} to ${last}`;
}

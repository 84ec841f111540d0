// The chart of the front page: a series as each of its newest vintages showed it or, where none is open to visitors, the newest points of
// the series that was released last.
import { Link } from 'wouter-preact';
import type { AnswerOf } from '../../clients/typescript/client.ts';
import { AlmanacError } from '../../clients/typescript/errors.ts';
import { decimalsOf } from '../../domain/chart/text.ts';
import type { ChartLine } from '../../domain/chart/layout.ts';
import { api } from '../api/clients.ts';
import { useLoad } from '../api/load.ts';
import type { PreviewPoint } from '../api/previews.ts';
import { Waiting } from '../components/states.tsx';
import { numberText } from '../text/numbers.ts';
import { dayText, periodText, today } from '../text/times.ts';
import { LineChart } from './line-chart.tsx';

const height = 360;
const vintagesShown = 8; // as many lines as a chart has
const monthsShown = 14;
/** The positions in the palette of what is grey here, and of the newest line. */
const [newestColour, ghostColour] = [0, 7];

interface HeroChartProps {
  /** Undefined: not known yet. Null: there is none. */
  openSeries: string | null | undefined;
  newest:
    { catalog: AnswerOf<'get', '/v1/catalog'>; previews: ReadonlyMap<string, PreviewPoint[]> } | undefined;
}

export function HeroChart({ openSeries, newest }: HeroChartProps) {
  const triangle = useLoad((signal) => triangleOf(openSeries, signal), [openSeries]);
  if (openSeries === undefined) return <div class={`line-chart h${height}`} />;
  return (
    <Waiting for={triangle} skeleton={<div class={`sk line-chart h${height}`} />}>
      {(value) => (value === undefined ? <NewestPoints newest={newest} /> : <Fan triangle={value} />)}
    </Waiting>
  );
}

type OpenTriangle = AnswerOf<'get', '/v1/catalog/{id}/triangle'>;

/** Undefined: no series is open, or it is not loaded here. */
async function triangleOf(
  id: string | null | undefined,
  signal: AbortSignal,
): Promise<OpenTriangle | undefined> {
  if (id === null || id === undefined) return undefined;
  const from = new Date(today());
  from.setUTCMonth(from.getUTCMonth() - monthsShown);
  try {
    return await api.get('/v1/catalog/{id}/triangle', {
      path: { id },
      query: { last: vintagesShown, from: from.toISOString().slice(0, 7) },
      signal,
    });
  } catch (error) {
    if (error instanceof AlmanacError && error.status === 404) return undefined;
    throw error;
  }
}

function Fan({ triangle: { series, meta, data } }: { triangle: OpenTriangle }) {
  const byVintage = Map.groupBy(
    data.filter((cell) => 'vintage' in cell),
    ({ vintage }) => vintage,
  );
  const vintages = [...byVintage.keys()].sort();
  const newest = vintages.at(-1);
  const lines: ChartLine[] = vintages.map((vintage) => ({
    name: '',
    colourNo: vintage === newest ? newestColour : ghostColour,
    points: (byVintage.get(vintage) ?? []).map(({ date, value }) => ({ date, value })),
  }));
  return (
    <figure class="fig vintages">
      <LineChart
        title={`${meta.name}, as published in each of the last ${vintages.length} vintages`}
        unit={meta.unit}
        frequency={meta.frequency}
        lines={lines}
        height={height}
        narrowHeight={260}
      />
      <figcaption>
        {meta.name}. Grey: as first published in earlier months. Blue: as it stands since{' '}
        {newest === undefined ? 'the last release' : dayText(newest)}.{' '}
        <Link href={`/series/${encodeURIComponent(series)}/revisions`}>Play the revisions</Link>
      </figcaption>
      <FanTable lines={lines} frequency={meta.frequency} />
    </figure>
  );
}

function NewestPoints({ newest }: Pick<HeroChartProps, 'newest'>) {
  const row = newest?.catalog.data.find(({ id }) => (newest.previews.get(id) ?? []).length > 2);
  if (row === undefined) return <div class={`line-chart h${height}`} />;
  return (
    <figure class="fig">
      <LineChart
        title={row.name}
        unit={row.unit}
        frequency={row.frequency}
        lines={[{ name: row.name, points: newest?.previews.get(row.id) ?? [] }]}
        height={height}
        narrowHeight={260}
      />
      <figcaption>
        {row.name}, the series released last.{' '}
        <Link href={`/series/${encodeURIComponent(row.id)}`}>All of it</Link>
      </figcaption>
    </figure>
  );
}

/** The same for those who read numbers: what each period was at first, and what it is now. */
function FanTable({ lines, frequency }: { lines: readonly ChartLine[]; frequency: string }) {
  const newest = lines.at(-1)?.points ?? [];
  const digits = decimalsOf(newest.flatMap(({ value }) => value ?? []));
  const firstOf = (date: string) =>
    lines.flatMap(({ points }) => points.find((point) => point.date === date) ?? [])[0]?.value;
  const text = (value: number | null | undefined) =>
    value === null || value === undefined ? '–' : numberText(value, digits);
  return (
    <details class="as-table">
      <summary>Show as a table</summary>
      <table class="dense">
        <thead>
          <tr>
            <th scope="col">Period</th>
            <th scope="col" class="r">
              First shown here
            </th>
            <th scope="col" class="r">
              Now
            </th>
          </tr>
        </thead>
        <tbody>
          {newest.toReversed().map(({ date, value }) => (
            <tr key={date}>
              <td>{periodText(date, frequency)}</td>
              <td class="r">{text(firstOf(date))}</td>
              <td class="r">{text(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

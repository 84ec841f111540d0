// Holds the vintage shown and the selected period, and renders everything that depends on them: the player, both fan charts, the heat
// map, the list of changes and the history of a period.
import { useCallback, useMemo, useState } from 'preact/hooks';
import { layOutFan } from '../../../domain/chart/revisions/fan.ts';
import { bordersOf, type ChangeSince } from '../../../domain/chart/revisions/heat-map.ts';
import { firstPrints, type RevisionTable } from '../../../domain/chart/revisions/table.ts';
import { Choice } from '../../components/choice.tsx';
import { changeText } from '../../text/numbers.ts';
import { dayText } from '../../text/times.ts';
import { useWidth } from '../../charts/use-width.ts';
import { endRoom, FanChart } from './fan-chart.tsx';
import { FiguresTable } from './figures-table.tsx';
import { HeatMap, stepTokens } from './heat-map.tsx';
import type { Entry } from './load-revisions.ts';
import { Player } from './player.tsx';
import { Changed, PeriodHistory } from './side.tsx';
import { RevisionStatistics } from './revision-statistics.tsx';
import { firstShown, selectedPeriod, useParameter, useVintage } from './revisions-state.ts';
import { formatsOf, type Formats } from './formats.ts';

export function Explorer({ entry, table }: { entry: Entry; table: RevisionTable }) {
  const [isPlaying, setIsPlaying] = useState(false);
  const [vintageNo, setVintageNo] = useVintage(table, isPlaying);
  const [period, setPeriod] = useParameter('m');
  const [by, setBy] = useParameter('by');
  const [show, setShow] = useParameter('show');
  const formats = useMemo(() => formatsOf(entry, table), [entry, table]);
  const dateNo = useMemo(() => selectedPeriod(table, period), [table, period]);
  const prints = useMemo(() => new Set(firstPrints(table).map((print) => print.dateNo)), [table]);
  const fromNo = firstShown(table, show === 'all');
  const since: ChangeSince = by === 'before' ? 'before' : 'first';
  const isPrinted = prints.has(dateNo);
  // These do not change while the vintages play, so the same elements are reused without a comparison.
  const life = useMemo(
    () => <PeriodHistory {...{ table, formats, dateNo, isPrinted }} />,
    [table, formats, dateNo, isPrinted],
  );
  const trust = useMemo(() => <RevisionStatistics table={table} formats={formats} />, [table, formats]);
  const onDate = useCallback((no: number) => setPeriod(table.dates[no]), [table, setPeriod]);
  const onVintage = useCallback(
    (no: number) => {
      setIsPlaying(false);
      setVintageNo(no);
    },
    [setVintageNo],
  );
  return (
    <>
      <div class="two">
        <div>
          <Player
            vintages={table.vintages}
            vintageNo={vintageNo}
            onVintage={setVintageNo}
            isPlaying={isPlaying}
            onPlaying={setIsPlaying}
          />
          <Charts
            {...{ table, formats, fromNo, vintageNo, dateNo, since, onDate, onVintage }}
            isAll={show === 'all'}
            canShowAll={firstShown(table, false) > 0}
            onAll={(isAll) => setShow(isAll ? 'all' : undefined)}
            onSince={(to) => setBy(to === 'first' ? undefined : to)}
          />
        </div>
        <div class="col">
          <Changed {...{ table, formats, vintageNo, onVintage, onDate }} />
          {life}
        </div>
      </div>
      {trust}
      <FiguresTable {...{ table, formats, fromNo, vintageNo }} />
    </>
  );
}

interface ChartsProps {
  table: RevisionTable;
  formats: Formats;
  fromNo: number;
  vintageNo: number;
  dateNo: number;
  since: ChangeSince;
  onDate: (dateNo: number) => void;
  onVintage: (vintageNo: number) => void;
  isAll: boolean;
  canShowAll: boolean;
  onAll: (isAll: boolean) => void;
  onSince: (since: ChangeSince) => void;
}

const narrowBelow = 560;
const distanceHeight = 190;

/** The charts share their left and right edges, so that a period has the same position in all of them. */
function useFans({ table, formats, fromNo }: ChartsProps, width: number) {
  const { frequency, unit } = formats;
  return useMemo(() => {
    if (width === 0) return undefined;
    const isNarrow = width < narrowBelow;
    const columns = Math.max(1, table.dates.length - fromNo - 1);
    const marginRight = Math.max(isNarrow ? 30 : 66, endRoom(table, formats));
    // The heat map has labels of days beside its rows, and half a column more than the fan chart.
    const days = isNarrow ? 46 : 84;
    const marginLeft = days + (width - days - marginRight) / (2 * columns + 1);
    const height = isNarrow ? 300 : 390;
    const shared = { frequency, unit, fromNo, width, marginLeft, marginRight };
    return {
      height,
      values: layOutFan(table, { ...shared, height, shows: 'values' }),
      distance: layOutFan(table, { ...shared, height: distanceHeight, shows: 'distance' }),
    };
  }, [table, formats, fromNo, width]);
}

function Charts(props: ChartsProps) {
  const { table, formats, fromNo, vintageNo, dateNo, since, onDate, onVintage } = props;
  const [box, width] = useWidth<HTMLDivElement>();
  const fans = useFans(props, width);
  const borders = useMemo(
    () =>
      bordersOf(
        table,
        Array.from({ length: table.dates.length - fromNo }, (_, i) => fromNo + i),
      ),
    [table, fromNo],
  );
  const legend = useMemo(() => <Legend borders={borders} unit={formats.unit} />, [borders, formats]);
  const shared = { table, formats, vintageNo, dateNo, onDate };
  return (
    <div ref={box} class="charts">
      {fans !== undefined && (
        <>
          {props.canShowAll && (
            <div class="window">
              <Choice
                small
                label="Window"
                value={props.isAll ? 'all' : 'recent'}
                options={[
                  { value: 'recent', label: 'Since the first vintage' },
                  { value: 'all', label: 'Whole history' },
                ]}
                onChange={(to) => props.onAll(to === 'all')}
              />
            </div>
          )}
          <FanChart
            {...shared}
            fan={fans.values}
            height={fans.height}
            shows="values"
            title={formats.unit}
            label={`Values as published up to ${dayText(table.vintages[vintageNo] ?? '')}`}
          />
          <FanChart
            {...shared}
            fan={fans.distance}
            height={distanceHeight}
            shows="distance"
            title="Difference from the latest values"
            label="Difference of first prints from the latest values"
          />
          <figure class="fig heat-map-figure">
            <div class="sec-head">
              <h2>Every value ever published</h2>
              <p>One column per {formats.periodName}, one row per release</p>
              <span class="push">
                <Choice
                  small
                  label="Colour by"
                  value={since}
                  options={[
                    { value: 'first', label: 'Since first print' },
                    { value: 'before', label: 'Since previous vintage' },
                  ]}
                  onChange={props.onSince}
                />
              </span>
            </div>
            <HeatMap
              {...{ table, formats, fromNo, vintageNo, dateNo, since, borders }}
              fan={fans.values}
              onCell={(date, vintage) => {
                onDate(date);
                onVintage(vintage);
              }}
            />
            {legend}
          </figure>
        </>
      )}
    </div>
  );
}

function Legend({ borders, unit }: { borders: readonly number[]; unit: string }) {
  const [, second = 0, , fourth = 0] = borders;
  const at: Readonly<Record<number, string>> = {
    0: changeText(-fourth),
    2: changeText(-second),
    5: changeText(second),
    7: changeText(fourth),
  };
  return (
    <div class="legend">
      <div class="scale" aria-hidden="true">
        {stepTokens.map((token) => (
          <i key={token} style={{ background: `var(${token})` }} />
        ))}
        {stepTokens.map((token, i) => (
          <span key={token} class={i in at ? 'at-edge' : undefined}>
            {i === 4 ? '0' : at[i]}
          </span>
        ))}
      </div>
      {unit !== '' && <span>{unit}</span>}
      <span class="legend-entry">
        <i class="first-print-cell" />
        first print
      </span>
      <span class="legend-entry">
        <i class="shown-frame" />
        vintage shown
      </span>
    </div>
  );
}

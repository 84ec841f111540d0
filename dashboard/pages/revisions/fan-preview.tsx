// A small fan of the open series, for pages that only show an example of revisions.
import { useMemo } from 'preact/hooks';
import { layOutFan } from '../../../domain/chart/revisions/fan.ts';
import { useWidth } from '../../charts/use-width.ts';
import { endRoom, FanChart } from './fan-chart.tsx';
import type { Revisions } from './load-revisions.ts';
import { firstShown, selectedPeriod } from './revisions-state.ts';
import { formatsOf } from './formats.ts';

interface FanPreviewProps {
  revisions: Revisions;
  height?: number;
}

export function FanPreview({ revisions: { entry, combinations }, height = 300 }: FanPreviewProps) {
  const [box, width] = useWidth<HTMLDivElement>();
  const table = combinations[0]?.table;
  const fan = useMemo(
    () =>
      table === undefined || width === 0
        ? undefined
        : layOutFan(table, {
            frequency: entry.frequency,
            fromNo: firstShown(table, false),
            width,
            height,
            marginLeft: 46,
            marginRight: Math.max(66, endRoom(table, formatsOf(entry, table))),
            shows: 'values',
            unit: entry.unit ?? '',
          }),
    [table, width],
  );
  return (
    <div ref={box}>
      {fan !== undefined && table !== undefined && (
        <FanChart
          fan={fan}
          table={table}
          formats={formatsOf(entry, table)}
          height={height}
          vintageNo={table.vintages.length - 1}
          dateNo={selectedPeriod(table, undefined)}
          title={[entry.name, entry.unit].filter((part) => part !== null).join(', ')}
          shows="values"
          label={`Every vintage of ${entry.name}`}
        />
      )}
    </div>
  );
}

// The changes that a load made, or would make, as figures side by side.
import { numberText } from '../../text/numbers.ts';
import type { Counts } from './counts.ts';

export function PointCounts({ of }: { of: Counts }) {
  const figures = [
    ['New', of.points_new],
    ['Revised', of.points_revised],
    ['Deleted', of.points_deleted],
    ['Unchanged', of.points_unchanged],
  ] as const;
  return (
    <dl class="strip" aria-label="Points">
      {figures.map(([name, count]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd data-test={name.toLowerCase()}>{numberText(count)}</dd>
        </div>
      ))}
    </dl>
  );
}

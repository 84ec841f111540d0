// The changes that a load made, or would make, as figures side by side.
import { numberText } from '../../text/numbers.ts';

interface Counts {
  points_new: number;
  points_revised: number;
  points_unchanged: number;
  points_deleted: number;
}

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

// A line without axes for rows of tables: the shape of the newest points, the last one marked. The row has the numbers.

const [width, height] = [128, 30];
const [edge, top, bottom] = [3, 5, 25];

/** @param values in order of time; fewer than two draw nothing. */
export function Sparkline({ values }: { values: readonly number[] }) {
  if (values.length < 2) return null;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (i: number) => edge + (i * (width - 2 * edge - 2)) / (values.length - 1);
  const y = (value: number) =>
    high === low ? (top + bottom) / 2 : bottom - ((value - low) * (bottom - top)) / (high - low);
  const path = values.map((value, i) => `${i === 0 ? 'M' : 'L'}${round(x(i))} ${round(y(value))}`).join('');
  const last = values.length - 1;
  return (
    <svg class="spark" viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
      <path class="spark-line" d={path} />
      <circle class="spark-end" cx={round(x(last))} cy={round(y(values[last] ?? 0))} r="3" />
    </svg>
  );
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}

// The value axis of a chart of calls: a line and its number for each step.
import { stepText } from './axis.ts';

interface ValueGridProps {
  steps: readonly number[];
  /** From the left end of the lines to the right one. */
  from: number;
  to: number;
  y: (value: number) => number;
}

export function ValueGrid({ steps, from, to, y }: ValueGridProps) {
  return steps.map((step) => (
    <g key={step}>
      <line x1={from} x2={to} y1={y(step)} y2={y(step)} class={step === 0 ? 'ax' : 'g'} />
      <text x={from - 10} y={y(step) + 4} text-anchor="end">
        {stepText(step)}
      </text>
    </g>
  ));
}

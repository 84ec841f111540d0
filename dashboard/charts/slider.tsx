// An ARIA slider over a part of a chart: arrow keys move the cursor, bar, period or window edge, and screen readers announce each value.
import type { HTMLAttributes } from 'preact';

interface SliderProps extends Omit<HTMLAttributes<HTMLDivElement>, 'label'> {
  label: string;
  /** The position, from 0 to `last`; `last` + 1 if none is chosen. */
  at: number;
  last: number;
  /** The value at the position, in words. */
  valueText: string;
  onAt: (at: number) => void;
  /** Escape was pressed. */
  onClear?: () => void;
}

/** The step of Page Up and Page Down. */
const pageStep = 12;

export function Slider({ label, at, last, valueText, onAt, onClear, ...rest }: SliderProps) {
  function onKeyDown(event: KeyboardEvent) {
    const to = {
      ArrowLeft: at - 1,
      ArrowDown: at - 1,
      ArrowRight: at + 1,
      ArrowUp: at + 1,
      PageDown: at - pageStep,
      PageUp: at + pageStep,
      Home: 0,
      End: last,
    }[event.key];
    if (event.key === 'Escape') onClear?.();
    if (to === undefined) return;
    event.preventDefault();
    onAt(Math.max(0, Math.min(last, to)));
  }
  return (
    <div
      {...rest}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={Math.max(0, last)}
      aria-valuenow={Math.max(0, Math.min(at, last))}
      aria-valuetext={valueText}
      onKeyDown={onKeyDown}
    />
  );
}

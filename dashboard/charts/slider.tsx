// What the keyboard moves in a chart: a cursor, a bar, a period, an end of the window. A screen reader says each value as it is reached.
import type { HTMLAttributes } from 'preact';

interface SliderProps extends Omit<HTMLAttributes<HTMLDivElement>, 'label'> {
  label: string;
  /** The position, from 0 to `last`; one beyond it if none is chosen. */
  at: number;
  last: number;
  /** What is there, in words. */
  valueText: string;
  onAt: (at: number) => void;
  /** Escape was pressed. */
  onClear?: () => void;
}

/** What Page Up and Page Down move by. */
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

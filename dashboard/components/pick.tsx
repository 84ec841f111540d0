// A choice among many values: a small menu.
import type { ComponentProps } from 'preact';

interface PickProps extends Omit<ComponentProps<'select'>, 'label'> {
  /** The name of the choice, for screen readers; absent if a label of the page names it. */
  label?: string;
  options: readonly { value: string; label: string }[];
  /** Absent in a form, which reads the value on submit. */
  onPick?: (value: string) => void;
  small?: boolean;
}

export function Pick({ label, options, onPick, small, ...select }: PickProps) {
  return (
    <span class="pick">
      <select
        {...select}
        class={small === true ? 'sml' : undefined}
        aria-label={label}
        onChange={(event) => onPick?.(event.currentTarget.value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </span>
  );
}

// A choice among many values: a small menu.

interface PickProps {
  /** What is chosen, for screen readers. */
  label: string;
  value: string;
  options: readonly { value: string; label: string }[];
  onPick: (value: string) => void;
}

export function Pick({ label, value, options, onPick }: PickProps) {
  return (
    <span class="pick">
      <select
        class="sml"
        aria-label={label}
        value={value}
        onChange={(event) => onPick(event.currentTarget.value)}
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

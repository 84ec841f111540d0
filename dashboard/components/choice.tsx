// A choice among a few values, side by side: radio buttons that look like one control.
import { useId } from 'preact/hooks';

interface ChoiceProps<Value extends string> {
  /** The name of the choice, for screen readers. */
  label: string;
  options: readonly { value: Value; label: string }[];
  value: Value;
  onChange: (value: Value) => void;
  small?: boolean;
}

export function Choice<Value extends string>({ label, options, value, onChange, small }: ChoiceProps<Value>) {
  const name = useId();
  return (
    <fieldset class={small === true ? 'seg sml' : 'seg'}>
      <legend class="vh">{label}</legend>
      {options.map((option) => (
        <label key={option.value}>
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}

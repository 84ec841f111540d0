// The ambiguities of the file: the user picks a reading, which changes the entry and checks the table again.
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Table } from './upload-answers.ts';

interface ChoicesProps {
  choices: Table['choices'];
  /** By the key of the choice: the option that the entry has. */
  picks: Readonly<Record<string, number>>;
  isBusy: boolean;
  onPick: (key: string, option: number) => void;
  /** The error of a pick. */
  children: ComponentChildren;
}

export function Choices({ choices, picks, isBusy, onPick, children }: ChoicesProps) {
  const open = choices.filter(({ options }) => options.length > 1);
  if (open.length === 0) return null;
  return (
    <section aria-labelledby="choices">
      <h2 id="choices">Choose the reading</h2>
      <p class="sm below">
        The file can be read in more than one way. Pick the correct reading; the rows below update.
      </p>
      {open.map((choice) => (
        <Readings
          key={choice.key}
          choice={choice}
          picked={picks[choice.key] ?? 0}
          isBusy={isBusy}
          onPick={(option) => onPick(choice.key, option)}
        />
      ))}
      <p class="sm below" role="status">
        {isBusy && 'Checking the table …'}
      </p>
      {children}
    </section>
  );
}

interface ReadingsProps {
  choice: Table['choices'][number];
  picked: number;
  isBusy: boolean;
  onPick: (option: number) => void;
}

function Readings({ choice: { question, options }, picked, isBusy, onPick }: ReadingsProps) {
  const name = useId();
  return (
    <fieldset class="readings">
      <legend>{question}</legend>
      {options.map(({ label }, at) => (
        <label key={label}>
          <input
            type="radio"
            name={name}
            checked={at === picked}
            // One after the other. A disabled button would lose the focus.
            onClick={(event) => isBusy && event.preventDefault()}
            onChange={() => onPick(at)}
          />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}

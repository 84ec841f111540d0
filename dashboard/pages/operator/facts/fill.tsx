// Sets one metadata field of all shown series, or of the selected ones, to the same text.
import { useState } from 'preact/hooks';
import { Pick } from '../../../components/pick.tsx';
import { countText } from '../../../text/numbers.ts';
import { facts, filled, labels, type Draft, type Fact, type SeriesFacts } from './unsaved-facts.ts';

interface FillProps {
  rows: readonly SeriesFacts[];
  selected: ReadonlySet<string>;
  draft: Draft;
  onSelectAll: (isSelected: boolean) => void;
  /** @param fact that was filled. */
  onFill: (draft: Draft, fact: Fact) => void;
}

export function Fill({ rows, selected, draft, onSelectAll, onFill }: FillProps) {
  const [fact, setFact] = useState<Fact>('unit');
  const [text, setText] = useState('');
  const [onlyUnknown, setOnlyUnknown] = useState(true);
  const chosen = rows.filter(({ id }) => selected.has(id));
  const of = chosen.length === 0 ? rows : chosen;
  return (
    <form
      class="bar-ctl fill"
      aria-label="Set a field of many series"
      onSubmit={(event) => {
        event.preventDefault();
        onFill(filled(draft, of, { fact, text: text.trim(), onlyUnknown }), fact);
      }}
    >
      <label class="check">
        <input
          type="checkbox"
          checked={chosen.length === rows.length}
          onChange={(event) => onSelectAll(event.currentTarget.checked)}
        />
        Select all shown
      </label>
      <Pick
        label="Field to set"
        value={fact}
        options={facts.map((value) => ({ value, label: labels[value] }))}
        onPick={(value) => setFact(value as Fact)}
      />
      <input
        class="in"
        aria-label={`${labels[fact]} to set`}
        placeholder="Same value for all"
        autocomplete="off"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={onlyUnknown}
          onChange={(event) => setOnlyUnknown(event.currentTarget.checked)}
        />
        Only where unknown
      </label>
      <button class="btn" type="submit" disabled={onlyUnknown && text.trim() === ''}>
        {text.trim() === '' && !onlyUnknown ? 'Clear' : 'Set'} for {countText(of.length, 'series', 'series')}
      </button>
    </form>
  );
}

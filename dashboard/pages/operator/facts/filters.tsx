// The filters of the table: which series and which of their facts are shown.
import { SearchIcon } from '../../../components/icons.tsx';
import { Pick } from '../../../components/pick.tsx';
import type { ListUrl } from '../list.tsx';
import { facts, labels, optionalFacts, type Fact } from './unsaved-facts.ts';

interface FactFiltersProps {
  url: ListUrl;
  missing: Fact | undefined;
  shown: readonly Fact[];
}

export function FactFilters({ url, missing, shown }: FactFiltersProps) {
  return (
    <>
      <form
        class="bar-ctl filters find-facts"
        role="search"
        aria-label="Find series"
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget);
          const text = (name: string) => {
            const value = given.get(name);
            return typeof value === 'string' ? value.trim() : '';
          };
          url.change({ q: text('q'), source: text('source') });
        }}
      >
        <span class="search">
          <SearchIcon />
          <input
            type="search"
            name="q"
            aria-label="Id or name"
            placeholder="Id or name, then Enter"
            autocomplete="off"
            key={url.text('q')}
            defaultValue={url.text('q') ?? ''}
          />
        </span>
        <input
          class="in"
          name="source"
          aria-label="Source"
          placeholder="Source, then Enter"
          autocomplete="off"
          key={`source ${url.text('source')}`}
          defaultValue={url.text('source') ?? ''}
        />
        <Pick
          label="Unknown field"
          value={missing ?? 'all'}
          options={[
            { value: 'all', label: 'All series' },
            ...optionalFacts.map((value) => ({ value, label: `${labels[value]} unknown` })),
          ]}
          onPick={(chosen) => url.change({ missing: chosen })}
        />
        <button class="vh" type="submit">
          Find
        </button>
      </form>
      <details class="facts-shown">
        <summary>Columns: {shown.map((fact) => labels[fact].toLowerCase()).join(', ')}</summary>
        <div class="chips">
          {facts.map((fact) => (
            <label key={fact} class="chip">
              <input
                type="checkbox"
                checked={shown.includes(fact)}
                disabled={fact === missing}
                onChange={(event) => {
                  const others = shown.filter((each) => each !== fact);
                  const next = event.currentTarget.checked ? [...others, fact] : others;
                  url.change({ facts: next.join(',') });
                }}
              />
              <span>{labels[fact]}</span>
            </label>
          ))}
        </div>
      </details>
    </>
  );
}

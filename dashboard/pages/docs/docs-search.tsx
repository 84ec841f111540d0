// The field of the search in the docs.
import { useId } from 'preact/hooks';
import { SearchIcon } from '../../components/icons.tsx';

interface DocsSearchProps {
  /** The searched text. */
  query?: string;
  /** Called with each change of the text. */
  onQuery?: (query: string) => void;
  /** Called with the text when it is entered. */
  onEnter?: (query: string) => void;
}

export function DocsSearch({ query = '', onQuery, onEnter }: DocsSearchProps) {
  const id = useId();
  function onSubmit(event: SubmitEvent) {
    event.preventDefault();
    const text = new FormData(event.currentTarget as HTMLFormElement).get('q');
    if (typeof text === 'string' && text.trim() !== '') onEnter?.(text.trim());
  }
  return (
    <form class="search docs-search" role="search" aria-label="Docs" onSubmit={onSubmit}>
      <label class="vh" for={id}>
        Search the docs
      </label>
      <SearchIcon />
      <input
        id={id}
        name="q"
        type="search"
        placeholder="Search the docs"
        autocomplete="off"
        spellcheck={false}
        defaultValue={query}
        onInput={(event) => onQuery?.(event.currentTarget.value)}
      />
    </form>
  );
}

// The links between the pages of a list.

interface PagesProps {
  /** The number of rows of a page. */
  size: number;
  isFirst: boolean;
  /** The cursor of the next page; null for the last. */
  next: string | null;
  onFirst: () => void;
  onNext: (cursor: string) => void;
}

/** Pages use cursors, so each links only to the next; the browser's Back leads to the previous one. */
export function Pages({ size, isFirst, next, onFirst, onNext }: PagesProps) {
  if (isFirst && next === null) return null;
  return (
    <div class="actions pages">
      {!isFirst && (
        <button class="btn" type="button" onClick={onFirst}>
          First page
        </button>
      )}
      {!isFirst && (
        <button class="btn" type="button" onClick={() => history.back()}>
          Back
        </button>
      )}
      {next !== null && (
        <button class="btn" type="button" onClick={() => onNext(next)}>
          Next {size}
        </button>
      )}
    </div>
  );
}

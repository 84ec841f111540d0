// The series that a load changed: links to their pages, and how many more there are.
import { Link } from 'wouter-preact';
import { numberText } from '../../text/numbers.ts';

interface SeriesListProps {
  /** The first ids. */
  ids: readonly string[];
  /** Of all. */
  count: number;
}

export function SeriesList({ ids, count }: SeriesListProps) {
  if (ids.length === 0) return <p class="sm dim">None.</p>;
  return (
    <>
      <ul class="ids">
        {ids.map((id) => (
          <li key={id}>
            <Link class="mono" href={`/series/${encodeURIComponent(id)}`}>
              {id}
            </Link>
          </li>
        ))}
      </ul>
      {count > ids.length && <p class="xs dim">and {numberText(count - ids.length)} more</p>}
    </>
  );
}

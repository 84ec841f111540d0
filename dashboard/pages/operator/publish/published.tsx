// Confirms that a table is published, or under embargo: its load or release, the addresses of its series, and the equivalent command.
import { useEffect, useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { CodePanel, CodeTabs } from '../../../components/code-panel.tsx';
import { samplesOf } from '../../../text/samples.ts';
import { PointCounts } from '../point-counts.tsx';
import { SeriesList } from '../series-list.tsx';
import type { Publication } from './upload-answers.ts';

export function Published({ publication }: { publication: Publication }) {
  const { load, release, series_ids: ids, command } = publication;
  const heading = useRef<HTMLHeadingElement>(null);
  // The focused element no longer exists.
  useEffect(() => heading.current?.focus(), []);
  const [first] = ids;
  return (
    <section aria-labelledby="published">
      <h2 id="published" ref={heading} tabIndex={-1}>
        {release === null ? 'Published' : 'Under embargo'}
      </h2>
      <p class="sm below" role="status">
        {release === null ? (
          <>
            Stored as <Link href={`/dashboard/operator/loads/${load}`}>load {load}</Link>, which you can
            retract.
          </>
        ) : (
          <>
            Accepted as <Link href={`/dashboard/operator/releases/${release}`}>release {release}</Link>, which
            you can cancel or publish earlier. Compared with the present data, it changes:
          </>
        )}
      </p>
      <PointCounts of={publication} />
      <h3 class="mt">Its series{release === null ? '' : ', from the release time'}</h3>
      <SeriesList ids={ids} count={publication.series_count} />
      {first !== undefined && (
        <CodeTabs samples={samplesOf({ origin: location.origin, id: first, query: {} })} />
      )}
      {command !== null && (
        <>
          <h3 class="mt">The same on the command line</h3>
          <CodePanel code={command} />
        </>
      )}
      <p class="actions mt">
        <Link class="btn" href="/dashboard/operator/publish">
          Publish another file
        </Link>
      </p>
    </section>
  );
}

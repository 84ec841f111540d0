// The page for a URL of the app that leads nowhere.
import { Link } from 'wouter-preact';
import { PageHead } from '../components/page-head.tsx';

export function NotFound() {
  return (
    <div class="wrap">
      <PageHead
        title="There is no such page"
        lede={
          <>
            The address may be misspelled, or the page may have moved. The{' '}
            <Link href="/catalogue">catalogue</Link> lists all series.
          </>
        }
      />
    </div>
  );
}

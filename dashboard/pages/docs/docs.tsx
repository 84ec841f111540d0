// Lists the guides and the reference, or the sections found by a search.
import { Link } from 'wouter-preact';
import { groups } from 'virtual:guides';
import { useLoad } from '../../api/use-load.ts';
import { PageHead } from '../../components/page-head.tsx';
import { Waiting } from '../../components/states.tsx';
import { useSearchParams } from '../../components/use-query.ts';
import { countText } from '../../text/numbers.ts';
import { DocsSearch } from './docs-search.tsx';
import { finderOf } from './find.ts';
import '../../styles/docs.css';

export function Docs() {
  const [params, setParams] = useSearchParams();
  const query = params.get('q') ?? '';
  return (
    <div class="wrap">
      <PageHead
        title="Docs"
        lede="How to call the API, what its answers mean, and how to run Almanac. The same texts are in the folder docs of the project."
      />
      <DocsSearch query={query} onQuery={(q) => setParams(q === '' ? {} : { q }, { replace: true })} />
      {query.trim() === '' ? <Guides /> : <FoundSections query={query} />}
    </div>
  );
}

function Guides() {
  return (
    <>
      <ul class="guides">
        <li>
          <Link href="/docs/reference">Reference</Link>
          <p>Every endpoint with its parameters, answers and errors, from the OpenAPI document.</p>
        </li>
      </ul>
      {groups.map(({ title, guides }) => (
        <section key={title}>
          <div class="sec-head">
            <h2>{title}</h2>
          </div>
          <ul class="guides">
            {guides.map((guide) => (
              <li key={guide.id}>
                <Link href={`/docs/${guide.id}`}>{guide.title}</Link>
                <p>{guide.summary}</p>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function FoundSections({ query }: { query: string }) {
  const finder = useLoad(async () => finderOf((await import('virtual:guides-text')).texts), []);
  return (
    <Waiting for={finder} failure="The docs could not be loaded">
      {(find) => {
        const found = find(query);
        return (
          <section aria-label="Found">
            <p class="sm below" role="status">
              {found.length === 0
                ? `No section of the docs has these words. Try fewer or other words.`
                : countText(found.length, 'section', 'sections')}
            </p>
            <ul class="docs-found">
              {found.map(({ href, guide, title, excerpt }) => (
                <li key={href}>
                  <Link href={href}>{title === guide ? title : `${guide}: ${title}`}</Link>
                  <p>{excerpt}</p>
                </li>
              ))}
            </ul>
          </section>
        );
      }}
    </Waiting>
  );
}

// The list of the guides and the reference.
import { Link } from 'wouter-preact';
import { groups } from 'virtual:guides';
import { PageHead } from '../../components/page-head.tsx';
import '../../styles/docs.css';

export function Docs() {
  return (
    <div class="wrap">
      <PageHead
        title="Docs"
        lede="How to call the API, what its answers mean, and how to run Almanac. The same texts are in the folder docs of the project."
      />
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
    </div>
  );
}

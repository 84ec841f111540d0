// A guide of docs/, rendered when the dashboard was built.
import { groups } from 'virtual:guides';
import { Link } from 'wouter-preact';
import { useLoad, shownIn } from '../../api/use-load.ts';
import type { PageProps } from '../../shell/lazy-page.tsx';
import { NotFound } from '../../shell/not-found.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { SkeletonLines, Waiting } from '../../components/states.tsx';
import { DocsFrame } from './docs-frame.tsx';

export function Guide({ params }: PageProps) {
  const found = groups.flatMap(({ guides }) => guides).find(({ id }) => id === params['guide']);
  return found === undefined ? <NotFound /> : <FoundGuide key={found.id} guide={found} />;
}

function FoundGuide({ guide }: { guide: (typeof groups)[number]['guides'][number] }) {
  const text = useLoad(() => guide.load(), [guide.id]);
  return (
    <div class="wrap">
      <DocsFrame sections={shownIn(text)?.sections ?? none}>
        <PageHead title={guide.title} crumb={<Link href="/docs">Docs</Link>} />
        <Waiting for={text} skeleton={<SkeletonLines lines={12} />} failure="The guide could not be loaded">
          {({ html }) => <article class="text" dangerouslySetInnerHTML={{ __html: html }} />}
        </Waiting>
      </DocsFrame>
    </div>
  );
}

const none: readonly never[] = [];

// A page of the docs beside the list of the others; links within its text stay in the app, and the section of the URL is shown.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { groups } from 'virtual:guides';
import '../../styles/docs.css';

interface DocsFrameProps {
  /** The sections of the page, for the list. */
  sections: readonly { id: string; title: string }[];
  children: ComponentChildren;
}

export function DocsFrame({ sections, children }: DocsFrameProps) {
  const [path, navigate] = useLocation();
  const content = useRef<HTMLDivElement>(null);
  useSection(path, sections);
  function onClick(event: MouseEvent) {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const isPlain =
      event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (link === null || !isPlain || event.defaultPrevented) return;
    const { origin, pathname, hash } = new URL(link.href);
    if (origin !== location.origin || !pathname.startsWith('/docs') || pathname === path) return;
    event.preventDefault();
    navigate(pathname + hash);
  }
  return (
    <div class="docs">
      <nav class="docs-nav" aria-label="Docs">
        <Entry path="/docs/reference" title="Reference" current={path} sections={sections} />
        {groups.map(({ title, guides }) => (
          <div key={title}>
            <h2>{title}</h2>
            {guides.map((guide) => (
              <Entry
                key={guide.id}
                path={`/docs/${guide.id}`}
                title={guide.title}
                current={path}
                sections={sections}
              />
            ))}
          </div>
        ))}
      </nav>
      <div ref={content} onClick={onClick}>
        {children}
      </div>
    </div>
  );
}

interface EntryProps {
  path: string;
  title: string;
  current: string;
  sections: DocsFrameProps['sections'];
}

/** With its sections, if it is the page shown. */
function Entry({ path, title, current, sections }: EntryProps) {
  if (path !== current) return <Link href={path}>{title}</Link>;
  return (
    <>
      <Link href={path} aria-current="page">
        {title}
      </Link>
      <ul>
        {sections.map((section) => (
          <li key={section.id}>
            <a href={`#${section.id}`}>{section.title}</a>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Shows the section of the URL, once it is on the page: the browser looks for it before the text is there. */
function useSection(path: string, sections: DocsFrameProps['sections']): void {
  useEffect(() => {
    const id = decodeURIComponent(location.hash.slice(1));
    if (id !== '') document.getElementById(id)?.scrollIntoView();
  }, [path, sections]);
}

// The frame of a docs page: the search and the list of all pages at its side, links to the previous and the next page below. Links in its text stay
// in the app, and the section in the URL is scrolled to.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { groups } from 'virtual:guides';
import { DocsSearch } from './docs-search.tsx';
import '../../styles/docs.css';

/** Every page of the docs, in the order of the list. */
const pages = [
  { path: '/docs/reference', title: 'Reference' },
  ...groups.flatMap(({ guides }) => guides.map(({ id, title }) => ({ path: `/docs/${id}`, title }))),
];

interface DocsFrameProps {
  /** The sections of the page, for the list. */
  sections: readonly { id: string; title: string }[];
  children: ComponentChildren;
}

export function DocsFrame({ sections, children }: DocsFrameProps) {
  const [path, navigate] = useLocation();
  const [isOpen, setIsOpen] = useState(false);
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
      <nav class={isOpen ? 'docs-nav open' : 'docs-nav'} aria-label="Docs">
        <DocsSearch onEnter={(q) => navigate(`/docs?${new URLSearchParams({ q }).toString()}`)} />
        <button class="btn sml" type="button" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          Contents
        </button>
        <div class="docs-list" onClick={() => setIsOpen(false)}>
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
        </div>
      </nav>
      <div onClick={onClick}>
        {children}
        <Neighbours path={path} />
      </div>
    </div>
  );
}

/** The links to the pages before and after the one at `path`. */
function Neighbours({ path }: { path: string }) {
  const at = pages.findIndex((page) => page.path === path);
  const [previous, next] = [pages[at - 1], pages[at + 1]];
  return (
    <nav class="docs-neighbours" aria-label="Previous and next page">
      {previous !== undefined && (
        <Link href={previous.path} class="previous">
          <small>Previous</small>
          {previous.title}
        </Link>
      )}
      {next !== undefined && (
        <Link href={next.path} class="next">
          <small>Next</small>
          {next.title}
        </Link>
      )}
    </nav>
  );
}

interface EntryProps {
  path: string;
  title: string;
  current: string;
  sections: DocsFrameProps['sections'];
}

/** An entry of the list, with its sections if it is the current page. */
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

/** Scrolls to the section in the URL once it is rendered: the browser looks for it before the text is loaded. */
function useSection(path: string, sections: DocsFrameProps['sections']): void {
  useEffect(() => {
    const id = location.hash.slice(1); // nothing in it is escaped in a URL
    if (id !== '') document.getElementById(id)?.scrollIntoView();
  }, [path, sections]);
}

// The head of a page: its title, here and in the window, which gets the focus when the page was reached by a link.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { claimFocus } from './focus.ts';

interface PageHeadProps {
  title: string;
  /** The title of the window; by default that of the page. */
  windowTitle?: string;
  lede?: ComponentChildren;
  /** Links above the title. */
  crumb?: ComponentChildren;
  /** Buttons beside the title. */
  actions?: ComponentChildren;
}

/** Every page has one. */
export function PageHead({ title, windowTitle = title, lede, crumb, actions }: PageHeadProps) {
  const heading = usePageTitle(windowTitle);
  return (
    <div class="head">
      <div>
        {crumb !== undefined && <p class="crumb">{crumb}</p>}
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {lede !== undefined && <p class="lede">{lede}</p>}
      </div>
      {actions !== undefined && <div class="actions">{actions}</div>}
    </div>
  );
}

/** Sets the title of the window. @returns the ref of the page's h1, which needs `tabIndex={-1}`. */
export function usePageTitle(title: string) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Almanac`;
  }, [title]);
  useEffect(() => {
    if (claimFocus()) heading.current?.focus({ preventScroll: true });
  });
  return heading;
}

// The effects of a navigation within the app: the new page begins at its top, and its heading gets the focus.
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'wouter-preact';

let isPending = false;

/** Whether a page was just reached by a link, and no element has claimed the focus yet. */
export function claimFocus(): boolean {
  const wasPending = isPending;
  isPending = false;
  return wasPending;
}

/** Records each change of the path; a change of only the query is a change within a page. Back and forward keep their scroll position. */
export function useNavigations(): void {
  const [path] = useLocation();
  const before = useRef(path);
  // While rendering, not in an effect: the effects of the new page come first.
  if (before.current !== path) isPending = true;
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    shownPath = location.pathname;
    if (location.hash === '' && !isGoingBack) scrollTo(0, 0);
    isGoingBack = false;
  }, [path]);
}

let isGoingBack = false;
/** Back within a page, or to a section of it, is no navigation: the next link leads to the top of its page. */
let shownPath = location.pathname;
addEventListener('popstate', () => void (isGoingBack = location.pathname !== shownPath));

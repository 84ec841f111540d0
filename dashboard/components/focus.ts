// Keeps the focus where a keyboard user works: on the heading of a page reached by a link, and near a control that was removed or disabled.
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

/** A control that had the focus, and what was around it. */
interface Place {
  control: HTMLElement;
  /** From the innermost. */
  around: readonly HTMLElement[];
  /** The position of its row in its table; -1 outside of tables. */
  rowAt: number;
}

/** A browser gives the focus of a removed or disabled control to the body. It returns to the control once that is enabled, otherwise to its surroundings. */
export function useKeptFocus(): void {
  useEffect(() => {
    let place: Place | undefined;
    const enter = ({ target }: FocusEvent) => void (place = placeOf(target));
    const leave = ({ target, relatedTarget }: FocusEvent) => {
      // During this event a control that is being removed is still in the page.
      queueMicrotask(() => {
        const isLeft = relatedTarget !== null || (place !== undefined && isUsable(place.control));
        if (isLeft && place?.control === target) place = undefined;
      });
    };
    const changes = new MutationObserver(() => {
      if (place === undefined || document.activeElement !== document.body) return;
      const { control } = place;
      if (control.isConnected && !isUsable(control)) return;
      if (!isPending) (control.isConnected ? control : nearest(place))?.focus({ preventScroll: true });
      place = undefined;
    });
    document.addEventListener('focusin', enter);
    document.addEventListener('focusout', leave);
    changes.observe(document.body, { subtree: true, childList: true, attributeFilter: ['disabled'] });
    return () => {
      document.removeEventListener('focusin', enter);
      document.removeEventListener('focusout', leave);
      changes.disconnect();
    };
  }, []);
}

const isUsable = (control: HTMLElement): boolean => control.isConnected && !control.matches(':disabled');

function placeOf(target: EventTarget | null): Place | undefined {
  if (!(target instanceof HTMLElement)) return undefined;
  const around: HTMLElement[] = [];
  for (let at = target.parentElement; at !== null; at = at.parentElement) around.push(at);
  return { control: target, around, rowAt: target.closest('tr')?.sectionRowIndex ?? -1 };
}

/** The first control of the row that is now in the place of its row, or of the last row; otherwise the heading above it. */
function nearest({ around, rowAt }: Place): HTMLElement | null {
  const present = around.filter((element) => element.isConnected);
  const rows = present.find((element) => element instanceof HTMLTableSectionElement)?.children;
  const row = rows?.[Math.min(rowAt, rows.length - 1)];
  const control = row?.querySelector<HTMLElement>('a[href], :is(button, input, select):enabled');
  if (control != null) return control;
  const heading = present
    .map((each) => each.querySelector<HTMLElement>('h1, h2, h3'))
    .find((each) => each !== null);
  heading?.setAttribute('tabindex', '-1');
  return heading ?? null;
}

// The page that somebody wanted before signing in. It is in the URL of the sign-in page; while Google has the browser, in sessionStorage.
import { home, safePage } from './safe-page.ts';

const storedAs = 'almanac.return-to';

/** The sign-in page that leads back here. @param why as the sign-in page knows it. */
export function signInFirst(why?: string): string {
  const query = new URLSearchParams(why === undefined ? {} : { why });
  const here = location.pathname + location.search;
  if (here !== home) query.set('return_to', here);
  return query.size === 0 ? '/sign-in' : `/sign-in?${query.toString()}`;
}

export function keepWayBack(wanted: string | null): void {
  sessionStorage.setItem(storedAs, safePage(wanted, location.origin));
}

/** Returns the stored value, once. */
export function takeWayBack(): string {
  const kept = sessionStorage.getItem(storedAs);
  sessionStorage.removeItem(storedAs);
  return safePage(kept, location.origin);
}

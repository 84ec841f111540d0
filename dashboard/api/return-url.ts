// The page that was requested before sign-in. It is in the URL of the sign-in page, in sessionStorage while the browser is at Google, and in localStorage
// until a mailed link is opened, which begins in a new tab.
import { home, safePage } from './safe-page.ts';

const storedAs = 'almanac.return-to';
const places = { google: sessionStorage, mail: localStorage };
type Way = keyof typeof places;

/** The URL of the sign-in page that leads back here. @param why one of the reasons of the sign-in page. */
export function signInUrl(why?: string): string {
  const query = new URLSearchParams(why === undefined ? {} : { why });
  const here = location.pathname + location.search;
  if (here !== home) query.set('return_to', here);
  return query.size === 0 ? '/sign-in' : `/sign-in?${query.toString()}`;
}

/** The URL of another page of sign-in that leads to the same page. */
export function withReturnUrl(path: string, returnTo: string | null): string {
  return returnTo === null ? path : `${path}?return_to=${encodeURIComponent(returnTo)}`;
}

export function storeReturnUrl(by: Way, requested: string | null): void {
  places[by].setItem(storedAs, safePage(requested, location.origin));
}

/** Returns the stored value, once. */
export function popReturnUrl(by: Way): string {
  const stored = places[by].getItem(storedAs);
  places[by].removeItem(storedAs);
  return safePage(stored, location.origin);
}

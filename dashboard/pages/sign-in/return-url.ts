// The page that was requested before sign-in. It is in the URL of the sign-in page and, while the browser is at Google, in sessionStorage.
import { home, safePage } from './safe-page.ts';

const storedAs = 'almanac.return-to';

/** The URL of the sign-in page that leads back here. @param why one of the reasons of the sign-in page. */
export function signInUrl(why?: string): string {
  const query = new URLSearchParams(why === undefined ? {} : { why });
  const here = location.pathname + location.search;
  if (here !== home) query.set('return_to', here);
  return query.size === 0 ? '/sign-in' : `/sign-in?${query.toString()}`;
}

export function storeReturnUrl(requested: string | null): void {
  sessionStorage.setItem(storedAs, safePage(requested, location.origin));
}

/** Returns the stored value, once. */
export function popReturnUrl(): string {
  const stored = sessionStorage.getItem(storedAs);
  sessionStorage.removeItem(storedAs);
  return safePage(stored, location.origin);
}

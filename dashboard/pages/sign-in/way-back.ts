// The page that somebody wanted before signing in. It is in the URL of the sign-in page; while Google has the browser, in sessionStorage.
const storedAs = 'almanac.return-to';
const home = '/dashboard';

/** A page of the dashboard and nothing else. @param wanted from the URL, which anybody can make. */
export function safePage(wanted: string | null, origin = location.origin): string {
  if (wanted === null || !wanted.startsWith('/')) return home;
  const url = URL.parse(wanted, origin);
  // The path of /.//x is //x, which names another host.
  if (url === null || url.origin !== origin || url.pathname.startsWith('//')) return home;
  return url.pathname + url.search;
}

/** The sign-in page that leads back here. @param why as the sign-in page knows it. */
export function signInFirst(why?: string): string {
  const query = new URLSearchParams(why === undefined ? {} : { why });
  const here = location.pathname + location.search;
  if (here !== home) query.set('return_to', here);
  return query.size === 0 ? '/sign-in' : `/sign-in?${query.toString()}`;
}

export function keepWayBack(wanted: string | null): void {
  sessionStorage.setItem(storedAs, safePage(wanted));
}

/** What was kept, once. */
export function takeWayBack(): string {
  const kept = sessionStorage.getItem(storedAs);
  sessionStorage.removeItem(storedAs);
  return safePage(kept);
}

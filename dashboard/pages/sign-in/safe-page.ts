// The page that a URL leads to after sign-in. It is always one of this site.
export const home = '/dashboard';

/** Accepts only a page of the dashboard. @param wanted from the URL, which anybody can craft. @param origin of this site. */
export function safePage(wanted: string | null, origin: string): string {
  if (wanted === null || !wanted.startsWith('/')) return home;
  const url = URL.parse(wanted, origin);
  // The path of /.//x is //x, which names another host.
  if (url === null || url.origin !== origin || url.pathname.startsWith('//')) return home;
  return url.pathname + url.search;
}

// The page that a URL leads to after sign-in. It is always one of this site.
export const home = '/dashboard';

/** Accepts only a page of the dashboard. @param requested from the URL, which anybody can craft. @param origin of this site. */
export function safePage(requested: string | null, origin: string): string {
  if (requested === null || !requested.startsWith('/')) return home;
  const url = URL.parse(requested, origin);
  // The path of /.//x is //x, which names another host.
  if (url === null || url.origin !== origin || url.pathname.startsWith('//')) return home;
  return url.pathname + url.search;
}

// The path of a file below a folder, or its URL: distinguishes the two, gives its name, and its displayable form.

export const isUrl = (path: string): boolean => /^https?:\/\//i.test(path);

/** A URL without its query, which may contain a token. A name below a folder is unchanged. */
export const withoutQuery = (path: string): string => (isUrl(path) ? path.replace(/[?#].*$/s, '') : path);

export const fileNameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Whether the path matches the pattern, in which `*` matches any text without a slash. */
export function matches(pattern: string, path: string): boolean {
  if (pattern === path) return true;
  if (!pattern.includes('*')) return false;
  const parts = pattern.split('*').map((part) => RegExp.escape(part));
  return new RegExp(`^${parts.join('[^/]*')}$`).test(path);
}

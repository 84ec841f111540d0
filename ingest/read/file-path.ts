// The path of a file below a folder, or its URL: which it is, its name, and what of it may be shown.

export const isUrl = (path: string): boolean => /^https?:\/\//i.test(path);

/** A URL as it may be told to everybody: a token may be in its query. A name below a folder stays as it is. */
export const withoutQuery = (path: string): string => (isUrl(path) ? path.replace(/[?#].*$/s, '') : path);

export const fileNameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Whether the path is of the pattern, in which `*` stands for any text without a slash. */
export function matches(pattern: string, path: string): boolean {
  if (pattern === path) return true;
  if (!pattern.includes('*')) return false;
  const parts = pattern.split('*').map((part) => RegExp.escape(part));
  return new RegExp(`^${parts.join('[^/]*')}$`).test(path);
}

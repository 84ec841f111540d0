// The suggested name of a key that replaces another one.

/** As long as a name may be. */
const maxLength = 100;

/** `Production` → `Production 2`, or the next number that no key has. */
export function nextName(name: string, keys: readonly { name: string }[]): string {
  const [, stem = name, number = '1'] = /^(.*?)(?: (\d{1,6}))?$/.exec(name) ?? [];
  for (let next = Number(number) + 1; ; next += 1) {
    const suffix = ` ${next}`;
    const suggested = stem.slice(0, maxLength - suffix.length).trimEnd() + suffix;
    if (!keys.some((key) => key.name === suggested)) return suggested;
  }
}

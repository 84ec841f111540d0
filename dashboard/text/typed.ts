// Whether a name was typed as it is shown.

/** Spaces are shown as one, and a name may have marks that nobody sees or types, or letters that a keyboard composes otherwise. */
const shown = (text: string): string =>
  text
    .normalize()
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

export const isTyped = (typed: string, name: string): boolean => shown(typed) === shown(name);

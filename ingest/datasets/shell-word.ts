// Quotes words of a suggested command for a shell.

/** The word, quoted for a shell if needed. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9_./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

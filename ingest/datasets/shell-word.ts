// Words of a command that a message proposes, as a shell reads them.

/** The word as a shell takes it. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9_./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

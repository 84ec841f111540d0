// Commands as typed into a shell, for pages that show the equivalent command.

const plainWord = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** `almanac loads retract 7 --reason 'wrong unit'`: words that a POSIX shell would change are quoted. */
export function commandLine(...words: readonly string[]): string {
  return words.map((word) => (plainWord.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}

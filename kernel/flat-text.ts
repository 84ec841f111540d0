// V8 joins texts lazily: a joined text is a tree of its parts, which is walked whenever the text, or one that contains it, is written
// to a socket. So a text that is part of many answers or log lines is copied once into a single piece.

/** The same text, in one piece. @param text without lone surrogates. */
export function flatText(text: string): string {
  return Buffer.from(text).toString();
}

// Text for a terminal, without the characters that control it: names and values come from files and people.
import type { Output } from './command.ts';

// Those that move the cursor, colour, or turn the direction of text; not tabs and line ends.
// oxlint-disable-next-line no-control-regex -- finding them is the point
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Each such character as `\u001b`, which JSON reads as the same character. */
function plainText(text: string): string {
  return text.replaceAll(
    obeyed,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** An output that receives only text. */
export function plainOutput(output: Output): Output {
  return {
    ...(output.isTTY === undefined ? {} : { isTTY: output.isTTY }),
    ...(output.columns === undefined ? {} : { columns: output.columns }),
    write: (text) => output.write(plainText(text)),
  };
}

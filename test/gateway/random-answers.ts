// Generates random HTTP/1.1 answers like those of our services, and damaged ones.
import type { Random } from '../chaos/random.ts';
import { damaged, lineEnd, textOf } from './answer-damage.ts';

export interface RandomAnswer {
  method: 'GET' | 'HEAD';
  /** The pieces in which it arrives, of at least one byte each. */
  pieces: readonly Buffer[];
  /** Undefined: the answer is damaged. */
  wanted: WantedAnswer | undefined;
}

export interface WantedAnswer {
  status: number;
  /** Lower-case names and values, alternating. */
  head: readonly string[];
  /** In latin1. */
  body: string;
}

/** An answer in parts, in order: damage often concerns a whole part, such as a name or a line end. */
interface Parts extends WantedAnswer {
  parts: string[];
}

const nameCharacters = "!#$%&'*+.^_`|~0123456789ABCXYZabcxyz-";
const valueCharacters = '\t !"(),/:;<=>?@[\\]{}~09AZaz\x80\xa0\xff';
const bodyCharacters = '\0\t\n\r\r\n\n 09:;HTafxz\x7f\xff';
const statuses = [200, 200, 200, 200, 201, 206, 299, 204, 301, 304, 304, 400, 404, 429, 500, 503, 599];

/** @param random determines the result. */
export function randomAnswer(random: Random): RandomAnswer {
  const method = random.below(8) === 0 ? 'HEAD' : 'GET';
  const { parts, ...wanted } = wholeAnswer(random, method);
  const damages = random.below(4) === 0 ? 0 : random.pick([1, 1, 1, 2, 3, 5]);
  let text = damages === 0 ? parts.join('') : damaged(random, parts, damages);
  if (text === '') text = '\r';
  const bytes = Buffer.from(text, 'latin1');
  return { method, pieces: inPieces(random, bytes), wanted: damages === 0 ? wanted : undefined };
}

const blanks = (random: Random, most = 2) => textOf(random, ' \t', 0, random.below(3) === 0 ? most : 0);

function inAnyCase(random: Random, text: string): string {
  const how = random.below(4);
  if (how === 0) return text.toUpperCase();
  if (how === 1) return text;
  return Array.from(text, (letter) => (random.below(2) === 0 ? letter.toUpperCase() : letter)).join('');
}

/** The parts of one header line. @param after the blanks after its value. */
function line(random: Random, name: string, value: string, after = blanks(random)): string[] {
  return [name, ':', random.pick(['', ' ', ' ', ' ', blanks(random, 4)]), value, after, lineEnd];
}

/** A header that affects neither the length nor the connection. */
function randomHeader(random: Random): [name: string, value: string] {
  const value = textOf(random, valueCharacters, 0, random.pick([0, 3, 20])).replace(/^[\t ]+|[\t ]+$/g, '');
  return [`${random.pick(['x', 'x-', 'Link', '', '~'])}y${textOf(random, nameCharacters, 0, 5)}`, value];
}

function statusLine(random: Random, status: number): string[] {
  return [
    'HTTP/1.1',
    ' ',
    String(status),
    ' ',
    random.pick(['', 'OK', 'Not Found', textOf(random, valueCharacters, 0, 9)]),
    lineEnd,
  ];
}

function interimAnswers(random: Random): string[] {
  const parts: string[] = [];
  for (let left = random.below(3) === 0 ? random.between(1, 3) : 0; left > 0; left -= 1) {
    parts.push(...statusLine(random, random.pick([100, 102, 103, 103, 199])));
    for (let lines = random.below(3); lines > 0; lines -= 1)
      parts.push(...line(random, ...randomHeader(random)));
    parts.push(lineEnd);
  }
  return parts;
}

function wholeAnswer(random: Random, method: RandomAnswer['method']): Parts {
  const status = random.pick(statuses);
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
  const body = random.below(5) === 0 ? '' : textOf(random, bodyCharacters, 0, random.pick([1, 5, 40, 300]));
  const framing =
    status === 204 || (!hasBody && random.below(3) === 0) ? 'none' : random.pick(['sized', 'chunked']);
  const headers = Array.from({ length: random.below(4) }, () => randomHeader(random));
  const parts = [...interimAnswers(random), ...statusLine(random, status)];
  const add = (name: string, value: string) =>
    headers.splice(random.below(headers.length + 1), 0, [name, value]);
  if (framing === 'sized')
    add(inAnyCase(random, 'content-length'), random.pick(['', '', '0', '000']) + String(body.length));
  if (framing === 'chunked') add(inAnyCase(random, 'transfer-encoding'), inAnyCase(random, 'chunked'));
  if (random.below(3) === 0)
    add('Connection', random.pick(['close', 'keep-alive', 'Close', 'upgrade', 'x, close']));
  if (random.below(8) === 0) add('Keep-Alive', 'timeout=5');
  if (random.below(8) === 0) add('Trailer', 'x');
  for (const [name, value] of headers) {
    // A tab after the encoding is valid, but Node's parser then reads another encoding.
    const isFraming = /^transfer-encoding$/i.test(name);
    parts.push(...line(random, name, value, isFraming ? random.pick(['', '', ' ', '  ']) : blanks(random)));
  }
  parts.push(lineEnd);
  if (hasBody) parts.push(...(framing === 'chunked' ? inChunks(random, body) : [body]));
  const head = headers.flatMap(([name, value]) => [name.toLowerCase(), value]);
  return { parts, status, head, body: hasBody ? body : '' };
}

function inChunks(random: Random, body: string): string[] {
  const parts: string[] = [];
  const size = (length: number) =>
    random.pick(['', '', '0', '0000']) + inAnyCase(random, length.toString(16));
  for (let from = 0; from < body.length;) {
    const chunk = body.slice(from, from + random.between(1, random.pick([2, 20, 300])));
    parts.push(size(chunk.length), lineEnd, chunk, lineEnd);
    from += chunk.length;
  }
  parts.push(size(0), lineEnd);
  for (let lines = random.below(3) === 0 ? random.between(1, 3) : 0; lines > 0; lines -= 1) {
    parts.push(...line(random, ...randomHeader(random)));
  }
  return [...parts, lineEnd];
}

function inPieces(random: Random, bytes: Buffer): Buffer[] {
  const lengthMax = random.pick([1, 3, 40, 40, 1_000, Number.POSITIVE_INFINITY]);
  const pieces: Buffer[] = [];
  for (let from = 0; from < bytes.length;) {
    const length = lengthMax === Number.POSITIVE_INFINITY ? bytes.length : random.between(1, lengthMax);
    pieces.push(bytes.subarray(from, from + length));
    from += length;
  }
  return pieces;
}

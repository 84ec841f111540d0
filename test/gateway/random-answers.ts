// Random HTTP/1.1 answers as our services send them, and damaged ones. Hides the grammar, and which damage has confused parsers.
import type { Random } from '../chaos/random.ts';

export interface RandomAnswer {
  method: 'GET' | 'HEAD';
  /** As it arrives: at least one byte each. */
  pieces: readonly Buffer[];
  /** Undefined: the answer is damaged. */
  wanted: WantedAnswer | undefined;
}

export interface WantedAnswer {
  status: number;
  /** Lower-case names and values, alternating. */
  head: readonly string[];
  /** As latin1. */
  body: string;
}

/** An answer in parts, in order: damage is often done to a whole part, such as a name or a line end. */
interface Parts extends WantedAnswer {
  parts: string[];
}

const lineEnd = '\r\n';
const nameCharacters = "!#$%&'*+.^_`|~0123456789ABCXYZabcxyz-";
const valueCharacters = '\t !"(),/:;<=>?@[\\]{}~09AZaz\x80\xa0\xff';
const bodyCharacters = '\0\t\n\r\r\n\n 09:;HTafxz\x7f\xff';
const statuses = [200, 200, 200, 200, 201, 206, 299, 204, 301, 304, 304, 400, 404, 429, 500, 503, 599];

/** Text that two parsers may read in two ways where it does not belong. */
const fragments = [
  ...[
    '\n',
    '\r',
    '\r\r\n',
    '\n\n',
    '\n\r\n',
    '\r\n',
    '\r\n\r\n',
    '\t',
    ' ',
    '  ',
    ' \t',
    '\0',
    '\v',
    '\f',
    '\x7f',
    '\x80',
  ],
  ...[
    '\x85',
    '\xa0',
    '\xff',
    ':',
    ';',
    ',',
    '"',
    '=',
    '0',
    '00',
    '1',
    '-',
    '+',
    '-1',
    '0x',
    '0x1',
    '1e1',
    '1_0',
    '1.0',
  ],
  ...[
    'f'.repeat(12),
    'f'.repeat(16),
    '1'.padStart(17, '0'),
    '9'.repeat(15),
    '9'.repeat(20),
    'G',
    ';a=b',
    ';a="\n"',
  ],
  ...[
    'chunked',
    'gzip',
    'identity',
    'gzip, chunked',
    'chunked, gzip',
    'chunked, chunked',
    ',chunked',
    'chunked,',
  ],
  ...[
    '"chunked"',
    'chunked;a=b',
    'xchunked',
    'HTTP/1.0',
    'HTTP/2.0',
    'http/1.1',
    'ICY',
    '100',
    '101',
    '99',
    '600',
    '2000',
  ],
  ...['1\r\nx\r\n', '3\r\nabc\r\n0\r\n\r\n', '0\r\n\r\n', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
  ...['HTTP/1.1 204 No Content\r\n\r\n', 'HTTP/1.1 100 Continue\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n'],
  'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
];

/** Lines that change what follows, or are none. */
const hostileLines = [
  ...[
    'Transfer-Encoding: chunked',
    'Transfer-Encoding:',
    'Transfer-Encoding : chunked',
    'Transfer-Encoding:\r\n chunked',
  ],
  ...[
    'Content-Length: 0',
    'Content-Length: 3',
    'Content-Length:',
    'Content-Length : 0',
    'Content-Length: 1, 1',
  ],
  ...[
    'Connection: close',
    'Connection: x, close ',
    'Connection: close\t',
    'Connection: close, x',
    'Proxy-Connection: close',
  ],
  ...[
    'Connection: keep-alive',
    'Connection: upgrade\r\nUpgrade: x',
    'Upgrade: x',
    'Trailer: x',
    'x: a\r\n b',
    'x: a\r\n\tb',
  ],
  ...[
    'x',
    ': x',
    'x :a',
    ' x: a',
    '\tx: a',
    'x\xa0: a',
    'HTTP/1.1 200 OK',
    'HTTP/1.1 103 Early Hints',
    '0',
    '1',
    '',
  ],
];

/** @param random determines all. */
export function randomAnswer(random: Random): RandomAnswer {
  const method = random.below(8) === 0 ? 'HEAD' : 'GET';
  const { parts, ...wanted } = wholeAnswer(random, method);
  const damages = random.below(4) === 0 ? 0 : random.pick([1, 1, 1, 2, 3, 5]);
  let text = damages === 0 ? parts.join('') : damaged(random, parts, damages);
  if (text === '') text = '\r';
  const bytes = Buffer.from(text, 'latin1');
  return { method, pieces: inPieces(random, bytes), wanted: damages === 0 ? wanted : undefined };
}

function textOf(random: Random, characters: string, lengthMin: number, lengthMax: number): string {
  let text = '';
  for (let left = random.between(lengthMin, lengthMax); left > 0; left -= 1) {
    text += characters[random.below(characters.length)];
  }
  return text;
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

/** A header that says nothing of the length or the connection. */
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
    // A tab after the encoding is valid, but Node's parser reads another encoding then.
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

/** Changes parts, then bytes. */
function damaged(random: Random, whole: readonly string[], times: number): string {
  const parts = [...whole];
  let ofBytes = 0;
  for (let left = times; left > 0; left -= 1) {
    if (random.below(3) === 0) ofBytes += 1;
    else damagePart(random, parts);
  }
  let text = parts.join('');
  for (; ofBytes > 0; ofBytes -= 1) text = withByteDamaged(random, text);
  return text;
}

/** The name of the header that frames the body; its line continues with a colon, blanks, the value, blanks, the line end. */
function framingAt(parts: readonly string[]): number {
  return parts.findIndex((part) => /^(?:content-length|transfer-encoding)$/i.test(part));
}

/** Anywhere, near the end, where chunks and trailers are, or in the line that frames the body. */
function placeOfDamage(random: Random, parts: readonly string[]): number {
  const where = random.below(3);
  const framing = framingAt(parts);
  if (where === 0 && framing >= 0) return Math.min(parts.length - 1, framing + random.below(6));
  if (where === 1) return Math.max(0, parts.length - 1 - random.below(12));
  return random.below(parts.length);
}

function damagePart(random: Random, parts: string[]): void {
  const at = placeOfDamage(random, parts);
  const part = parts[at] ?? '';
  const other = random.below(parts.length);
  switch (random.below(13)) {
    case 0:
      parts.splice(at, 1);
      break;
    case 1:
      parts.splice(at, 0, part);
      break;
    case 2:
      [parts[at], parts[other]] = [parts[other] ?? '', part];
      break;
    case 3:
      parts[at] = random.pick(fragments);
      break;
    case 4:
      parts[at] = part + random.pick(fragments);
      break;
    case 5:
      parts[at] = random.pick(fragments) + part;
      break;
    case 6: // a length or the size of a chunk
      parts[at] = /^[\da-f]+$/i.test(part) ? otherNumber(random, part) : part + random.pick(fragments);
      break;
    case 7: // lines are doubled or moved as well
      parts.splice(at, 0, ...parts.slice(other, other + random.between(1, 8)));
      break;
    case 8:
      parts.splice(at, random.between(1, 8));
      break;
    case 9: // within any line: between lines, that is mostly a line of its own
      parts.splice(at, 0, random.pick(hostileLines) + lineEnd);
      break;
    case 10: {
      const end = parts.indexOf(lineEnd, random.below(2) === 0 ? at : other);
      parts.splice(end + 1, 0, random.pick(hostileLines) + lineEnd);
      break;
    }
    case 11: {
      const end = parts.indexOf(lineEnd, random.below(2) === 0 ? at : other);
      parts[Math.max(0, end)] = random.pick([
        '\r',
        '\n',
        '\r\r',
        '\n\n',
        '\n\r',
        '\r\r\n',
        '\r\n\n',
        'x\n',
        '\rx',
        '',
      ]);
      break;
    }
    case 12: {
      const name = framingAt(parts);
      parts[name < 0 ? at : name + random.pick([1, 2, 4, 4])] = textOf(random, ' \t\t:,;\0\v\xa0', 0, 3);
      break;
    }
  }
  if (parts.length === 0) parts.push('');
}

function otherNumber(random: Random, digits: string): string {
  const number = Number.parseInt(digits, 16);
  const others = [
    number + 1,
    Math.max(0, number - 1),
    number * 16,
    number + 2,
    number >> 4,
    random.below(40),
  ];
  return random.pick([random.pick(others).toString(16), `${digits}${random.pick(fragments)}`, `0${digits}`]);
}

function withByteDamaged(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  const byte = String.fromCharCode(random.below(256));
  switch (random.below(7)) {
    case 0:
      return before + after.slice(1);
    case 1:
      return before + after.slice(0, 1) + after;
    case 2:
      return before + byte + after;
    case 3:
      return before + byte + after.slice(1);
    case 4:
      return before + random.pick(fragments) + after;
    case 5:
      return before; // cut off
    default: // one bit
      return (
        before + String.fromCharCode((text.charCodeAt(at) || 0) ^ (1 << random.below(8))) + after.slice(1)
      );
  }
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

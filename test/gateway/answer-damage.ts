// Damages HTTP/1.1 answers in ways that have confused parsers.
import type { Random } from '../chaos/random.ts';

export const lineEnd = '\r\n';
// After some of these a parser expects no body, or another protocol.
const statuses = ['99', '100', '101', '101', '103', '199', '200', '204', '205', '304', '600'];

/** Text that two parsers may read differently in a wrong place. */
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

/** Lines that change the meaning of the rest, or are not header lines. */
const hostileLines = [
  ...[
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip',
    'Transfer-Encoding: x',
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

/** @param characters to choose from. */
export function textOf(random: Random, characters: string, lengthMin: number, lengthMax: number): string {
  let text = '';
  for (let left = random.between(lengthMin, lengthMax); left > 0; left -= 1) {
    text += characters[random.below(characters.length)];
  }
  return text;
}

/** The text of the parts after changes of parts, then of bytes. @param whole names, values, line ends and so on, in order. */
export function damaged(random: Random, whole: readonly string[], times: number): string {
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

/** The name of the header that frames the body; after it come a colon, blanks, the value, blanks and the line end. */
function framingAt(parts: readonly string[]): number {
  return parts.findIndex((part) => /^(?:content-length|transfer-encoding)$/i.test(part));
}

/** A position anywhere, near the end (in chunks and trailers), or in the line that frames the body. */
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
    case 6: // a status, a length or the size of a chunk
      if (/^[1-5]\d\d$/.test(part)) parts[at] = random.pick(statuses);
      else parts[at] = /^[\da-f]+$/i.test(part) ? otherNumber(random, part) : part + random.pick(fragments);
      break;
    case 7: // lines can also be doubled or moved
      parts.splice(at, 0, ...parts.slice(other, other + random.between(1, 8)));
      break;
    case 8:
      parts.splice(at, random.between(1, 8));
      break;
    case 9: // within any line; between two lines it would usually become a line of its own
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

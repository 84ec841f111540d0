import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import test from 'ava';
import fc from 'fast-check';
import { AnswerParser, BadAnswer } from './answer-parser.ts';

/** What the parser reported about an answer, and about the bytes after it. */
interface Reported {
  status: number | undefined;
  head: string[];
  body: string;
  ended: boolean;
  isAll: boolean;
  error: unknown;
}

/** Parses bytes that arrive in pieces, split at the given positions. */
function read(bytes: Buffer, cuts: readonly number[] = [], method = 'GET'): Reported {
  const reported: Reported = {
    status: undefined,
    head: [],
    body: '',
    ended: false,
    isAll: true,
    error: undefined,
  };
  const parser = new AnswerParser(
    {
      onHead(status, head) {
        reported.status = status;
        reported.head.push(...head);
      },
      onBody(piece) {
        reported.body += piece.toString('latin1');
      },
      onEnd() {
        reported.ended = true;
      },
    },
    method,
  );
  try {
    let from = 0;
    for (const cut of [...cuts, bytes.length].toSorted((a, b) => a - b)) {
      if (cut > from && reported.isAll) reported.isAll = parser.read(Buffer.from(bytes.subarray(from, cut)));
      from = cut;
    }
  } catch (error) {
    if (!(error instanceof BadAnswer)) throw error;
    reported.error = error.message;
  }
  return reported;
}

const answer = (...lines: string[]) => Buffer.from(lines.join('\r\n'), 'latin1');

/** A chunked answer with lines after the last chunk. */
const chunked = (...trailers: string[]) => [
  'HTTP/1.1 200 OK',
  'transfer-encoding: chunked',
  '',
  '1',
  'x',
  '0',
  ...trailers,
  '',
];

const headerName = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,15}$/).map((name) => `X-${name}`);
const headerValue = fc.stringMatching(/^[\x21-\x7e\xa0-\xff](?:[\t\x20-\x7e\xa0-\xff]{0,30}[\x21-\x7e])?$/);
interface Given {
  status: number;
  head: [name: string, value: string][];
  body: Uint8Array;
  /** The positions at which it is split into writes. */
  pieces: number[];
  isChunked: boolean;
  method: string;
}

const given: fc.Arbitrary<Given> = fc.record({
  status: fc.constantFrom(200, 201, 204, 304, 400, 404, 503),
  head: fc.array(fc.tuple(headerName, headerValue), { maxLength: 8 }),
  body: fc.uint8Array({ maxLength: 3_000 }),
  pieces: fc.array(fc.nat(3_000), { maxLength: 5 }),
  isChunked: fc.boolean(),
  method: fc.constantFrom('GET', 'HEAD'),
});

/** The bytes as sent by Node's own server, which our services use. */
async function sentByNode(what: Given): Promise<{ bytes: Buffer; body: string }> {
  const hasBody = what.method !== 'HEAD' && what.status !== 204 && what.status !== 304;
  const body = Buffer.from(what.body);
  const server = createServer((_request: IncomingMessage, response: ServerResponse) => {
    for (const [name, value] of what.head) response.appendHeader(name, value);
    if (!what.isChunked && what.status !== 204) response.setHeader('content-length', body.length);
    response.statusCode = what.status;
    let from = 0;
    for (const to of what.pieces.toSorted((a, b) => a - b)) {
      if (to > from && from < body.length) response.write(body.subarray(from, to));
      from = Math.max(from, Math.min(to, body.length));
    }
    response.end(body.subarray(from));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(`${what.method} / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  await once(socket, 'close');
  server.close();
  return { bytes: Buffer.concat(chunks), body: hasBody ? body.toString('latin1') : '' };
}

test('whatever Node’s server sends is parsed correctly, however the bytes are split', async (t) => {
  await fc.assert(
    fc.asyncProperty(given, fc.array(fc.nat(4_000), { maxLength: 12 }), async (what, cuts) => {
      const { bytes, body } = await sentByNode(what);
      const inBounds = cuts.filter((cut) => cut < bytes.length);
      const reported = read(bytes, inBounds, what.method);
      t.is(reported.error, undefined);
      t.is(reported.status, what.status);
      t.is(reported.body, body);
      t.true(reported.ended && reported.isAll);
      const wanted = what.head.map(([name, value]) => [name.toLowerCase(), value].join());
      const pairs = reported.head.flatMap((name, i) =>
        i % 2 === 0 ? [`${name},${reported.head[i + 1]}`] : [],
      );
      t.deepEqual(pairs.filter((pair) => pair.startsWith('x-')).toSorted(), wanted.toSorted());
      t.deepEqual(reported, read(bytes, [], what.method));
    }),
    { numRuns: 150 },
  );
});

test('a truncated answer is never accepted as complete, wherever it is cut', (t) => {
  for (const bytes of [
    answer('HTTP/1.1 200 OK', 'content-length: 5', '', 'whole'),
    answer('HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', '3', 'abc', '2', 'de', '0', '', ''),
    answer('HTTP/1.1 103 Early Hints', '', 'HTTP/1.1 200 OK', 'content-length: 1', '', 'x'),
  ]) {
    for (let length = 0; length < bytes.length; length += 1) {
      const reported = read(bytes.subarray(0, length));
      t.false(reported.ended, bytes.toString('latin1', 0, length));
      t.is(reported.error, undefined);
    }
    t.true(read(bytes).ended);
  }
});

test('trailers are dropped, however the bytes are split', (t) => {
  const bytes = answer(...chunked('x-sum: 1', 'X-Empty:', 'x-text: \ta \xe9\t'), '');
  for (let cut = 0; cut < bytes.length; cut += 1) {
    const reported = read(bytes, [cut]);
    t.is(reported.error, undefined);
    t.deepEqual(reported.head, ['transfer-encoding', 'chunked']);
    t.is(reported.body, 'x');
    t.true(reported.ended && reported.isAll);
  }
});

test('the longest head and the longest trailers are accepted, longer ones are not, however the bytes are split', (t) => {
  const lengthMax = 64 * 1024;
  const padded = (text: string, length: number) => text + 'a'.repeat(length - text.length);
  const ofLength = (length: number) => [
    answer(padded('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx: ', length), '', ''),
    answer(...chunked(padded('x: ', length)), ''),
    answer(...chunked('x: a', padded('x: ', length - 6)), ''),
  ];
  for (const isLonger of [false, true]) {
    for (const bytes of ofLength(lengthMax + Number(isLonger))) {
      for (const left of [0, 1, 2, 3, 4]) {
        const reported = read(bytes, [bytes.length - left]);
        t.is(reported.ended, !isLonger);
        t.is(reported.error !== undefined, isLonger);
      }
    }
  }
});

test('surplus bytes after an answer are reported, wherever they begin', (t) => {
  for (const before of [
    ['HTTP/1.1 200 OK', 'content-length: 1', '', 'x'],
    ['HTTP/1.1 204 No Content', '', ''],
    ['HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', '1', 'x', '0', '', ''],
  ]) {
    const bytes = answer(...before);
    const longer = Buffer.concat([bytes, Buffer.from('HTTP/1.1 200 OK\r\n')]);
    for (let cut = 1; cut < longer.length; cut += 1) {
      const reported = read(longer, [cut]);
      t.true(reported.ended);
      t.false(reported.isAll, String(cut));
    }
  }
});

const unclear: Record<string, readonly string[]> = {
  'two lengths': ['HTTP/1.1 200 OK', 'content-length: 1', 'content-length: 1', '', 'x'],
  'a list of lengths': ['HTTP/1.1 200 OK', 'content-length: 1, 1', '', 'x'],
  'a signed length': ['HTTP/1.1 200 OK', 'content-length: +1', '', 'x'],
  'a length too large for a number': ['HTTP/1.1 200 OK', `content-length: ${'9'.repeat(20)}`, '', 'x'],
  'a length beside chunks': [
    'HTTP/1.1 200 OK',
    'content-length: 1',
    'transfer-encoding: chunked',
    '',
    '0',
    '',
    '',
  ],
  'an encoding within chunks': ['HTTP/1.1 200 OK', 'transfer-encoding: gzip, chunked', '', '0', '', ''],
  'two encodings': [
    'HTTP/1.1 200 OK',
    'transfer-encoding: chunked',
    'transfer-encoding: chunked',
    '',
    '0',
    '',
    '',
  ],
  'no end of its own': ['HTTP/1.1 200 OK', 'connection: close', '', 'x'],
  'a folded line': ['HTTP/1.1 200 OK', 'x: a', ' b', 'content-length: 0', '', ''],
  'a bare line feed': ['HTTP/1.1 200 OK', 'x: a\ncontent-length: 0', 'content-length: 1', '', 'x'],
  'a bare carriage return': ['HTTP/1.1 200 OK', 'x: a\rcontent-length: 0', 'content-length: 1', '', 'x'],
  'a NUL': ['HTTP/1.1 200 OK', 'x: a\0', 'content-length: 0', '', ''],
  'a space before the colon': ['HTTP/1.1 200 OK', 'content-length : 0', '', ''],
  'a line without a name': ['HTTP/1.1 200 OK', ': a', 'content-length: 0', '', ''],
  'another version': ['HTTP/1.0 200 OK', 'content-length: 0', '', ''],
  'a status of two digits': ['HTTP/1.1 20 OK', 'content-length: 0', '', ''],
  'another protocol': ['HTTP/1.1 101 Switching Protocols', 'upgrade: x', '', ''],
  'interim answers without an end': Array.from({ length: 9 }, () => ['HTTP/1.1 103 Early Hints', '']).flat(),
  'a chunk of no number': ['HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', 'zz', ''],
  'a chunk with a minus': ['HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', '-1', ''],
  'a chunk length too large for a number': [
    'HTTP/1.1 200 OK',
    'transfer-encoding: chunked',
    '',
    'f'.repeat(16),
    '',
  ],
  'a chunk that is longer': ['HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', '1', 'xy', ''],
  'a tab after the encoding': ['HTTP/1.1 200 OK', 'transfer-encoding: chunked\t', '', '0', '', ''],
  'a tab and a space after the encoding': [
    'HTTP/1.1 200 OK',
    'transfer-encoding: chunked\t ',
    '',
    '0',
    '',
    '',
  ],
  'a status without a blank after it': ['HTTP/1.1 204', '', ''],
  'chunks, but no content': ['HTTP/1.1 204 No Content', 'transfer-encoding: chunked', '', '0', '', ''],
  'a length, but no content': ['HTTP/1.1 204 No Content', 'content-length: 1', '', 'x'],
  'a length of its interim answer': [
    'HTTP/1.1 103 Early Hints',
    'content-length: 1',
    '',
    'HTTP/1.1 200 OK',
    'content-length: 0',
    '',
    '',
  ],
  'chunks of its interim answer': [
    'HTTP/1.1 103 Early Hints',
    'transfer-encoding: chunked',
    '',
    'HTTP/1.1 200 OK',
    'content-length: 0',
    '',
    '',
  ],
  'a last interim answer': [
    'HTTP/1.1 103 Early Hints',
    'connection: close',
    '',
    'HTTP/1.1 200 OK',
    'content-length: 0',
    '',
    '',
  ],
  'an interim answer that is last for a proxy': [
    'HTTP/1.1 103 Early Hints',
    'proxy-connection: close',
    '',
    'HTTP/1.1 200 OK',
    'content-length: 0',
    '',
    '',
  ],
  'another answer in the place of its trailers': chunked('HTTP/1.1 200 OK', 'content-length: 0'),
  'bytes that are no trailers': chunked('garbage'),
  'a trailer without a name': chunked(': a'),
  'a blank in the name of a trailer': chunked('x : a'),
  'a NUL in a trailer': chunked('x: a\0'),
  'a bare line feed in a trailer': chunked('x: a\ny: b'),
  'a bare carriage return in a trailer': chunked('x: a\ry: b'),
  'a carriage return at the end of a trailer': chunked('x: a\r'),
  'a folded trailer': chunked('x: a', ' b'),
  'a length in its trailers': chunked('content-length: 0'),
  'an encoding in its trailers': chunked('transfer-encoding: chunked'),
  'a last word on its connection in its trailers': chunked('connection: close'),
  'a long trailer': chunked(`x: ${'a'.repeat(70_000)}`),
  'endless trailers': chunked(...Array.from({ length: 9_000 }, () => 'x: abcde')),
  'an endless head': ['HTTP/1.1 200 OK', `x: ${'a'.repeat(70_000)}`],
};

for (const [name, lines] of Object.entries(unclear)) {
  test(`an answer with ${name} is refused, in whichever pieces it comes`, (t) => {
    const bytes = answer(...lines, '');
    t.is(typeof read(bytes).error, 'string');
    for (let cut = 1; cut < Math.min(bytes.length, 300); cut += 1) {
      const reported = read(bytes, [cut]);
      t.is(typeof reported.error, 'string', `cut at ${cut}`);
      t.false(reported.ended);
    }
  });
}

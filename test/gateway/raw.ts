// Raw bytes on a socket, for requests that no HTTP client would send.
import { connect, type Socket } from 'node:net';
import { within } from '../run/until.ts';

export interface RawAnswer {
  status: number;
  headers: string;
  body: string;
}

/** Opens a connection to a server. */
export function openSocket(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname);
}

/** Sends the bytes and waits until the server closes. @returns every answer, in order. */
export async function exchange(url: string, bytes: string): Promise<RawAnswer[]> {
  const socket = openSocket(url);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const closed = new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('close', resolve);
    socket.write(bytes, 'latin1'); // not ended, as Node abandons calls of a client that has closed its half
  });
  await within('the server closes the connection', closed);
  return parseAnswers(Buffer.concat(chunks).toString('latin1'));
}

/** A request made of its lines, followed by an empty line. */
export function lines(...text: string[]): string {
  return `${text.join('\r\n')}\r\n\r\n`;
}

export function parseAnswers(text: string): RawAnswer[] {
  return text
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter((part) => part !== '')
    .map((part) => {
      const end = part.indexOf('\r\n\r\n');
      return { status: Number(part.slice(9, 12)), headers: part.slice(0, end), body: part.slice(end + 4) };
    });
}

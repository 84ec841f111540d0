// Refuses requests whose framing two servers could read differently, which would allow request smuggling. Node's parser has already refused
// conflicting lengths, repeated lengths and folded headers.
import { z } from 'zod';
import { fail } from '../../kernel/errors.ts';
import { bodyBytesMax } from '../../kernel/bodies/service-bodies.ts';
import { tooLong } from '../bodies/read-body.ts';
import { callOf } from '../call.ts';
import type { Policy } from '../policy.ts';

const bodyless = ['GET', 'HEAD', 'DELETE', 'OPTIONS'];
// Names as used by DNS and container networks, without the other characters that RFC 3986 allows. IPv6 is in brackets.
const wellFormedHost = /^(?:[a-z0-9_][a-z0-9._-]*|\[[0-9a-f:.]+\])(?::\d{0,5})?$/i;
// After an unread body, the next bytes on the connection may not be a request.
const close = { connection: 'close' };

export const framingAction = z.union([
  z.strictObject({
    /** The longest accepted body, in KB. */
    bodyKb: z
      .int()
      .min(1)
      .max(4096)
      .default(bodyBytesMax / 1024),
  }),
  /** A file, limited by UPLOAD_MB. */
  z.strictObject({ body: z.literal('upload') }),
]);

/** @param uploadMb the longest accepted file, in MiB. */
export function framing(action: z.output<typeof framingAction>, uploadMb: number): Policy {
  const isUpload = 'body' in action;
  const bytesMax = isUpload ? uploadMb * 1024 * 1024 : action.bodyKb * 1024;
  return (request, _response, next) => {
    const method = request.method ?? '';
    const encoding = request.headers['transfer-encoding'];
    const length = request.headers['content-length'];
    const { httpVersion } = request;
    // HTTP/1.0 has no chunked encoding, and other versions have no framing at all.
    if (httpVersion !== '1.1' && (httpVersion !== '1.0' || encoding !== undefined))
      refuse('The request is not valid HTTP/1.1.');
    const hosts = hostsOf(request.rawHeaders);
    if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) refuse('Exactly one Host header is required.');
    if (hosts === 1 && !wellFormedHost.test(request.headers.host ?? ''))
      refuse('The Host header must be a host name or an IP address, with or without a port.');
    if (bodyless.includes(method) && (encoding !== undefined || Number(length ?? 0) !== 0))
      refuse(`A ${method} request must not have a body.`);
    if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
      refuse('Only Transfer-Encoding: chunked is supported.');
    const call = callOf(request);
    call.isUpload = isUpload && request.method === 'POST';
    call.bodyBytesMax = bytesMax; // bodies without a length are counted while they are read
    // A client that is still sending a file must be able to read the error: Node reads the rest, if it arrives in time, before the next request.
    if (Number(length ?? 0) > bytesMax) throw tooLong(call, isUpload ? {} : close);
    next();
  };
}

function refuse(message: string): never {
  fail('invalid_request', message, { headers: close });
}

function hostsOf(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts;
}

// The client of a request, for the list of sessions, the audit log and the throttle.
import type { Request } from 'express';

export interface ClientInfo {
  /** The client's IP address, as the gateway found it. */
  ip: string;
  userAgent: string;
}

/** @param request as the gateway forwards it: its X-Forwarded-For holds the client's IP address and nothing else. */
export function clientInfoOf(request: Request): ClientInfo {
  return {
    ip: printable(request.get('x-forwarded-for') ?? request.socket.remoteAddress ?? '', 64),
    userAgent: printable(request.get('user-agent') ?? '', 256),
  };
}

/** Text of a client that is stored and shown: short, and nothing in it that a terminal or a log would obey. */
function printable(text: string, lengthMax: number): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '?').slice(0, lengthMax);
}

// The client of a request, for the list of sessions, the audit log and the throttle.
import type { Request } from 'express';

export interface ClientInfo {
  /** The client's IP address, as the gateway determined it. */
  ip: string;
  userAgent: string;
}

/** @param request from the gateway, whose X-Forwarded-For contains only the client's IP address. */
export function clientInfoOf(request: Request): ClientInfo {
  return {
    ip: printable(request.get('x-forwarded-for') ?? request.socket.remoteAddress ?? '', 64),
    userAgent: printable(request.get('user-agent') ?? '', 256),
  };
}

/** Makes client text safe to store and show: shortened, without control characters that a terminal or a log would interpret. */
function printable(text: string, lengthMax: number): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '?').slice(0, lengthMax);
}

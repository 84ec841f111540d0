// The two shapes of an answer: one thing, or a list of things. Answers about an account are never cached.
import type { Response } from 'express';
import { sendJson } from '../kernel/http/server.ts';

/** Answers `{"success":true,"data":{…}}`. */
export function sendOne(response: Response, status: number, data: object): void {
  response.set('cache-control', 'no-store');
  sendJson(response, status, { success: true, data });
}

/** Answers the list envelope. @param nextCursor null where this is the last page. */
export function sendList(response: Response, data: readonly object[], nextCursor: string | null): void {
  if (response.get('cache-control') === undefined) response.set('cache-control', 'no-store');
  sendJson(response, 200, {
    success: true,
    data,
    count: data.length,
    pagination: { next_cursor: nextCursor, count: data.length },
  });
}

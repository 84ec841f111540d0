// Which calls are billed.
import type { ServerResponse } from 'node:http';

/** Whether the client received a complete 2xx or 304; only such a call is billed. */
export function isServed({ writableFinished, statusCode }: ServerResponse): boolean {
  return writableFinished && ((statusCode >= 200 && statusCode < 300) || statusCode === 304);
}

// The error for a body that is too long.
import { Failure } from '../../kernel/errors.ts';
import type { Call } from '../call.ts';

const mb = 1024 * 1024;

/** The body is longer than the call allows. */
export function tooLong({ bodyBytesMax: bytes }: Call, headers: Record<string, string>): Failure {
  const limit = bytes % mb === 0 ? `${bytes / mb} MB` : `${bytes / 1024} KB`;
  return new Failure('payload_too_large', `The body must be at most ${limit}.`, { headers });
}

// Who may call an operator endpoint. The gateway already refuses everyone else; the services check again, so that a wrong pipeline exposes nothing.
import { fail, type ErrorCode } from '../errors.ts';
import type { ServiceCall } from './server.ts';

/**
 * The errors of an operator endpoint for everyone else. The gateway adds `reauthentication_required` for an old sign-in, and `forbidden` for an
 * operator without the required second factor.
 */
export const operatorErrors = [
  'unauthorized',
  'reauthentication_required',
  'forbidden',
  'not_found',
] as const satisfies readonly ErrorCode[];

/**
 * The operator's own account.
 * @throws Failure `not_found` unless the call has a fresh session of an operator, so that nobody else learns that the endpoint exists.
 */
export function operatorAccountOf({ identity: { accountId, sessionId, operator } }: ServiceCall): string {
  if (accountId === null || sessionId === null || !operator)
    fail('not_found', 'No endpoint exists at this path.');
  return accountId;
}

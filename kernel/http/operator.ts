// Who calls an endpoint of operators. The gateway lets nobody else through; the services check it again, so that a wrong pipeline opens
// nothing.
import { fail, type ErrorCode } from '../errors.ts';
import type { ServiceCall } from './server.ts';

/**
 * What an endpoint of operators answers to everybody else; the gateway adds `reauthentication_required` for an older sign-in, and `forbidden`
 * for an operator without the second factor that the installation requires.
 */
export const operatorErrors = [
  'unauthorized',
  'reauthentication_required',
  'forbidden',
  'not_found',
] as const satisfies readonly ErrorCode[];

/**
 * The operator's own account.
 * @throws Failure `not_found` unless the call is made with a fresh session of an operator: nobody else is told that somebody may.
 */
export function operatorAccountOf({ identity: { accountId, sessionId, operator } }: ServiceCall): string {
  if (accountId === null || sessionId === null || !operator)
    fail('not_found', 'No endpoint exists at this path.');
  return accountId;
}

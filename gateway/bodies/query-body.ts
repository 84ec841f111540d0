// Reads the JSON body of a read before the call is charged: the body determines how many calls it counts as. Only JSON in UTF-8 is forwarded, so that
// the service reads the body as the gateway did and cannot serve more than was charged.
import { fail } from '../../kernel/errors.ts';
import type { ByteBudget } from '../../kernel/bodies/byte-budget.ts';
import { callOf } from '../call.ts';
import type { Policy } from '../policy.ts';
import { readBody } from './read-body.ts';

const jsonType = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?$/i;

/** @param bodies the memory budget of all client bodies. */
export function queryBody(bodies: ByteBudget): Policy {
  return async (request, response, next) => {
    const call = callOf(request);
    if (!jsonType.test(request.headers['content-type'] ?? ''))
      fail(
        'unsupported_media_type',
        'The body must be JSON in UTF-8: send Content-Type: application/json.',
        { headers: { connection: 'close' } }, // the body is not read
      );
    const bytes = await readBody(bodies, request, response, call);
    call.body = { bytes, fields: fieldsOf(bytes) };
    next();
  };
}

function fieldsOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    return fail('invalid_body', 'The body is not valid JSON in UTF-8.', { detail: error });
  }
}

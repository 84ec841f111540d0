// /v1/operator/accounts/{id}/keys: lists the keys of an account, masked, and revokes them for an operator.
import { z } from 'zod';
import { memberOf } from '../../kernel/entries.ts';
import { fail } from '../../kernel/errors.ts';
import { endpoint } from '../endpoint.ts';
import { keyPage, keySchema, keysQuery, revokeKey } from '../keys/keys.ts';
import { accountIdParam } from './accounts.ts';

export const listKeysOfAccount = endpoint({
  summary: 'The API keys of an account, masked.',
  description: 'By `status`, active keys come first, then the newest.',
  requester: 'operator',
  params: { id: accountIdParam },
  query: keysQuery,
  rows: keySchema,
  handler: async (deps, { params, query, call }) => {
    const accountId = memberOf(params, 'id');
    const account = await call.stage('sql', () => deps.db.accounts.findByPk(accountId));
    if (account === null) fail('not_found', 'There is no account with this id.');
    return keyPage(deps, accountId, query, call);
  },
});

/** Repeated calls also answer 204, as for the holder. */
export const revokeKeyOfAccount = endpoint({
  summary: 'Revokes an API key of an account; the next call with it is refused.',
  requester: 'operator',
  params: { id: accountIdParam, key: z.string().describe('An id of `/v1/operator/accounts/{id}/keys`.') },
  answers: { 204: null },
  handler: async (deps, { requester: { actor }, params, call }) => {
    const of = { accountId: memberOf(params, 'id'), actor };
    await call.stage('sql', () => revokeKey(deps, of, memberOf(params, 'key')));
    return { status: 204 };
  },
});

// Every address of accounts-api, on one screen.
import type { Route } from '../kernel/http.ts';
import { changeAccount, readAccount } from './account.ts';
import type { Deps } from './database.ts';
import { findCredentials, grantQuota, settleBatch } from './internal.ts';
import { createKey, deleteKey, listKeys } from './keys.ts';
import { listPlans } from './plans.ts';
import { listUsageHistory, readUsage } from './usage.ts';

export function routes(deps: Deps): Route[] {
  return [
    { method: 'GET', path: '/v1/plans', scope: 'client', handler: listPlans(deps) },
    { method: 'GET', path: '/v1/account', scope: 'client', handler: readAccount(deps) },
    { method: 'PATCH', path: '/v1/account', scope: 'client', handler: changeAccount(deps) },
    { method: 'GET', path: '/v1/keys', scope: 'client', handler: listKeys(deps) },
    { method: 'POST', path: '/v1/keys', scope: 'client', handler: createKey(deps) },
    { method: 'DELETE', path: '/v1/keys/:id', scope: 'client', handler: deleteKey(deps) },
    { method: 'GET', path: '/v1/usage', scope: 'client', handler: readUsage(deps) },
    { method: 'GET', path: '/v1/usage/history', scope: 'client', handler: listUsageHistory(deps) },

    { method: 'POST', path: '/internal/credentials', scope: 'internal', handler: findCredentials(deps) },
    { method: 'POST', path: '/internal/quota/take', scope: 'internal', handler: grantQuota(deps) },
    { method: 'POST', path: '/internal/quota/settle', scope: 'internal', handler: settleBatch(deps) },
  ];
}

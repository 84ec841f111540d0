// The account itself: who it is, what it is on, and the fields that its holder may change.
import { z } from 'zod';
import { fail } from '../kernel/errors.ts';
import type { Handler } from '../kernel/http.ts';
import { parseBody, parseQuery } from '../kernel/params.ts';
import type { Plans } from '../kernel/plans.ts';
import { callerOf } from './caller.ts';
import type { Deps } from './database.ts';
import { sendOne } from './envelope.ts';
import { nameField, noParameters } from './fields.ts';
import { countActiveKeys } from './keys.sql.ts';
import { keysMax } from './keys.ts';
import type { Account } from './models/account.ts';
import { planOf } from './plans.ts';

const change = z.strictObject({ name: nameField });

/** GET /v1/account */
export function readAccount(deps: Deps): Handler {
  return async (request, response, call) => {
    const { accountId } = callerOf(call);
    parseQuery(noParameters, request.url);
    const account = await call.stage('sql', () => findAccount(deps, accountId));
    sendOne(response, 200, await call.stage('sql', () => accountRecord(deps, account)));
  };
}

/** PATCH /v1/account {name} */
export function changeAccount(deps: Deps): Handler {
  return async (request, response, call) => {
    const { accountId, actor } = callerOf(call);
    parseQuery(noParameters, request.url);
    const { name } = parseBody(change, request.body);
    const account = await call.stage('sql', () => findAccount(deps, accountId));
    await call.stage('sql', () =>
      deps.db.sequelize.transaction(async (transaction) => {
        await account.update({ name }, { transaction });
        await deps.db.auditEvents.create(
          {
            at: deps.clock.now(),
            accountId,
            ...actor,
            action: 'account.updated',
            subject: accountId,
            detail: { name },
          },
          { transaction },
        );
      }),
    );
    sendOne(response, 200, await call.stage('sql', () => accountRecord(deps, account)));
  };
}

/** What the holder and the operator see of an account. */
export interface AccountRecord {
  id: string;
  email: string;
  name: string | null;
  /** An id of config/plans.yml. */
  plan: string;
  status: 'active' | 'disabled';
  subscription_state: 'none' | 'active' | 'inactive';
  /** ISO instant. */
  created_at: string;
  active_keys: number;
  key_limit: number;
}

/** The account as it is shown. */
export async function accountRecord(deps: Deps, account: Account): Promise<AccountRecord> {
  const activeKeys = await countActiveKeys(deps.db, [account.id], deps.clock.now());
  return toRecord(deps.plans, account, activeKeys.get(account.id) ?? 0);
}

/** @param activeKeys how many of its keys work now. */
export function toRecord(plans: Plans, account: Account, activeKeys: number): AccountRecord {
  return {
    id: account.id,
    email: account.email,
    name: account.name,
    plan: planOf(plans, account.plan).id,
    status: account.status,
    subscription_state: account.subscriptionState,
    created_at: account.createdAt.toISOString(),
    active_keys: activeKeys,
    key_limit: keysMax,
  };
}

/** The account of a caller. @throws Failure `unauthorized` where it is gone: its credential went with it. */
export async function findAccount(deps: Deps, accountId: string): Promise<Account> {
  const account = await deps.db.accounts.findByPk(accountId);
  return account ?? fail('unauthorized', 'The account of this credential no longer exists.');
}

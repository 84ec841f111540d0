// /v1/operator/accounts: lists all accounts of the installation, and changes an account's plan and status. The rules and the audit rows are those of
// the commands, with the operator as the actor.
import { z } from 'zod';
import { instantText, utcMonth } from '../../kernel/clock.ts';
import { memberOf } from '../../kernel/entries.ts';
import { fail } from '../../kernel/errors.ts';
import type { CursorContent } from '../../kernel/http/cursor.ts';
import { listParams } from '../../kernel/http/list.ts';
import { oneOfParam } from '../../kernel/http/params.ts';
import { planOf } from '../../kernel/plans.ts';
import { accountRecord, accountSchema } from '../account/account.ts';
import type { Deps } from '../database.ts';
import { endpoint } from '../endpoint.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { page } from '../../kernel/http/pages.ts';
import type { Account } from '../models/account.ts';
import { lockAccount, requireCredential } from '../models/find-account.ts';
import { monthSchema, monthUsage } from '../usage/usage.ts';
import { selectAccounts, type ListedAccount } from './accounts.sql.ts';
import { setStatusWithin } from './account-access.ts';
import { setPlanWithin } from './operator.ts';

const rowSchema = accountSchema
  .pick({ id: true, email: true, name: true, plan: true, status: true, role: true, subscription_state: true })
  .extend({
    created_at: z.iso.datetime(),
    active_keys: z.int(),
    used: z.int().describe('Calls of this month (UTC).'),
    limit: z.int().nullable().describe('Calls per month; null: unlimited.'),
  });

/** An account for operators: everything that its holder sees. */
const operatedSchema = accountSchema.extend({ usage: monthSchema });

export const accountIdParam = z.string().describe('An id of `/v1/operator/accounts`.');

export const listAllAccounts = endpoint({
  summary: 'All accounts, with their usage of this month.',
  requester: 'operator',
  query: {
    q: z
      .string()
      .trim()
      .min(1, 'must not be empty')
      .max(254, 'must have at most 254 characters')
      .optional()
      .describe('Part of the e-mail address or of the name, in any case; or an id.'),
    plan: z.string().optional().describe('An id of `/v1/plans`.'),
    status: oneOfParam(['active', 'disabled']).optional().describe('Whether the account is enabled.'),
    role: oneOfParam(['operator']).optional().describe('Only operators.'),
    ...listParams({
      fields: rowSchema.keyof().options,
      sorts: ['created_at', 'email'],
      sort: '-created_at',
    }),
  },
  rows: rowSchema,
  handler: (deps, { query, call }) => {
    const { q = null, plan = null, status = null, role = null } = query;
    const { sort } = query;
    const month = { planIds: planIdsOf(deps), now: deps.clock.now(), month: utcMonth(deps.clock.now()) };
    if (plan !== null) requireKnownPlan(deps, plan, 'invalid_parameter');
    return page(deps.cursors, {
      query,
      of: ['accounts', q, plan, status, role],
      fileName: 'accounts',
      async read(place, limit) {
        const wish = { q, plan, status, role, sort, after: place && positionOf(place), limit };
        const found = await call.stage('sql', () => selectAccounts(deps.db, wish, month));
        return found.map((account) => ({ row: rowOf(deps, account), place: placeOf(account, sort) }));
      },
    });
  },
});

export const readOneAccount = endpoint({
  summary: 'An account, with its usage of this month by key and endpoint.',
  requester: 'operator',
  params: { id: accountIdParam },
  answers: { 200: operatedSchema },
  handler: async (deps, { params, call }) => {
    const account = await call.stage('sql', () => deps.db.accounts.findByPk(memberOf(params, 'id')));
    return one(await call.stage('sql', () => operatedRecord(deps, account ?? failUnknown())));
  },
});

export const changeOneAccount = endpoint({
  summary: 'Changes the plan of an account, or disables or enables it.',
  description:
    'Takes effect on the next call. Both changes are made, or none. A disabled account cannot be signed in to, and its keys are refused; its sessions end permanently, its keys work again once it is enabled.',
  requester: 'operator',
  params: { id: accountIdParam },
  body: z
    .strictObject({
      plan: z.string({ error: 'must be the id of a plan' }).optional().describe('An id of `/v1/plans`.'),
      status: z.enum(['active', 'disabled'], { error: 'must be active or disabled' }).optional(),
    })
    .refine(({ plan, status }) => plan !== undefined || status !== undefined, 'must have "plan" or "status"'),
  answers: { 200: operatedSchema },
  errors: ['conflict'],
  handler: async (deps, { requester, body: { plan, status }, params, call }) => {
    if (plan !== undefined) requireKnownPlan(deps, plan, 'invalid_body');
    const { actor } = requester;
    const changed = await call.stage('sql', () =>
      deps.db.inTransaction(async (transaction) => {
        const account = await lockAccount(deps, transaction, memberOf(params, 'id'));
        await requireCredential(deps, transaction, requester);
        if (account === null) failUnknown();
        // Otherwise one stolen session could lock out the operators who would end it.
        if (status === 'disabled' && account.role === 'operator')
          fail('conflict', 'The account belongs to an operator. Revoke the role on the command line first.');
        if (plan !== undefined) await setPlanWithin(deps, transaction, account, { plan, actor });
        if (status !== undefined) await setStatusWithin(deps, transaction, account, { status, actor });
        return account;
      }),
    );
    return one(await call.stage('sql', () => operatedRecord(deps, changed)));
  },
});

async function operatedRecord(deps: Deps, account: Account): Promise<z.output<typeof operatedSchema>> {
  return { ...(await accountRecord(deps, account)), usage: await monthUsage(deps, account) };
}

function rowOf(
  deps: Deps,
  { created_at: createdAt, plan, ...account }: ListedAccount,
): z.output<typeof rowSchema> {
  const { id, calls_month: limit } = planOf(deps.plans, plan);
  return { ...account, plan: id, created_at: instantText(createdAt), limit };
}

function placeOf({ created_at: createdAt, email, id }: ListedAccount, sort: string): CursorContent {
  return [sort.endsWith('email') ? email.toLowerCase() : createdAt.toISOString(), id];
}

/** Parses a cursor into the end of the previous page. */
function positionOf([at, id]: CursorContent): { at: string; id: string } {
  return { at: String(at), id: String(id) };
}

/** The plans of the file. */
export function planIdsOf({ plans }: Deps): string[] {
  return plans.all.map((plan) => plan.id);
}

function requireKnownPlan(deps: Deps, plan: string, code: 'invalid_parameter' | 'invalid_body'): void {
  const known = planIdsOf(deps);
  if (!known.includes(plan)) fail(code, `"plan" must be one of ${known.join(', ')}.`, { param: 'plan' });
}

function failUnknown(): never {
  fail('not_found', 'There is no account with this id.');
}

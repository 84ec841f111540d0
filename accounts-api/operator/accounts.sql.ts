// The statements about all accounts of the installation, for operators.
import type { Queryable } from '../../kernel/database.ts';
import type { AccountsDatabase } from '../database.ts';

/** An account in the list of all accounts. */
export interface ListedAccount {
  id: string;
  email: string;
  name: string | null;
  /** The id of an existing plan. */
  plan: string;
  status: 'active' | 'disabled';
  role: 'operator' | null;
  subscription_state: 'none' | 'active' | 'inactive';
  created_at: Date;
  active_keys: number;
  /** The served calls of the month, as far as gateways have reported them. */
  used: number;
}

export interface AccountsPage {
  /** Part of the e-mail address or of the name, case-insensitive, or the whole id. */
  q: string | null;
  plan: string | null;
  status: string | null;
  role: string | null;
  /** `created_at` or `email`; descending if it begins with `-`. */
  sort: string;
  /** The end of the previous page: the sort value (instant or address) and the id. */
  after: { at: string; id: string } | null;
  limit: number;
}

// Accounts whose plan was removed from the file have the free plan.
const planNow = `case when account.plan = any($1::text[]) then account.plan else 'free' end`;

/** A page of all accounts. @param planIds those of the file. @param month `YYYY-MM-01`. */
export function selectAccounts(
  db: AccountsDatabase,
  { q, plan, status, role, sort, after, limit }: AccountsPage,
  { planIds, now, month }: { planIds: readonly string[]; now: Date; month: string },
): Promise<ListedAccount[]> {
  const [behind, direction] = sort.startsWith('-') ? ['<', 'desc'] : ['>', 'asc'];
  const [by, type] = sort.endsWith('email')
    ? ['lower(account.email)', 'text']
    : ['account.created_at', 'timestamptz'];
  return db.read(
    `select account.id, account.email, account.name, ${planNow} as plan, account.status, account.role,
            account.subscription_state, account.created_at,
            (select count(*)::int from accounts.api_keys as key
             where key.account_id = account.id and key.revoked_at is null
               and (key.expires_at is null or key.expires_at > $2)) as active_keys,
            coalesce((select month.used from accounts.quota_months as month
                      where month.account_id = account.id and month.month = $3), 0)::float8 as used
     from accounts.accounts as account
     where ($4::text is null or account.id = $4 or position(lower($4) in lower(account.email)) > 0
            or position(lower($4) in lower(coalesce(account.name, ''))) > 0)
       and ($5::text is null or ${planNow} = $5)
       and ($6::text is null or account.status = $6)
       and ($7::text is null or account.role = $7)
       and ($8::${type} is null or (${by}, account.id) ${behind} ($8::${type}, $9))
     order by ${by} ${direction}, account.id ${direction}
     limit $10`,
    {
      bind: [planIds, now, month, q, plan, status, role, after?.at ?? null, after?.id ?? null, limit],
    },
  );
}

/** The number of accounts per plan; plans without accounts are not in the map. @param planIds those of the file. */
export async function countAccountsByPlan(
  db: AccountsDatabase,
  planIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db.read<{ plan: string; accounts: number }>(
    `select ${planNow} as plan, count(*)::int as accounts from accounts.accounts as account group by 1`,
    { bind: [planIds] },
  );
  return new Map(rows.map(({ plan, accounts }) => [plan, accounts]));
}

/** Whether any account exists, read by the owner of the database. */
export async function hasAccounts(on: Queryable): Promise<boolean> {
  const [row] = await on.query<{ has: boolean }>('select exists (select from accounts.accounts) as has');
  return row?.has === true;
}

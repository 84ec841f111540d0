// Which accounts receive webhooks: those that are active and whose plan has them.

/** The plans that have webhooks. */
export interface PlansWithWebhooks {
  having: readonly string[];
  /** All plan ids; an account with any other plan has the free plan. */
  known: readonly string[];
  freeHas: boolean;
}

/** SQL: whether anything is sent to the account in `account`. Uses three binds from `$first` on: two arrays and a boolean. */
export function entitledSql(first: number): string {
  return `account.status = 'active'
    and (account.plan = any($${first}::text[]) or ($${first + 2} and account.plan <> all($${first + 1}::text[])))`;
}

export const entitledBinds = ({ having, known, freeHas }: PlansWithWebhooks) => [having, known, freeHas];

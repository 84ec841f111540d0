// The triggers of schema accounts, as cases.
import type { Bench, TriggerCase } from '../bench.ts';

const at = '2026-11-20T10:00:00Z';

async function accountWithKeys(db: Bench): Promise<void> {
  await db.insert('accounts.accounts');
  await db.insert('accounts.api_keys');
  const revoked = { id: `key_${'b'.repeat(20)}`, hash: '1'.repeat(64), slot: null, revoked_at: at };
  await db.insert('accounts.api_keys', revoked);
}
/** The accounts that are numbered as changed by each of the statements, at the commit. */
async function after(db: Bench, statements: readonly string[]): Promise<unknown[]> {
  await accountWithKeys(db);
  const seen: unknown[] = [];
  for (const statement of statements) {
    await db.run('delete from accounts.changes');
    await db.run('set constraints all deferred');
    await db.run(statement);
    const before = await db.values('select no from accounts.changes');
    await db.run('set constraints all immediate');
    const counted = 'no = (select no from accounts.change_counter)';
    seen.push([before, await db.values(`select account_id, ${counted} from accounts.changes order by no`)]);
  }
  return seen;
}
const numbered = [[], [[`acct_${'a'.repeat(20)}`, true]]];
const nothing = [[], []];

export const accountsTriggers: readonly TriggerCase[] = [
  {
    trigger: 'accounts.accounts.accounts_changed',
    seen: (db) =>
      after(db, [
        `update accounts.accounts set plan = 'pro'`,
        `update accounts.accounts set status = 'disabled'`,
        `update accounts.accounts set subscription_state = 'inactive'`,
        `update accounts.accounts set subscription_state = 'active'`,
        `update accounts.accounts set name = 'N', mails_usage = false, plan = 'pro'`,
      ]),
    expected: [numbered, numbered, numbered, numbered, nothing], // the last is nothing that a gateway must know of
  },
  {
    trigger: 'accounts.api_keys.api_keys_changed',
    seen: (db) =>
      after(db, [
        `update accounts.api_keys set last_used_at = '${at}', name = 'N'`,
        `update accounts.api_keys set expires_at = created_at + interval '1 day' where slot = 1`,
        `update accounts.api_keys set previous_hash = repeat('9', 64), previous_mask = '', previous_until = '${at}' where slot = 1`,
        `update accounts.api_keys set previous_until = previous_until + interval '1 day' where slot = 1`,
        `update accounts.api_keys set hash = repeat('8', 64) where slot = 1`,
        `update accounts.api_keys set scopes = '{data}' where slot = 1`,
        `update accounts.api_keys set addresses = '{192.0.2.1}' where slot = 1`,
        `update accounts.api_keys set as_of = '2020-01-01' where slot = 1`,
        `update accounts.api_keys set revoked_at = '${at}', slot = null where slot = 1`,
      ]),
    expected: [nothing, ...Array.from({ length: 8 }, () => numbered)],
  },
  {
    trigger: 'accounts.api_keys.api_keys_deleted',
    seen: (db) => after(db, [`delete from accounts.api_keys where slot = 1`]),
    expected: [numbered],
  },
  {
    trigger: 'accounts.audit_events.audit_events_append_only',
    async seen(db) {
      await db.insert('accounts.audit_events');
      const results: string[] = [];
      for (const statement of [
        'update accounts.audit_events set subject = $$x$$',
        'delete from accounts.audit_events',
      ]) {
        await db.run('savepoint tried');
        results.push(await db.run(statement).then(() => 'done', String));
        await db.run('rollback to tried');
      }
      return results;
    },
    expected: Array(2).fill('error: audit_events only takes new rows'),
  },
];

// The triggers of schema accounts, as cases.
import type { Bench, TriggerCase } from '../bench.ts';

const at = '2026-11-20T10:00:00Z';

async function accountWithKeys(db: Bench): Promise<void> {
  await db.insert('accounts.accounts');
  await db.insert('accounts.api_keys');
  const revoked = { id: `key_${'b'.repeat(20)}`, hash: '1'.repeat(64), slot: null, revoked_at: at };
  await db.insert('accounts.api_keys', revoked);
}
const noted = (db: Bench) => db.values('select hash from accounts.changed_credentials order by change_no');
const revisions = (db: Bench, table: string) =>
  db.values(`select revision from accounts.${table} order by 1`);
const active = '0'.repeat(64);

/** What is noted, and the revision, after each of the statements. */
async function after(db: Bench, table: string, statements: readonly string[]): Promise<unknown[]> {
  await accountWithKeys(db);
  const seen: unknown[] = [];
  for (const statement of statements) {
    await db.run('delete from accounts.changed_credentials');
    await db.run(statement);
    seen.push([await noted(db), ...(await revisions(db, table))]);
  }
  return seen;
}

export const accountsTriggers: readonly TriggerCase[] = [
  {
    trigger: 'accounts.accounts.accounts_changed',
    seen: (db) =>
      after(db, 'accounts', [
        `update accounts.accounts set plan = 'pro'`,
        `update accounts.accounts set status = 'disabled'`,
        `update accounts.accounts set subscription_state = 'inactive'`,
        `update accounts.accounts set subscription_state = 'active'`,
        `update accounts.accounts set name = 'N', mails_usage = false, plan = 'pro'`,
      ]),
    expected: [
      [[active], '1'],
      [[active], '2'],
      [[active], '3'],
      [[active], '4'],
      [[], '4'], // nothing that a gateway must know of
    ],
  },
  {
    trigger: 'accounts.api_keys.api_keys_changed',
    seen: (db) =>
      after(db, 'api_keys', [
        `update accounts.api_keys set last_used_at = '${at}', name = 'N'`,
        `update accounts.api_keys set expires_at = created_at + interval '1 day' where slot = 1`,
        `update accounts.api_keys set revoked_at = '${at}', slot = null where slot = 1`,
      ]),
    expected: [
      [[], '0', '0'],
      [[active], '0', '1'],
      [[active], '0', '2'],
    ],
  },
  {
    trigger: 'accounts.api_keys.api_keys_deleted',
    seen: (db) => after(db, 'api_keys', ['delete from accounts.accounts']),
    expected: [[[active, '1'.repeat(64)]]],
  },
  {
    trigger: 'accounts.audit_events.audit_events_append_only',
    async seen(db) {
      await db.insert('accounts.audit_events');
      const said: string[] = [];
      for (const statement of [
        'update accounts.audit_events set subject = $$x$$',
        'delete from accounts.audit_events',
      ]) {
        await db.run('savepoint tried');
        said.push(await db.run(statement).then(() => 'done', String));
        await db.run('rollback to tried');
      }
      return said;
    },
    expected: Array(2).fill('error: audit_events only takes new rows'),
  },
];

// Shared by the cases of schema accounts: two accounts, ids, hashes.
import { hex, type Row } from './tables.ts';

export const at = '2026-11-20T10:00:00+00:00';
export const later = '2026-11-20T10:00:01+00:00';
export const [one, two] = [`acct_${'a'.repeat(20)}`, `acct_${'b'.repeat(20)}`];
export const argon = '$argon2id$v=19$a';
export const twoAccounts = [
  `insert into accounts.accounts (id, email, plan, created_at)
   values ('${one}', 'one@example.org', 'free', '${at}'), ('${two}', 'two@example.org', 'free', '${at}')`,
];
const noAccount = { account_id: `acct_${'c'.repeat(20)}` };

/** The rows of every table of an account are deleted with it. */
export const ofAccount = (table: string, column = 'account_id', accepted: Row = {}) => ({
  constraint: `${table}_${column}_fkey`,
  refused: { ...accepted, [column]: noAccount.account_id },
  accepted,
  deleteParent: `delete from accounts.accounts where id = '${one}'`,
  outcome: 'the row goes too' as const,
});

/** An id: its prefix, then so many characters of base32. */
export function ids(prefix: string, length: number) {
  return {
    accepted: ['a', 'z', '2', '7'].map((character) => prefix + character.repeat(length)),
    refused: [
      '',
      prefix,
      ...['1', '8', 'A', '-'].map((character) => prefix + character.repeat(length)),
      prefix + 'a'.repeat(length - 1),
      prefix + 'a'.repeat(length + 1),
      ` ${prefix}${'a'.repeat(length)}`,
    ],
  };
}
export const hashes = {
  accepted: [hex('0'), hex('f')],
  refused: ['', hex('g'), hex('F'), hex('0').slice(1), `${hex('0')}0`],
};

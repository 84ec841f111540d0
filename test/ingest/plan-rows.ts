// Counts the rows that the statements of a transaction process, including rows that a plan joins and then discards.
import type { Database, Transaction } from '../../kernel/database.ts';

interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: Node[];
}

export interface Statement {
  /** The maximum number of rows that one node of its plan reads or joins, over all its loops. */
  rows: number;
  node: string;
  text: string;
}

const hasPlan = /^\s*(select|insert|update|delete|with)\b/i;

/** A database whose transactions explain each statement before running it; the statement with the most rows is reported at the end. */
export const explaining = (database: Database, onLargest: (largest: Statement) => void): Database => ({
  ...database,
  transaction: (work) =>
    database.transaction(async (on) => {
      let largest: Statement = { rows: 0, node: '', text: '' };
      const query: Transaction['query'] = async (text, values, name) => {
        if (hasPlan.test(text)) {
          const found = { ...(await explained(on, text, values)), text };
          if (found.rows > largest.rows) largest = found;
        }
        return on.query(text, values, name);
      };
      // As with large tables: PostgreSQL would read a small table completely, once for each row that it is joined with.
      await on.query('set local random_page_cost = 0');
      const result = await work({ client: on.client, query });
      onLargest(largest);
      return result;
    }),
});

type Largest = Omit<Statement, 'text'>;

/** Runs the statement and rolls it back. */
async function explained(on: Transaction, text: string, values?: readonly unknown[]): Promise<Largest> {
  await on.query('savepoint explained');
  const [plan] = await on.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
    `explain (analyze, timing off, format json) ${text}`,
    values,
  );
  await on.query('rollback to savepoint explained');
  if (plan === undefined) throw new Error('a plan has one row');
  return largestIn(plan['QUERY PLAN'][0].Plan);
}

function largestIn(node: Node): Largest {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  const own = {
    rows: (node['Actual Rows'] + removed) * node['Actual Loops'],
    node: `${node['Node Type']} ${node['Relation Name'] ?? ''}`,
  };
  return [own, ...(node.Plans ?? []).map(largestIn)].reduce((a, b) => (b.rows > a.rows ? b : a));
}

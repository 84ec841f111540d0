// The accounts of the bench, each with a key. They are written by SQL, as creating them one by one would take minutes.
import pg from 'pg';
import { connect } from '../../accounts-api/database.ts';
import { newId } from '../../accounts-api/ids.ts';
import { createAccount, createKey } from '../../accounts-api/operator/operator.ts';
import { systemClock } from '../../kernel/clock.ts';
import { hashApiKey, mintApiKey } from '../../kernel/credentials/api-key.ts';
import { loadPlans } from '../../kernel/plans.ts';

/** Creates accounts like those of the service itself. @returns the key of each. */
export async function makeAccounts(databaseUrl: string, plansFile: string, count: number): Promise<string[]> {
  const db = connect(databaseUrl);
  const deps = { db, plans: loadPlans(plansFile), clock: systemClock };
  const first = await createAccount(deps, { email: 'bench@example.org', plan: 'free' });
  const { key } = await createKey(deps, first.id, 'bench');
  await db.close();
  const others = Array.from({ length: count - 1 }, () => {
    const own = mintApiKey();
    return { id: newId('acct'), keyId: newId('key'), key: own, hash: hashApiKey(own) };
  });
  await connected(databaseUrl, (client) =>
    client.query(
      `with other as (select * from json_to_recordset($1::json) as other(id text, key_id text, hash text)),
          account as (
            insert into accounts.accounts
            select (jsonb_populate_record(first, jsonb_build_object('id', other.id, 'email', other.id || '@example.org'))).*
            from accounts.accounts as first, other where first.id = $2
            returning id
          )
     insert into accounts.api_keys
     select (jsonb_populate_record(first, jsonb_build_object('id', other.key_id, 'account_id', other.id, 'hash', other.hash))).*
     from accounts.api_keys as first, other where first.account_id = $2`,
      [JSON.stringify(others.map(({ id, keyId, hash }) => ({ id, key_id: keyId, hash }))), first.id],
    ),
  );
  return [key, ...others.map((other) => other.key)];
}

/** Copies accounts and keys into a database of another version: the columns that both versions have. */
export function copyAccounts(fromUrl: string, toUrl: string): Promise<void> {
  return connected(fromUrl, (from) => connected(toUrl, (to) => copy(from, to)));
}

async function copy(from: pg.Client, to: pg.Client): Promise<void> {
  for (const table of ['accounts', 'api_keys']) {
    const columnsOf = async (client: pg.Client) =>
      (
        await client.query<{ name: string }>(
          `select column_name as name from information_schema.columns
           where table_schema = 'accounts' and table_name = $1 and is_generated = 'NEVER'`,
          [table],
        )
      ).rows.map(({ name }) => name);
    const theirs = new Set(await columnsOf(to));
    const columns = (await columnsOf(from)).filter((name) => theirs.has(name)).join(', ');
    const { rows } = await from.query<{ all: string }>(
      `select json_agg(row_to_json(row))::text as all from (select ${columns} from accounts.${table}) as row`,
    );
    await to.query(
      `insert into accounts.${table} (${columns})
       select ${columns} from json_populate_recordset(null::accounts.${table}, $1::json)`,
      [rows[0]?.all],
    );
  }
}

/** Works on a connection, and closes it even if that fails. */
async function connected<Result>(
  connectionString: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

// Compares the calls that clients saw with the ledger.
import pg from 'pg';
import type { Seen } from './calls.ts';
import type { InjectedFault } from './faults.ts';

export interface Account {
  accountId: string;
  /** Calls that clients saw answered 2xx or 304, whole. */
  served: number;
  /** Of those, the ones that a gateway answered in the moment it was killed, and may not have noted. */
  unrecorded: number;
  /** Calls whose answers were cut off when their gateway was killed. */
  cutOff: number;
  /** The calls in the ledger. */
  billed: number;
  /** The used calls of the month. */
  charged: number;
}

// A gateway records an answer before its event loop continues; a busy machine may pause it between the two.
const recordWithinMs = 50;

/** When a kill of a gateway may have lost a record: from the last turn that was surely recorded until the process had ended. */
export interface LostSpan {
  gateway: string;
  fromMs: number;
  killedMs: number;
  exitedMs: number;
}

export function lostSpans(injectedFaults: readonly InjectedFault[]): LostSpan[] {
  return injectedFaults
    .filter(({ unit, what }) => what === 'killed' && unit.startsWith('gateway'))
    .map(({ unit: gateway, fromMs: killedMs, doneMs: exitedMs }) => ({
      gateway,
      fromMs: killedMs - recordWithinMs,
      killedMs,
      exitedMs,
    }));
}

/** How the ledger may count a call. `unrecorded`: it was served at the moment its gateway was killed; `cut off`: the kill cut its answer off. */
export type CallOutcome = 'served' | 'unrecorded' | 'cut off' | 'not served';

export function outcomeOf(
  { gateway, status, startedAtMs, endedAtMs }: Seen,
  spans: readonly LostSpan[],
): CallOutcome {
  const own = spans.filter((span) => span.gateway === gateway && startedAtMs <= span.exitedMs);
  if (status === null) return own.some(({ killedMs }) => endedAtMs >= killedMs) ? 'cut off' : 'not served';
  if (status >= 300 && status !== 304) return 'not served';
  return own.some(({ fromMs }) => endedAtMs >= fromMs) ? 'unrecorded' : 'served';
}

export async function balance(
  databaseUrl: string,
  seen: readonly Seen[],
  injectedFaults: readonly InjectedFault[],
): Promise<Account[]> {
  const spans = lostSpans(injectedFaults);
  const accounts = new Map<string, Account>();
  for (const one of seen) {
    const { accountId, calls } = one;
    const account = accounts.get(accountId) ?? {
      accountId,
      served: 0,
      unrecorded: 0,
      cutOff: 0,
      billed: 0,
      charged: 0,
    };
    accounts.set(accountId, account);
    const outcome = outcomeOf(one, spans);
    if (outcome === 'cut off') account.cutOff += calls;
    if (outcome === 'served' || outcome === 'unrecorded') account.served += calls;
    if (outcome === 'unrecorded') account.unrecorded += calls;
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ account_id: string; billed: number; charged: number }>(
    `select account_id, sum(used)::int as charged,
            coalesce((select sum(billed) from accounts.usage_daily as usage
                      where usage.account_id = month.account_id), 0)::int as billed
     from accounts.quota_months as month group by account_id`,
  );
  await client.end();
  for (const { account_id, billed, charged } of rows) {
    const account = accounts.get(account_id);
    if (account !== undefined) Object.assign(account, { billed, charged });
  }
  return [...accounts.values()];
}

/** The served calls of an account by group of endpoints, and the last answers before each kill: to find a call that the ledger lacks. */
export async function traceOf(
  databaseUrl: string,
  accountId: string,
  seen: readonly Seen[],
  injectedFaults: readonly InjectedFault[],
): Promise<string[]> {
  const spans = lostSpans(injectedFaults);
  const own = seen.filter((one) => one.accountId === accountId);
  const served = own.filter((one) => ['served', 'unrecorded'].includes(outcomeOf(one, spans)));
  const byGroup = Map.groupBy(served, ({ path }) => /^\/(?:v1\/)?([^/?]+)/.exec(path)?.[1] ?? '');
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{
    endpoint: string;
    status_class: number;
    billed: number;
    calls: number;
  }>(
    `select endpoint, status_class, sum(billed)::int as billed, sum(calls)::int as calls from accounts.usage_daily
     where account_id = $1 group by endpoint, status_class order by endpoint, status_class`,
    [accountId],
  );
  await client.end();
  const before = spans.map(({ gateway, killedMs }) => {
    const last = served
      .filter((one) => one.gateway === gateway && one.endedAtMs < killedMs - recordWithinMs)
      .at(-1);
    return last === undefined
      ? ''
      : `  ${(killedMs - last.endedAtMs).toFixed(0)} ms before a kill of ${gateway}: ${last.status} ${last.path}`;
  });
  return [
    ...[...byGroup].map(
      ([group, those]) => `  served ${group}: ${those.reduce((sum, { calls }) => sum + calls, 0)}`,
    ),
    ...rows.map(
      (row) => `  ledger ${row.endpoint} ${row.status_class}xx: ${row.billed} billed of ${row.calls}`,
    ),
    ...before.filter((line) => line !== ''),
  ];
}

/** @returns the faults of an account, as sentences. */
export function faultsOf({ accountId, served, unrecorded, cutOff, billed, charged }: Account): string[] {
  const faults = [];
  const figures = `${served} served (${unrecorded} of them perhaps lost with a kill), ${cutOff} cut off by a kill, ${billed} billed, ${charged} charged`;
  if (billed < served - unrecorded) faults.push(`${accountId} was billed too little: ${figures}`);
  if (billed > served + cutOff) faults.push(`${accountId} was billed too much: ${figures}`);
  if (charged < served - unrecorded) faults.push(`${accountId} was charged too little: ${figures}`);
  return faults;
}

// Blocks: calls of a month granted in advance to a life of a gateway, so that no failure lets an account exceed its limit. Locks the rows, decides
// with block-rules.ts, and writes the result.
import type { Transaction } from 'sequelize';
import { utcMonth } from '../../kernel/clock.ts';
import { fail } from '../../kernel/errors.ts';
import { planOf } from '../../kernel/plans.ts';
import type { Deps } from '../database.ts';
import type { ServiceDeps } from '../deps.ts';
import {
  deleteBlocks,
  insertBlocks,
  lockBlocks,
  lockMonthsOf,
  lockWanted,
  recall,
  write,
  type MonthKey,
  type MonthRow,
} from './blocks.sql.ts';
import { deleteLives, lockLives, selectUnleased } from './gateways.sql.ts';
import type { Batch, Grant, Want } from '../../kernel/heartbeat/message.ts';
import {
  closeBlock,
  grantedMonths,
  grantOf,
  mayClose,
  outOf,
  applyReport,
  type Block,
} from './block-rules.ts';

/** The grant of an account that may not call. */
export const noGrant: Grant = { granted: 0, elsewhere: 0, out: 0, limit: 0 };

export const keyOf = ({ account_id, month }: MonthKey): string => `${account_id} ${month}`;

/**
 * Adds requested calls to the blocks of a life, as far as the limits allow. @returns grants by the key of the month; `noGrant` applies to the others.
 */
export async function grant(
  deps: Deps,
  life: string,
  gateways: number,
  wants: readonly Want[],
): Promise<Map<string, Grant>> {
  const months = grantedMonths(deps.clock.now());
  const present = wants.filter(({ month }) => months.includes(month));
  const granted = await grantIn(deps, life, gateways, present);
  const missing = present.filter((want) => !granted.has(keyOf(want)));
  if (missing.length === 0) return granted;
  await insertBlocks(deps.db, life, missing);
  return new Map([...granted, ...(await grantIn(deps, life, gateways, missing))]);
}

async function grantIn(
  { db, plans }: Deps,
  life: string,
  gateways: number,
  wants: readonly Want[],
): Promise<Map<string, Grant>> {
  if (wants.length === 0) return new Map();
  const wanted = new Map(wants.map((want) => [keyOf(want), want]));
  return db.inLedgerTransaction(async (transaction) => {
    const rows = await lockWanted(db, transaction, life, wants);
    const decided = rows.map((row) => {
      const limit = planOf(plans, row.plan).calls_month;
      const want = wanted.get(keyOf(row)) ?? { has: 0, calls: 0, ahead: 0 };
      const { added, isToRecall } = grantOf(row, row, { limit, gateways }, want);
      const granted = row.granted + added;
      return { row: { ...row, granted, out: row.out + added }, limit, isChanged: added > 0, isToRecall };
    });
    const changed = decided.filter(({ isChanged }) => isChanged).map(({ row }) => row);
    if (changed.length > 0) await write(db, transaction, changed, changed);
    const lacking = decided.filter(({ isToRecall }) => isToRecall).map(({ row }) => row);
    if (lacking.length > 0) await recall(db, transaction, life, lacking);
    return new Map(decided.map(({ row, limit }) => [keyOf(row), grantAnswer(row, limit)]));
  });
}

function grantAnswer(row: MonthRow & Block, limit: number | null): Grant {
  const { used, out, granted, returned } = row;
  return { granted, elsewhere: used + out - (granted - returned), out: out - outOf(row), limit };
}

/** @throws Failure `unavailable` for a month other than the current one: the gateway's clock, or this one, is wrong, and nothing may be said of the quota. */
export function requirePresentMonth({ clock, log }: ServiceDeps, life: string, wants: readonly Want[]): void {
  const now = clock.now();
  const other = wants.find(({ month }) => !grantedMonths(now).includes(month));
  if (other === undefined) return;
  log.warn(
    { event: 'wrong_month', life, asked: other.month, month: utcMonth(now) },
    'a gateway asks for calls of another month than the current one: synchronise its clock and that of accounts-api',
  );
  fail('unavailable', `Calls of ${other.month} are not granted now: check the clocks.`);
}

/** Counts the calls of blocks that gateways report. @param rows the existing months of the reports, locked. */
export async function addSpent(
  { db, log }: ServiceDeps,
  transaction: Transaction,
  reports: Batch['spent'],
  rows: readonly MonthRow[],
): Promise<void> {
  const ofBlock = (each: MonthKey & { life: string }) => `${keyOf(each)} ${each.life}`;
  const months = new Map(rows.map((row) => [keyOf(row), row]));
  const locked = await lockBlocks(db, transaction, reports);
  const blocks = new Map(locked.map((row) => [ofBlock(row), row]));
  for (const report of reports) {
    const before = months.get(keyOf(report));
    if (before === undefined) continue; // the account was deleted
    const block = blocks.get(ofBlock(report)) ?? null;
    if (block === null || report.calls > outOf(block)) {
      log.warn(
        { event: 'late_calls', ...report },
        'served calls were not part of a block; they are charged now',
      );
    }
    const after = applyReport(before, block, report);
    months.set(keyOf(report), { ...before, ...after.month });
    if (block !== null) blocks.set(ofBlock(report), { ...block, ...after.block });
  }
  await write(db, transaction, [...months.values()], [...blocks.values()]);
}

/** Frees the unused calls of lives that have reported everything. */
export async function endLives({ db }: Deps, lives: readonly string[]): Promise<void> {
  await close(db, lives, false);
}

/**
 * Closes lives that have been silent for long; called periodically. Months that another transaction has locked are left for the next run. @returns
 * the number of lives.
 */
export async function closeLives({ db }: Deps): Promise<number> {
  const lives = await selectUnleased(db);
  return lives.length === 0 ? 0 : close(db, lives, true);
}

/** @param closesOnlySilent whether to close only lives whose lease ended more than `closeAfterMs` ago, and to skip locked rows. */
async function close(db: Deps['db'], asked: readonly string[], closesOnlySilent: boolean): Promise<number> {
  return db.inLedgerTransaction(async (transaction) => {
    const rows = await lockMonthsOf(db, transaction, asked, closesOnlySilent);
    // Locked after the months, to avoid a deadlock: a lease request locks the change counter, then its life, and a transaction that has locked months
    // may wait for the counter.
    const found = await lockLives(db, transaction, asked, closesOnlySilent);
    const lives = found
      .filter((life) => !closesOnlySilent || mayClose(life, life.nowMs))
      .map(({ life }) => life);
    if (lives.length === 0) return 0;
    const months = new Map(rows.map((row) => [keyOf(row), row]));
    for (const block of await deleteBlocks(db, transaction, lives, rows)) {
      const month = months.get(keyOf(block));
      if (month !== undefined) months.set(keyOf(block), { ...month, ...closeBlock(month, block) });
    }
    await write(db, transaction, [...months.values()], []);
    await deleteLives(db, transaction, lives);
    return lives.length;
  });
}

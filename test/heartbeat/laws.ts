// What must hold, whatever happens. Some laws are of a state, some of what was just done.
import { outOf } from '../../accounts-api/heartbeat/block-rules.ts';
import { emptyBlock } from '../../gateway/heartbeat/block-rules.ts';
import type { Rules } from './rules.ts';
import {
  unreported,
  callsIn,
  replaced,
  type BlockRow,
  type Change,
  type Gateway,
  type MonthBlock,
  type World,
} from './world.ts';

/** @returns the law that the state breaks, or null. */
export function brokenLaw(world: World, rules: Rules): string | null {
  if (world.broken !== null) return world.broken;
  for (const [month, { used, out }] of world.months.entries()) {
    const blocks = world.blocks.filter((block) => block.month === month);
    if (out < 0) return 'no calls are owed to a month';
    if (out !== blocks.reduce((sum, block) => sum + outOf(block), 0)) return 'what is out is out with blocks';
    if (servedOrInFlight(world, rules, month) > Math.max(...world.limits) + (world.excess[month] ?? 0))
      return 'at most the limit is served';
    if (used + unrecorded(world, month) !== world.served[month]) return 'what was served is charged once';
  }
  if (world.blocks.some((block) => isOverdrawn(world, block, rules)))
    return 'no call is drawn that was given back';
  if (world.blocks.some(({ life }) => world.rows.every((row) => row.life !== life)))
    return 'what is out comes back when its life is over';
  return world.gateways.some((gateway, index) => isRefusedWrongly(world, gateway, index, rules))
    ? 'a call is refused only if the limit is used'
    : null;
}

function monthBlocksOf({ current: monthBlock, old }: Gateway): readonly MonthBlock[] {
  return monthBlock === null ? old : [monthBlock, ...old];
}

function isOverdrawn(
  { gateways }: World,
  { life, month, granted, returned }: BlockRow,
  rules: Rules,
): boolean {
  return gateways.some(
    (gateway) =>
      rules.mayServe(gateway.life, life) &&
      monthBlocksOf(gateway).some(
        (monthBlock) =>
          monthBlock.life === life &&
          monthBlock.month === month &&
          monthBlock.block.drawn > granted - returned,
      ),
  );
}

/** Calls of a month that were served, or may be. */
function servedOrInFlight(world: World, rules: Rules, month: number): number {
  let sum = world.served[month] ?? 0;
  for (const gateway of world.gateways)
    for (const monthBlock of monthBlocksOf(gateway))
      if (monthBlock.month === month && rules.mayServe(gateway.life, monthBlock.life))
        sum += monthBlock.inFlight;
  return sum;
}

/** Calls served and not charged yet, or never if a crash has destroyed the report. */
function unrecorded(world: World, month: number): number {
  const batches = [...world.gateways.flatMap(unreported), ...world.destroyed];
  return callsIn(
    batches.filter(({ id }) => !world.recorded.includes(id)),
    (report) => report.month === month,
  );
}

/** A call was accepted. */
export function accepted(world: World, { credential }: Gateway): void {
  if (credential === null) return;
  if (world.isRevoked) world.broken = 'no call is accepted after the revocation was answered';
  if (credential < world.answeredPlan)
    world.broken = 'no call is accepted under the old plan after the change was answered';
}

export function served(world: World, month: number): void {
  world.served = replaced(world.served, month, (world.served[month] ?? 0) + 1);
}

/** A call was refused, as nothing can come back. */
export function refused(world: World, month: number): void {
  if ((world.served[month] ?? 0) < Math.min(...world.limits))
    world.broken = 'a call is refused only if the limit is used';
}

/** More was granted than was asked for. */
export function grantedTwice(world: World): void {
  world.broken = 'a question is granted once';
}

/** A change is answered. Calls accepted before are excused. */
export function answered(world: World, change: Change, rules: Rules): void {
  world.changes = world.changes.filter((each) => each !== change);
  if (change.plan === null) {
    world.isRevoked = true;
    return;
  }
  if (change.plan <= world.answeredPlan) return;
  world.limits = world.limits.slice(change.plan - world.answeredPlan);
  world.answeredPlan = change.plan;
  const limit = Math.max(...world.limits);
  world.excess = world.excess.map((excess, month) =>
    Math.max(excess, servedOrInFlight(world, rules, month) - limit),
  );
}

/** A life is about to be closed: what it has served and not reported goes back. */
export function closed(world: World, life: string): void {
  const batches = [...world.gateways.flatMap(unreported), ...world.destroyed].filter(
    ({ id }) => !world.recorded.includes(id),
  );
  world.excess = world.excess.map((excess, month) => {
    const block = world.blocks.find((each) => each.life === life && each.month === month);
    if (block === undefined) return excess;
    return (
      excess +
      Math.min(
        outOf(block),
        callsIn(batches, (report) => report.life === life && report.month === month),
      )
    );
  });
}

/** Whether a call would be refused now although it need not be: at once, or after it has waited for what others hold. */
function isRefusedWrongly(world: World, gateway: Gateway, index: number, rules: Rules): boolean {
  const { current: monthBlock, life } = gateway;
  if (!gateway.isUp || monthBlock === null || monthBlock.month < gateway.month) return false;
  if (gateway.credential === null && !world.left.hasSession) return false;
  const { month, block } = monthBlock;
  // A month that others have left is over in a moment.
  if (world.gateways.some((each) => each.month > month)) return false;
  if (!rules.isLeased(life, 0) || rules.leftIn(block) > 0 || !block.isKnown) return false;
  const limit = Math.min(...world.limits);
  if ((world.served[month] ?? 0) >= limit) return false;
  if (rules.refuses(block, monthBlock.inFlight)) return true;
  if (!waitsInVain(world, index, monthBlock, rules)) return false;
  const unreachable = world.blocks.filter((each) => each.month === month && !isReachable(world, each.life));
  return (
    servedOrInFlight(world, rules, month) + unreachable.reduce((sum, each) => sum + outOf(each), 0) < limit
  );
}

function isReachable(world: World, life: string): boolean {
  return world.gateways.some(
    ({ isUp, life: { id, leasedUntilMs } }) => isUp && id === life && leasedUntilMs > 0,
  );
}

/** Whether asking brings nothing now, however often: neither calls, nor a recall that is obeyed. */
function waitsInVain(world: World, index: number, { life, month, block }: MonthBlock, rules: Rules): boolean {
  if (world.changes.length > 0) return false;
  const row = world.blocks.find((each) => each.life === life && each.month === month);
  if (row === undefined || row.granted > block.granted) return false;
  const gateways = world.rows.length;
  const want = { has: block.granted, calls: 1, ahead: 1 };
  const monthRow = world.months[month] ?? { used: 0, out: 0 };
  const { added, isToRecall } = rules.grantOf(monthRow, row, { limit: world.limit, gateways }, want);
  if (added > 0) return false;
  const { used, out } = monthRow;
  const elsewhere = used + out - (row.granted - row.returned);
  const grant = { granted: row.granted, elsewhere, out: out - outOf(row), limit: world.limit };
  const after = rules.applyGrant(block, grant, block.newestMessage, true);
  if (rules.leftIn(after) > 0 || after.returned > block.returned) return false;
  return world.gateways.every((other, at) => {
    const isToReturn = unreported(other).some(({ spent }) => spent.some((report) => report.returned > 0));
    if (isToReturn && other.isUp) return false;
    if (at === index || !isToRecall || !isReachable(world, other.life.id)) return true;
    const its = world.blocks.find((each) => each.life === other.life.id && each.month === month);
    if (its === undefined || outOf(its) === 0 || (other.current !== null && other.current.month > month))
      return true;
    const theirs = other.current?.month === month ? other.current.block : emptyBlock;
    return rules.recall(theirs, its.granted).returned === theirs.returned;
  });
}

// A state as a short string: two states are the same if their strings are.
import type { Batch, Gateway, MonthBlock, Message, World } from './world.ts';

const kinds = { beat: 0, want: 1, lookup: 2, flush: 3, end: 4 };
const stages = { batch: 0, ended: 1, lease: 2, credentials: 3, grants: 4, answer: 5 };
const none = 255; // strings of such codes are short

export function pack(world: World): string {
  const codes: number[] = [];
  for (const gateway of world.gateways) packGateway(codes, gateway);
  codes.push(world.network.length);
  for (const message of world.network) packMessage(codes, message);
  codes.push(world.changeNo, Number(world.isKeyValid), world.plan, world.blocks.length, world.rows.length);
  for (const { used, out } of world.months) codes.push(used, out);
  for (const { life, month, granted, spent, returned, isRecalled } of world.blocks)
    codes.push(Number(life), 2 * month + Number(isRecalled), granted, spent, returned);
  for (const { life, seen, leasedUntilMs } of world.rows) codes.push(Number(life), seen, time(leasedUntilMs));
  codes.push(world.recorded.length, ...world.recorded, ...world.served, ...world.excess);
  for (const batch of world.destroyed) packBatch(codes, batch);
  codes.push(world.changes.length, world.limits.length, world.answeredPlan, Number(world.isRevoked));
  for (const { no } of world.changes) codes.push(no);
  const { left } = world;
  codes.push(left.calls, left.failures, left.doubled, left.lost, left.ticks, left.pauses, left.crashes);
  codes.push(left.crashesWithoutJournal, left.turns, left.evictions, left.revocations, left.plans.length);
  if (world.broken !== null) codes.push(none);
  return String.fromCharCode(...codes);
}

function packGateway(codes: number[], gateway: Gateway): void {
  const {
    isUp,
    process,
    life,
    credential,
    month,
    current: monthBlock,
    old,
    number,
    gathered,
    sealed,
    ended,
  } = gateway;
  codes.push(
    2 * process + Number(isUp),
    Number(life.id),
    2 * life.seen + Number(life.hasBegun),
    time(life.leasedUntilMs),
  );
  codes.push(credential ?? none, month, number, old.length);
  packMonthBlock(codes, monthBlock);
  for (const each of old) packMonthBlock(codes, each);
  packBatch(codes, gathered);
  codes.push(sealed.length, ended.length);
  for (const batch of sealed) packBatch(codes, batch);
  for (const life of ended) codes.push(Number(life));
}

function packMonthBlock(codes: number[], monthBlock: MonthBlock | null): void {
  if (monthBlock === null) return void codes.push(none);
  const { granted, drawn, returned, newestMessage, elsewhere, out, limit, isKnown } = monthBlock.block;
  codes.push(
    Number(monthBlock.life),
    2 * monthBlock.month + Number(isKnown),
    monthBlock.inFlight,
    granted,
    drawn,
    returned,
    newestMessage,
  );
  codes.push(elsewhere, out, limit ?? none);
}

function packBatch(codes: number[], { id, spent }: Batch): void {
  codes.push(id, spent.length);
  for (const { life, month, calls, returned } of spent) codes.push(Number(life), month, calls, returned);
}

function packMessage(codes: number[], message: Message): void {
  const { kind, process, life, begins, seen, number, askedAtMs, month, has, batch, ended, grant } = message;
  codes.push(
    kinds[kind],
    stages[message.stage],
    process,
    Number(life),
    2 * seen + Number(begins),
    number,
    time(askedAtMs),
  );
  codes.push(
    month,
    has,
    batch?.id ?? none,
    ended.length,
    2 * message.upto + Number(message.isOpen),
    message.since,
  );
  codes.push(
    message.credential ?? none,
    message.recalled?.granted ?? none,
    message.recalled?.month ?? 0,
    grant?.granted ?? none,
  );
  if (grant !== null) codes.push(grant.elsewhere, grant.out, grant.limit ?? none);
}

/** Differs by half leases, and by whether a life may be closed. */
function time(ms: number): number {
  return ms === -Infinity ? none : Math.floor((ms + 142_500) / 7_500);
}

// What accounts-api and the network of the model may do next. A message is worked on in the transactions of the contract, one a step, and
// anything may happen between two of them.
import { outOf } from '../../accounts-api/heartbeat/block-rules.ts';
import { leaseMs } from '../../kernel/heartbeat/times.ts';
import { receive, type Step } from './gateway-steps.ts';
import { answered, closed, grantedTwice } from './laws.ts';
import type { Rules } from './rules.ts';
import {
  copy,
  counted,
  later,
  pauseMs,
  replaced,
  tickMs,
  type BlockRow,
  type Message,
  type Report,
  type World,
} from './world.ts';

/** Calls asked for at once. */
const ahead = 3;

export function apiSteps(world: World, rules: Rules, steps: Step[]): void {
  for (const [at, message] of world.network.entries()) {
    const name = `${message.kind} ${'AB'.charAt(message.from)}${message.number}`;
    if (message.stage === 'answer') steps.push([`hear ${name}`, delivered(world, at, message, rules)]);
    else steps.push([`${message.stage} of ${name}`, workedOn(world, at, message, rules)]);
    const isNew = message.stage === 'batch' || message.stage === 'ended' || message.stage === 'lease';
    if (world.left.doubled > 0 && (isNew || message.stage === 'answer')) {
      const after = counted(world, 'doubled');
      after.network = [...world.network, message];
      steps.push([`double ${name}`, after]);
    }
    if (world.left.lost > 0 && (isNew || message.stage === 'answer')) {
      const after = counted(world, 'lost');
      after.network = world.network.filter((_, i) => i !== at);
      steps.push([`lose ${name}`, after]);
    }
  }
  changeSteps(world, rules, steps);
  timeSteps(world, rules, steps);
}

function changeSteps(world: World, rules: Rules, steps: Step[]): void {
  const { left, changes, changeNo, rows } = world;
  const [limit] = left.plans;
  if (limit !== undefined) {
    const after = copy(world);
    after.left = { ...left, plans: left.plans.slice(1) };
    Object.assign(after, {
      changeNo: changeNo + 1,
      plan: world.plan + 1,
      limit,
      limits: [...world.limits, limit],
    });
    after.changes = [...changes, { no: changeNo + 1, plan: after.plan }];
    steps.push([`change the plan to ${limit}`, after]);
  }
  if (left.revocations > 0) {
    const after = counted(world, 'revocations');
    Object.assign(after, { changeNo: changeNo + 1, isKeyValid: false });
    after.changes = [...changes, { no: changeNo + 1, plan: null }];
    steps.push(['revoke', after]);
  }
  for (const change of changes)
    if (rules.isActiveEverywhere(change.no, rows, 0)) {
      const after = copy(world);
      answered(after, change, rules);
      steps.push([`answer change ${change.no}`, after]);
    }
}

function timeSteps(world: World, rules: Rules, steps: Step[]): void {
  for (const row of world.rows)
    if (rules.mayClose(row, 0)) {
      const after = copy(world);
      closed(after, row.life);
      endLife(after, row.life, rules);
      steps.push([`close ${row.life}`, after]);
    }
  if (world.left.ticks > 0) steps.push(['half a lease passes', later(counted(world, 'ticks'), tickMs)]);
  if (world.left.pauses > 0) steps.push(['a long time passes', later(counted(world, 'pauses'), pauseMs)]);
}

function delivered(world: World, at: number, message: Message, rules: Rules): World {
  const after = copy(world);
  after.network = world.network.filter((_, i) => i !== at);
  receive(after, message, rules);
  return after;
}

function workedOn(world: World, at: number, message: Message, rules: Rules): World {
  const after = copy(world);
  let next = message;
  do next = { ...next, ...work[next.stage](after, next, rules) };
  while (!world.left.isSplit && next.stage !== 'answer');
  after.network = replaced(world.network, at, next);
  return after;
}

type Work = (world: World, message: Message, rules: Rules) => Partial<Message>;

const work: Record<Message['stage'], Work> = {
  batch(world, { batch, ended }, rules) {
    const stage = ended.length > 0 ? 'ended' : 'lease';
    if (batch === null || !rules.isNew(world.recorded, batch.id)) return { stage };
    for (const report of batch.spent) applyReport(world, report, rules);
    if (!world.recorded.includes(batch.id))
      world.recorded = [...world.recorded, batch.id].toSorted((one, other) => one - other);
    return { stage };
  },
  ended(world, { ended }, rules) {
    for (const life of ended) endLife(world, life, rules);
    return { stage: 'lease' };
  },
  lease(world, message, rules) {
    const { life, begins, kind } = message;
    const known = world.rows.find((row) => row.life === life);
    if (known === undefined && !begins) return { stage: 'answer', isOpen: false, upto: world.changeNo };
    const seen = known === undefined ? world.changeNo : Math.max(known.seen, message.seen);
    const row = { life, seen, leasedUntilMs: Math.max(known?.leasedUntilMs ?? 0, leaseMs) };
    world.rows = [...world.rows.filter((each) => each !== known), row].toSorted(byLife);
    const since = rules.since(message, row);
    return { stage: kind === 'lookup' ? 'credentials' : 'grants', isOpen: true, upto: world.changeNo, since };
  },
  credentials: (world) => ({ stage: 'grants', credential: world.isKeyValid ? world.plan : null }),
  grants(world, message, rules) {
    const { kind, credential, life } = message;
    if (!rules.mayGrant(world.rows.find((row) => row.life === life)))
      return { stage: 'answer', isOpen: false };
    const isGranted = kind === 'want' || (kind === 'lookup' && credential !== null);
    const grant = isGranted ? granted(world, message, rules) : null;
    return {
      stage: 'answer',
      grant,
      recalled: recalled(world, message),
      upto: rules.upto(message.upto, world.changeNo),
    };
  },
  answer: () => ({}),
};

function byLife(one: { life: string }, other: { life: string }): number {
  return Number(one.life) - Number(other.life);
}

function monthOf(world: World, month: number): { used: number; out: number } {
  return world.months[month] ?? { used: 0, out: 0 };
}

function isBlockOf(life: string, month: number): (block: BlockRow) => boolean {
  return (block) => block.life === life && block.month === month;
}

function applyReport(world: World, { life, month, calls, returned }: Report, rules: Rules): void {
  const known = world.blocks.find(isBlockOf(life, month));
  const after = rules.applyReport(monthOf(world, month), known ?? null, { calls, returned });
  world.months = replaced(world.months, month, after.month);
  const { block } = after;
  if (known !== undefined && block !== null)
    world.blocks = world.blocks.map((each) => (each === known ? { ...known, ...block } : each));
}

/** What is out with the life goes back. */
function endLife(world: World, life: string, rules: Rules): void {
  for (const block of world.blocks)
    if (block.life === life)
      world.months = replaced(
        world.months,
        block.month,
        rules.closeBlock(monthOf(world, block.month), block),
      );
  world.blocks = world.blocks.filter((block) => block.life !== life);
  world.rows = world.rows.filter((row) => row.life !== life);
}

function granted(world: World, { kind, life, month, has }: Message, rules: Rules): Message['grant'] {
  const known = world.blocks.find(isBlockOf(life, month));
  const before = known ?? { life, month, granted: 0, spent: 0, returned: 0, isRecalled: false };
  const gateways = world.rows.filter((row) => row.leasedUntilMs > 0).length;
  const { limit } = world;
  const isAsked = kind === 'want' || known === undefined;
  const { added, isToRecall } = isAsked
    ? rules.grantOf(monthOf(world, month), before, { limit, gateways }, { has, calls: 1, ahead })
    : { added: 0, isToRecall: false };
  const block = { ...before, granted: before.granted + added };
  if (added > 0 && block.granted - has > ahead) grantedTwice(world);
  const monthBefore = monthOf(world, month);
  const monthAfter = { ...monthBefore, out: monthBefore.out + added };
  world.months = replaced(world.months, month, monthAfter);
  world.blocks = [...world.blocks.filter((each) => each !== known), block]
    .map((each) =>
      isToRecall && each.month === month && each.life !== life && outOf(each) > 0
        ? { ...each, isRecalled: true }
        : each,
    )
    .toSorted((one, other) => byLife(one, other) || one.month - other.month);
  const { used, out } = monthAfter;
  const elsewhere = used + out - (block.granted - block.returned);
  return { granted: block.granted, elsewhere, out: out - outOf(block), limit };
}

/** The block of the life that is recalled; those of two months come one after the other. */
function recalled(world: World, { life }: Message): Message['recalled'] {
  const recalled = world.blocks.find((block) => block.life === life && block.isRecalled);
  if (recalled === undefined) return null;
  world.blocks = world.blocks.map((block) => (block === recalled ? { ...block, isRecalled: false } : block));
  return { month: recalled.month, granted: recalled.granted };
}

// What the gateways of the model may do next. Around the pure functions it does what gateway/heartbeat/{heartbeat,blocks,credentials,
// journal}.ts do.
import { emptyBlock, newLife } from '../../gateway/heartbeat/block-rules.ts';
import { accepted, refused, served } from './laws.ts';
import type { Rules } from './rules.ts';
import {
  copy,
  counted,
  gatewayOf,
  newGateway,
  type Counted,
  type Gateway,
  type MonthBlock,
  type Kind,
  type Message,
  type Recall,
  type World,
} from './world.ts';

export type Step = readonly [name: string, after: World];

export function gatewaySteps(world: World, rules: Rules, steps: Step[]): void {
  const add: Add = (name, index, act, count) => {
    const after = count === undefined ? copy(world) : counted(world, count);
    act(gatewayOf(after, index), after);
    steps.push([`${name} ${'AB'.charAt(index)}`, after]);
  };
  for (const [index, gateway] of world.gateways.entries()) {
    if (!gateway.isUp) {
      add('begin again', index, beginAgain);
      continue;
    }
    for (const kind of world.left.kinds)
      if (maySend(world, index, kind, rules))
        add(`send ${kind}`, index, (it, after) => send(after, index, it, kind, rules));
    callSteps(world, gateway, index, rules, add);
    if (world.left.turns > 0 && gateway.month === 0)
      add('month turns', index, (it) => void (it.month = 1), 'turns');
    if (world.left.evictions > 0 && gateway.current !== null)
      add('evict', index, (it) => evict(it, rules), 'evictions');
    if (world.left.crashes > 0) add('crash', index, (it, after) => crash(after, index, it, true), 'crashes');
    if (world.left.crashesWithoutJournal > 0)
      add(
        'crash without journal',
        index,
        (it, after) => crash(after, index, it, false),
        'crashesWithoutJournal',
      );
  }
}

type Add = (
  name: string,
  index: number,
  act: (gateway: Gateway, after: World) => void,
  count?: Counted,
) => void;

function callSteps(world: World, gateway: Gateway, index: number, rules: Rules, add: Add): void {
  const { life, credential, current: monthBlock, old } = gateway;
  if (world.left.calls > 0 && (credential !== null || world.left.hasSession) && rules.isLeased(life, 0)) {
    const isCurrentMonth = monthBlock !== null && monthBlock.month >= gateway.month;
    if (isCurrentMonth && rules.draw(monthBlock.block, 1) !== undefined)
      add(
        'accept',
        index,
        (it, after) => {
          const block = rules.draw(monthBlock.block, 1) ?? monthBlock.block;
          it.current = { ...monthBlock, block, inFlight: monthBlock.inFlight + 1 };
          accepted(after, it);
        },
        'calls',
      );
  }
  for (const [at, each] of [monthBlock, ...old].entries()) {
    if (each === null || each.inFlight === 0) continue;
    const isOld = at > 0;
    if (rules.mayServe(life, each.life))
      add(isOld ? 'serve of before' : 'serve', index, (it, after) => {
        endCall(it, at, { ...each, inFlight: each.inFlight - 1 });
        report(it, each, 1, 0);
        served(after, each.month);
      });
    if (world.left.failures === 0 && rules.mayServe(life, each.life)) continue;
    const count = world.left.failures > 0 ? 'failures' : undefined;
    add(
      isOld ? 'fail of before' : 'fail',
      index,
      (it) => {
        const block = rules.releaseCalls(each.block, 1);
        const ended = { ...each, block, inFlight: each.inFlight - 1 };
        endCall(it, at, isOld ? returnUndrawn(it, ended, rules) : ended);
      },
      count,
    );
  }
}

function endCall(gateway: Gateway, at: number, monthBlock: MonthBlock): void {
  if (at === 0) gateway.current = monthBlock;
  else
    gateway.old = gateway.old
      .map((each, i) => (i === at - 1 ? monthBlock : each))
      .filter(({ inFlight }) => inFlight > 0);
}

/** Notes what was served and given back in the gathering batch. */
function report(gateway: Gateway, { life, month }: MonthBlock, calls: number, returned: number): void {
  const { id, spent } = gateway.gathered;
  const isOf = (each: { life: string; month: number }) => each.life === life && each.month === month;
  const known = spent.find(isOf) ?? { life, month, calls: 0, returned: 0 };
  const sum = { life, month, calls: known.calls + calls, returned: known.returned + returned };
  gateway.gathered = { id, spent: [...spent.filter((each) => !isOf(each)), sum] };
}

function returnUndrawn(gateway: Gateway, monthBlock: MonthBlock, rules: Rules, granted?: number): MonthBlock {
  const block =
    granted === undefined
      ? rules.returnUndrawnCalls(monthBlock.block)
      : rules.recall(monthBlock.block, granted);
  const returned = block.returned - monthBlock.block.returned;
  if (returned > 0) report(gateway, monthBlock, 0, returned);
  return { ...monthBlock, block };
}

function putAway(gateway: Gateway, rules: Rules): void {
  if (gateway.current === null) return;
  const monthBlock = returnUndrawn(gateway, gateway.current, rules);
  gateway.current = null;
  if (monthBlock.inFlight > 0) gateway.old = [...gateway.old, monthBlock];
}

function evict(gateway: Gateway, rules: Rules): void {
  if (gateway.current === null) return;
  const block = rules.evicted(gateway.current.block);
  if (block === null) putAway(gateway, rules);
  else gateway.current = returnUndrawn(gateway, gateway.current, rules);
}

/** What is held of a month; of an earlier month it is given back. */
function monthBlockOf(gateway: Gateway, month: number, rules: Rules): MonthBlock {
  if (gateway.current !== null && gateway.current.month >= month) return gateway.current;
  putAway(gateway, rules);
  return { life: gateway.life.id, month, block: emptyBlock, inFlight: 0 };
}

function maySend(world: World, index: number, kind: Kind, rules: Rules): boolean {
  const gateway = world.gateways[index];
  if (gateway === undefined) return false;
  const { gathered, sealed, ended, number, life, credential, current: monthBlock, month } = gateway;
  if (number >= (world.left.messages[index] ?? 0) || world.network.length >= world.left.inFlight)
    return false;
  const unsent = gathered.spent.length > 0 ? [...sealed, gathered] : sealed;
  if (kind === 'flush') return unsent.length > 0;
  if (kind === 'end') return ended.length > 0 && rules.mayEnd(sealed);
  if (kind === 'lookup') return credential === null || !rules.isLeased(life, 0);
  return (
    kind !== 'want' || monthBlock === null || monthBlock.month < month || rules.leftIn(monthBlock.block) === 0
  );
}

function send(world: World, from: number, gateway: Gateway, kind: Kind, rules: Rules): void {
  if (rules.isOver(gateway.life)) beginLife(gateway);
  if (kind === 'flush') seal(gateway);
  if (kind === 'want') gateway.current = monthBlockOf(gateway, gateway.month, rules);
  gateway.number += 1;
  const { process, life, number, month, current: monthBlock, sealed, ended } = gateway;
  const batch = kind === 'flush' ? (sealed[0] ?? null) : null;
  const message: Message = {
    ...{ kind, from, process, number, life: life.id, begins: !life.hasBegun, seen: life.seen, askedAtMs: 0 },
    month: kind === 'want' ? (monthBlock?.month ?? month) : month,
    ...{
      has: kind === 'want' ? (monthBlock?.block.granted ?? 0) : 0,
      batch,
      ended: kind === 'end' ? ended : [],
    },
    ...{
      stage: batch !== null ? 'batch' : kind === 'end' ? 'ended' : 'lease',
      isOpen: false,
      upto: 0,
      since: 0,
    },
    ...{ credential: null, grant: null, recalled: null },
  };
  world.network = [...world.network, message];
}

function seal(gateway: Gateway): void {
  const { gathered, sealed } = gateway;
  if (gathered.spent.length === 0) return;
  gateway.sealed = [...sealed, gathered];
  gateway.gathered = { id: gathered.id + 1, spent: [] };
}

function beginLife(gateway: Gateway): void {
  const { current: monthBlock, old } = gateway;
  gateway.life = newLife(String(Number(gateway.life.id) + 1));
  gateway.credential = null;
  gateway.current = null;
  // Nothing is given back: the month has it back already.
  if (monthBlock !== null && monthBlock.inFlight > 0)
    gateway.old = [
      ...old,
      {
        ...monthBlock,
        block: { ...monthBlock.block, returned: monthBlock.block.granted - monthBlock.block.drawn },
      },
    ];
}

/** The gateway hears an answer, if it is the process that asked. */
export function receive(world: World, message: Message, rules: Rules): void {
  const gateway = gatewayOf(world, message.from);
  if (!gateway.isUp || gateway.process !== message.process) return;
  const isCurrent = receiveLease(gateway, message, rules);
  if (message.batch !== null && gateway.sealed[0]?.id === message.batch.id)
    gateway.sealed = gateway.sealed.slice(1);
  gateway.ended = gateway.ended.filter((life) => !message.ended.includes(life));
  const isOfLife = message.life === gateway.life.id;
  if (message.kind === 'lookup' && isCurrent) {
    gateway.credential = message.credential;
    if (message.credential !== null && isOfLife && rules.isOfMonth(message, gateway.current?.month ?? 0))
      receiveGrant(gateway, monthBlockOf(gateway, message.month, rules), message, isCurrent, rules);
  }
  if (message.kind !== 'want') return;
  const { current: monthBlock } = gateway;
  // The block that asked may be put away, or begun anew: then the answer is of no use.
  if (message.isOpen && monthBlock?.life === message.life && monthBlock.month === message.month)
    receiveGrant(gateway, monthBlock, message, isCurrent, rules);
  const present = gateway.current;
  if (present === null || present.month < gateway.month) return;
  if (gateway.credential === null && !world.left.hasSession) return;
  const isDrawn = rules.isLeased(gateway.life, 0) && rules.draw(present.block, 1) !== undefined;
  if (!isDrawn && rules.isLeased(gateway.life, 0) && rules.refuses(present.block, present.inFlight))
    refused(world, present.month);
}

/** @returns whether credentials and grants of the answer may be used. */
function receiveLease(gateway: Gateway, message: Message, rules: Rules): boolean {
  if (message.life !== gateway.life.id) return false;
  if (!message.isOpen) {
    beginLife(gateway);
    return false;
  }
  const { upto, since } = message;
  const answer = { upto, changes: upto > since ? ['account'] : [] };
  const outcome = rules.applyAnswer(gateway.life, answer, message.askedAtMs);
  if (outcome.changed === null || outcome.changed.length > 0) {
    gateway.credential = null;
    if (gateway.current !== null)
      gateway.current = { ...gateway.current, block: rules.forgetLimit(gateway.current.block) };
  }
  gateway.life = outcome.life;
  if (message.recalled !== null) recalled(gateway, message.recalled, rules);
  return outcome.isCurrent;
}

function recalled(gateway: Gateway, { month, granted }: Recall, rules: Rules): void {
  if (gateway.current !== null && gateway.current.month > month) return;
  // The answer with the grant may not have come, or never: then all of it is given back.
  gateway.current = returnUndrawn(gateway, monthBlockOf(gateway, month, rules), rules, granted);
}

function receiveGrant(
  gateway: Gateway,
  monthBlock: MonthBlock,
  message: Message,
  isCurrent: boolean,
  rules: Rules,
): void {
  if (message.grant === null) return;
  const block = rules.applyGrant(monthBlock.block, message.grant, message.number, isCurrent);
  const returned = block.returned - monthBlock.block.returned;
  gateway.current = { ...monthBlock, block };
  if (returned > 0) report(gateway, monthBlock, 0, returned);
}

function crash(world: World, index: number, gateway: Gateway, hasJournal: boolean): void {
  seal(gateway);
  const { process, life, month, number, gathered, sealed, ended } = gateway;
  if (!hasJournal) world.destroyed = [...world.destroyed, ...sealed];
  Object.assign(gateway, newGateway(index), {
    ...{ isUp: false, process: process + 1, life, month, number, gathered },
    ...{ sealed: hasJournal ? sealed : [], ended: hasJournal ? [...ended, life.id] : [] },
  });
}

function beginAgain(gateway: Gateway): void {
  gateway.isUp = true;
  gateway.life = newLife(String(Number(gateway.life.id) + 1));
}

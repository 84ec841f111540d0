// What the gateways of the model may do next. Around the pure functions it does what gateway/heartbeat/{heartbeat,blocks,credentials,
// journal}.ts do.
import { emptyBlock, newLife } from '../../gateway/heartbeat/state.ts';
import { accepted, refused, served } from './laws.ts';
import type { Rules } from './rules.ts';
import {
  copy,
  counted,
  gatewayOf,
  newGateway,
  type Counted,
  type Gateway,
  type Held,
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
    if (world.left.evictions > 0 && gateway.held !== null)
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
  const { life, credential, held, old } = gateway;
  if (world.left.calls > 0 && (credential !== null || world.left.hasSession) && rules.isLeased(life, 0)) {
    const isHeld = held !== null && held.month >= gateway.month;
    if (isHeld && rules.draw(held.block, 1) !== undefined)
      add(
        'accept',
        index,
        (it, after) => {
          const block = rules.draw(held.block, 1) ?? held.block;
          it.held = { ...held, block, underWay: held.underWay + 1 };
          accepted(after, it);
        },
        'calls',
      );
  }
  for (const [at, each] of [held, ...old].entries()) {
    if (each === null || each.underWay === 0) continue;
    const isOld = at > 0;
    if (rules.mayServe(life, each.life))
      add(isOld ? 'serve of before' : 'serve', index, (it, after) => {
        endCall(it, at, { ...each, underWay: each.underWay - 1 });
        report(it, each, 1, 0);
        served(after, each.month);
      });
    if (world.left.failures === 0 && rules.mayServe(life, each.life)) continue;
    const count = world.left.failures > 0 ? 'failures' : undefined;
    add(
      isOld ? 'fail of before' : 'fail',
      index,
      (it) => {
        const block = rules.putBack(each.block, 1);
        const ended = { ...each, block, underWay: each.underWay - 1 };
        endCall(it, at, isOld ? returnUndrawn(it, ended, rules) : ended);
      },
      count,
    );
  }
}

function endCall(gateway: Gateway, at: number, held: Held): void {
  if (at === 0) gateway.held = held;
  else
    gateway.old = gateway.old
      .map((each, i) => (i === at - 1 ? held : each))
      .filter(({ underWay }) => underWay > 0);
}

/** Notes what was served and given back in the gathering batch. */
function report(gateway: Gateway, { life, month }: Held, calls: number, returned: number): void {
  const { id, spent } = gateway.gathered;
  const isOf = (each: { life: string; month: number }) => each.life === life && each.month === month;
  const known = spent.find(isOf) ?? { life, month, calls: 0, returned: 0 };
  const sum = { life, month, calls: known.calls + calls, returned: known.returned + returned };
  gateway.gathered = { id, spent: [...spent.filter((each) => !isOf(each)), sum] };
}

function returnUndrawn(gateway: Gateway, held: Held, rules: Rules, granted?: number): Held {
  const block = granted === undefined ? rules.giveBack(held.block) : rules.recall(held.block, granted);
  const returned = block.returned - held.block.returned;
  if (returned > 0) report(gateway, held, 0, returned);
  return { ...held, block };
}

function putAway(gateway: Gateway, rules: Rules): void {
  if (gateway.held === null) return;
  const held = returnUndrawn(gateway, gateway.held, rules);
  gateway.held = null;
  if (held.underWay > 0) gateway.old = [...gateway.old, held];
}

function evict(gateway: Gateway, rules: Rules): void {
  if (gateway.held === null) return;
  const block = rules.evicted(gateway.held.block);
  if (block === null) putAway(gateway, rules);
  else gateway.held = returnUndrawn(gateway, gateway.held, rules);
}

/** What is held of a month; of an earlier month it is given back. */
function heldOf(gateway: Gateway, month: number, rules: Rules): Held {
  if (gateway.held !== null && gateway.held.month >= month) return gateway.held;
  putAway(gateway, rules);
  return { life: gateway.life.id, month, block: emptyBlock, underWay: 0 };
}

function maySend(world: World, index: number, kind: Kind, rules: Rules): boolean {
  const gateway = world.gateways[index];
  if (gateway === undefined) return false;
  const { gathered, sealed, ended, number, life, credential, held, month } = gateway;
  if (number >= (world.left.messages[index] ?? 0) || world.network.length >= world.left.inFlight)
    return false;
  const unsent = gathered.spent.length > 0 ? [...sealed, gathered] : sealed;
  if (kind === 'flush') return unsent.length > 0;
  if (kind === 'end') return ended.length > 0 && rules.mayEnd(sealed);
  if (kind === 'lookup') return credential === null || !rules.isLeased(life, 0);
  return kind !== 'want' || held === null || held.month < month || rules.leftIn(held.block) === 0;
}

function send(world: World, from: number, gateway: Gateway, kind: Kind, rules: Rules): void {
  if (rules.isOver(gateway.life)) beginLife(gateway);
  if (kind === 'flush') seal(gateway);
  if (kind === 'want') gateway.held = heldOf(gateway, gateway.month, rules);
  gateway.number += 1;
  const { process, life, number, month, held, sealed, ended } = gateway;
  const batch = kind === 'flush' ? (sealed[0] ?? null) : null;
  const message: Message = {
    ...{ kind, from, process, number, life: life.id, begins: !life.hasBegun, seen: life.seen, askedAtMs: 0 },
    month: kind === 'want' ? (held?.month ?? month) : month,
    ...{ has: kind === 'want' ? (held?.block.granted ?? 0) : 0, batch, ended: kind === 'end' ? ended : [] },
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
  const { held, old } = gateway;
  gateway.life = newLife(String(Number(gateway.life.id) + 1));
  gateway.credential = null;
  gateway.held = null;
  // Nothing is given back: the month has it back already.
  if (held !== null && held.underWay > 0)
    gateway.old = [
      ...old,
      { ...held, block: { ...held.block, returned: held.block.granted - held.block.drawn } },
    ];
}

/** The gateway hears an answer, if it is the process that asked. */
export function hear(world: World, message: Message, rules: Rules): void {
  const gateway = gatewayOf(world, message.from);
  if (!gateway.isUp || gateway.process !== message.process) return;
  const isCurrent = hearLease(gateway, message, rules);
  if (message.batch !== null && gateway.sealed[0]?.id === message.batch.id)
    gateway.sealed = gateway.sealed.slice(1);
  gateway.ended = gateway.ended.filter((life) => !message.ended.includes(life));
  const isOfLife = message.life === gateway.life.id;
  if (message.kind === 'lookup' && isCurrent) {
    gateway.credential = message.credential;
    if (message.credential !== null && isOfLife && rules.isOfMonth(message, gateway.held?.month ?? 0))
      hearGrant(gateway, heldOf(gateway, message.month, rules), message, isCurrent, rules);
  }
  if (message.kind !== 'want') return;
  const { held } = gateway;
  // The block that asked may be put away, or begun anew: then the answer is of no use.
  if (message.isOpen && held?.life === message.life && held.month === message.month)
    hearGrant(gateway, held, message, isCurrent, rules);
  const present = gateway.held;
  if (present === null || present.month < gateway.month) return;
  if (gateway.credential === null && !world.left.hasSession) return;
  const isDrawn = rules.isLeased(gateway.life, 0) && rules.draw(present.block, 1) !== undefined;
  if (!isDrawn && rules.isLeased(gateway.life, 0) && rules.refuses(present.block, present.underWay))
    refused(world, present.month);
}

/** @returns whether credentials and grants of the answer may be used. */
function hearLease(gateway: Gateway, message: Message, rules: Rules): boolean {
  if (message.life !== gateway.life.id) return false;
  if (!message.isOpen) {
    beginLife(gateway);
    return false;
  }
  const { upto, since } = message;
  const heard = { upto, changes: upto > since ? ['account'] : [] };
  const outcome = rules.hear(gateway.life, heard, message.askedAtMs);
  if (outcome.changed === null || outcome.changed.length > 0) {
    gateway.credential = null;
    if (gateway.held !== null)
      gateway.held = { ...gateway.held, block: rules.forgetLimit(gateway.held.block) };
  }
  gateway.life = outcome.life;
  if (message.recalled !== null) recalled(gateway, message.recalled, rules);
  return outcome.isCurrent;
}

function recalled(gateway: Gateway, { month, granted }: Recall, rules: Rules): void {
  if (gateway.held !== null && gateway.held.month > month) return;
  // The answer with the grant may not have come, or never: then all of it is given back.
  gateway.held = returnUndrawn(gateway, heldOf(gateway, month, rules), rules, granted);
}

function hearGrant(gateway: Gateway, held: Held, message: Message, isCurrent: boolean, rules: Rules): void {
  if (message.grant === null) return;
  const block = rules.hearGrant(held.block, message.grant, message.number, isCurrent);
  const returned = block.returned - held.block.returned;
  gateway.held = { ...held, block };
  if (returned > 0) report(gateway, held, 0, returned);
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

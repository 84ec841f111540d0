// The world of the model: two gateways, accounts-api, and the messages between them, with one account and one key. Times are relative to
// now, in ms. Hides how a state is copied and packed.
import type {
  Block as ApiBlock,
  Gateway as ApiGateway,
  Month,
} from '../../accounts-api/heartbeat/block-rules.ts';
import { newLife, type Block, type Grant, type Life } from '../../gateway/heartbeat/block-rules.ts';
import { closeAfterMs, leaseMs } from '../../kernel/heartbeat/times.ts';

/** What a life has served and given back of a month. */
export interface Report {
  readonly life: string;
  readonly month: number;
  readonly calls: number;
  readonly returned: number;
}

export interface Batch {
  readonly id: number;
  readonly spent: readonly Report[];
}

/** The calls of a month that a gateway holds. */
export interface MonthBlock {
  readonly life: string;
  readonly month: number;
  readonly block: Block;
  readonly inFlight: number;
}

export interface Gateway {
  isUp: boolean;
  process: number;
  life: Life;
  /** The number of the plan that the key was looked up with; null: the key is not held. */
  credential: number | null;
  month: number;
  current: MonthBlock | null;
  /** Held before, with calls still under way. */
  old: readonly MonthBlock[];
  /** Of the last message. */
  number: number;
  gathered: Batch;
  sealed: readonly Batch[];
  ended: readonly string[];
}

export type Kind = 'beat' | 'want' | 'lookup' | 'flush' | 'end';
export type Stage = 'batch' | 'ended' | 'lease' | 'credentials' | 'grants' | 'answer';

export interface Message {
  readonly kind: Kind;
  readonly from: number;
  readonly process: number;
  readonly life: string;
  readonly begins: boolean;
  readonly seen: number;
  readonly number: number;
  readonly askedAtMs: number;
  readonly month: number;
  readonly has: number;
  readonly batch: Batch | null;
  readonly ended: readonly string[];
  /** What accounts-api does next with it. */
  readonly stage: Stage;
  readonly isOpen: boolean;
  readonly upto: number;
  readonly since: number;
  /** The plan of the key; null: the key is invalid. */
  readonly credential: number | null;
  readonly grant: Grant | null;
  readonly recalled: Recall | null;
}

/** A block that is recalled, with the total granted to it. */
export interface Recall {
  readonly month: number;
  readonly granted: number;
}

/** A row of accounts.gateways. */
export interface Row extends ApiGateway {
  readonly life: string;
}

/** A row of accounts.quota_blocks. */
export interface BlockRow extends ApiBlock {
  readonly life: string;
  readonly month: number;
  readonly isRecalled: boolean;
}

/** A change that is not answered yet. `plan`: null if it revokes the key. */
export interface Change {
  readonly no: number;
  readonly plan: number | null;
}

/** How often something may happen yet. */
export interface Bounds {
  /** Messages of each gateway, in all. */
  messages: readonly number[];
  /** Whether something may happen between the transactions of a message. */
  isSplit: boolean;
  /** At once, of both gateways. */
  inFlight: number;
  kinds: readonly Kind[];
  /** Whether calls come with a session: they need no key. */
  hasSession: boolean;
  calls: number;
  failures: number;
  doubled: number;
  lost: number;
  /** Half leases that pass. */
  ticks: number;
  /** Times so long that every lease ends and every life may be closed. */
  pauses: number;
  crashes: number;
  crashesWithoutJournal: number;
  turns: number;
  evictions: number;
  revocations: number;
  /** The limits of the plans that follow. */
  plans: readonly number[];
}

export type Counted = Exclude<
  keyof Bounds,
  'messages' | 'isSplit' | 'hasSession' | 'inFlight' | 'kinds' | 'plans'
>;

/** All of it. What `laws` needs is real, not known to anyone in the world. */
export interface World {
  gateways: readonly Gateway[];
  network: readonly Message[];
  // accounts-api
  changeNo: number;
  isKeyValid: boolean;
  plan: number;
  limit: number;
  months: readonly Month[];
  blocks: readonly BlockRow[];
  rows: readonly Row[];
  recorded: readonly number[];
  // the truth
  served: readonly number[];
  /** Reports that a crash has destroyed, if they were not taken. */
  destroyed: readonly Batch[];
  /** Calls that are excused: served and not reported when the life was closed, or accepted before a lower plan was answered. */
  excess: readonly number[];
  changes: readonly Change[];
  /** From the plan whose change was answered last to the present one. */
  limits: readonly number[];
  answeredPlan: number;
  isRevoked: boolean;
  /** The law that the last step broke. */
  broken: string | null;
  left: Bounds;
}

export const tickMs = leaseMs / 2;
export const pauseMs = leaseMs + closeAfterMs + tickMs;

export const noBounds: Bounds = {
  ...{
    messages: [],
    isSplit: true,
    hasSession: false,
    inFlight: 2,
    kinds: ['beat', 'want', 'lookup', 'flush', 'end'],
    calls: 0,
    failures: 0,
  },
  ...{
    doubled: 0,
    lost: 0,
    ticks: 0,
    pauses: 0,
    crashes: 0,
    crashesWithoutJournal: 0,
    turns: 0,
    evictions: 0,
  },
  ...{ revocations: 0, plans: [] },
};

export function newGateway(index: number): Gateway {
  return {
    ...{ isUp: true, process: 0, life: newLife(String(10 * (index + 1))), credential: null, month: 0 },
    ...{ current: null, old: [], number: 0, sealed: [], ended: [] },
    gathered: { id: 20 * (index + 1), spent: [] },
  };
}

export function newWorld(limit: number, bounds: Partial<Bounds>): World {
  return {
    ...{ gateways: [newGateway(0), newGateway(1)], network: [] },
    ...{ changeNo: 0, isKeyValid: true, plan: 0, limit, blocks: [], rows: [], recorded: [] },
    months: [0, 1].map(() => ({ used: 0, out: 0 })),
    ...{ served: [0, 0], destroyed: [], excess: [0, 0], changes: [], limits: [limit] },
    ...{ answeredPlan: 0, isRevoked: false, broken: null, left: { ...noBounds, ...bounds } },
  };
}

/** A copy whose own fields may be set. All else is replaced, never changed. */
export function copy(world: World): World {
  return { ...world };
}

/** A copy after something that may happen a limited number of times. */
export function counted(world: World, what: Counted): World {
  return { ...world, left: { ...world.left, [what]: world.left[what] - 1 } };
}

/** A gateway of the world, which may be set. */
export function gatewayOf(world: World, index: number): Gateway {
  const gateway = world.gateways[index];
  if (gateway === undefined) throw new Error('There is no such gateway.');
  const own = { ...gateway };
  world.gateways = replaced(world.gateways, index, own);
  return own;
}

/** The state after a time in which nothing happened. */
export function later(world: World, ms: number): World {
  const after = copy(world);
  const least = -closeAfterMs;
  after.gateways = world.gateways.map((each) => {
    return { ...each, life: { ...each.life, leasedUntilMs: Math.max(least, each.life.leasedUntilMs - ms) } };
  });
  after.rows = world.rows.map((row) => ({
    ...row,
    leasedUntilMs: Math.max(least - 1, row.leasedUntilMs - ms),
  }));
  after.network = world.network.map((each) => ({
    ...each,
    askedAtMs: Math.max(least - leaseMs, each.askedAtMs - ms),
  }));
  return after;
}

export function replaced<Item>(items: readonly Item[], at: number, item: Item): Item[] {
  return items.map((each, i) => (i === at ? item : each));
}

/** The sum of the calls of a month in reports. */
export function callsIn(batches: readonly Batch[], of: (report: Report) => boolean): number {
  let sum = 0;
  for (const { spent } of batches) for (const report of spent) if (of(report)) sum += report.calls;
  return sum;
}

/** What a gateway has not reported yet, as far as it knows. */
export function unreported({ gathered, sealed }: Gateway): Batch[] {
  return [...sealed, gathered];
}

// What the model explores, and the faults that it must find. Each scenario allows little of everything, so that all of it can be tried.
import { leaseMs } from '../../kernel/heartbeat/times.ts';
import * as api from '../../accounts-api/heartbeat/block-rules.ts';
import * as gateway from '../../gateway/heartbeat/block-rules.ts';
import { after, explore, type Found } from './explore.ts';
import { goodRules, type Rules } from './rules.ts';
import { newWorld, noBounds, type Bounds } from './world.ts';

interface Scenario {
  readonly limit: number;
  /** What has happened before: the names of steps. */
  readonly first: readonly string[];
  readonly bounds: Partial<Bounds>;
  readonly faults: Readonly<Record<string, Partial<Rules>>>;
}

/** The first message of a gateway, which looks up the key and gets a block. */
const startSteps = (name: 'A' | 'B') => [
  `send lookup ${name}`,
  `lease of lookup ${name}1`,
  `hear lookup ${name}1`,
];
const startBoth = [...startSteps('A'), ...startSteps('B')];
const served = (name: 'A' | 'B') => [`accept ${name}`, `serve ${name}`];

/** Explores a scenario with the rules, some of which may be replaced by a fault. */
export function exploreScenario({ limit, first, bounds }: Scenario, fault: Partial<Rules> = {}): Found {
  const ample = { messages: [9, 9], inFlight: 9, isSplit: false, calls: 9, doubled: 9, lost: 9 };
  const world = after(newWorld(limit, ample), first, goodRules);
  world.left = { ...noBounds, ...bounds };
  return explore(world, { ...goodRules, ...fault });
}

const ofChanges = {
  'a key is revoked': {
    limit: 2,
    first: startSteps('A'),
    bounds: { messages: [3], kinds: ['lookup', 'beat'], calls: 1, revocations: 1, ticks: 3 },
    faults: {
      'a change is answered without acknowledgements': { isActiveEverywhere: () => true },
      'calls are accepted without a lease': { isLeased: () => true },
      'the lease counts from the answer': {
        applyAnswer: (life, answer) => gateway.applyAnswer(life, answer, 0, leaseMs, 0),
      },
      'the number of the answer is read after the credentials': { upto: (_, atEnd) => atEnd },
    },
  },
  'a key is revoked that two gateways hold': {
    limit: 2,
    first: startBoth,
    bounds: { messages: [3, 3], kinds: ['beat'], isSplit: false, calls: 1, revocations: 1, ticks: 1 },
    faults: {
      'one gateway acknowledges for all': {
        isActiveEverywhere: (no, rows, nowMs) => rows.some((row) => api.isActiveEverywhere(no, [row], nowMs)),
      },
    },
  },
  'a life begins with two messages while a key is revoked': {
    limit: 2,
    first: [],
    bounds: { messages: [3], kinds: ['lookup', 'beat'], calls: 1, revocations: 1, doubled: 1 },
    faults: {
      'a lookup from before a change is used': {
        applyAnswer: (life, answer, askedAtMs) => ({
          ...gateway.applyAnswer(life, answer, askedAtMs, leaseMs, 0),
          isCurrent: true,
        }),
      },
    },
  },
  'a plan is lowered': {
    limit: 2,
    first: [...startSteps('A'), ...served('A')],
    bounds: { messages: [4], kinds: ['want', 'lookup', 'beat'], hasSession: true, calls: 1, plans: [1] },
    faults: {
      'a grant from before the change is used': {
        applyGrant: (block, grant, number) => gateway.applyGrant(block, grant, number, true),
      },
    },
  },
  'a plan is lowered while two gateways hold calls': {
    limit: 4,
    first: [...startBoth, ...served('A'), ...served('B')],
    bounds: {
      messages: [3, 3],
      kinds: ['want', 'beat'],
      isSplit: false,
      hasSession: true,
      calls: 1,
      plans: [1],
    },
    faults: {
      'the old limit is used after the change was heard': { forgetLimit: (block) => block },
    },
  },
  'a plan is raised': {
    limit: 1,
    first: [...startSteps('A'), ...served('A')],
    bounds: { messages: [4], kinds: ['want', 'lookup', 'beat'], hasSession: true, calls: 1, plans: [2] },
    faults: {
      'the old limit is used after the change was heard': { forgetLimit: (block) => block },
    },
  },
} satisfies Record<string, Scenario>;

const ofBlocks = {
  'two gateways share the limit': {
    limit: 4,
    first: startBoth,
    bounds: { messages: [3, 3], kinds: ['want', 'flush'], isSplit: false, calls: 5 },
    faults: {
      'calls are refused without a recall': {
        grantOf: (...question) => ({ ...api.grantOf(...question), isToRecall: false }),
      },
    },
  },
  'messages are doubled and lost': {
    limit: 6,
    first: [],
    bounds: {
      messages: [4],
      kinds: ['lookup', 'want', 'flush'],
      isSplit: false,
      calls: 2,
      failures: 1,
      doubled: 1,
      lost: 1,
    },
    faults: {
      'a batch is counted twice': { isNew: () => true },
      'a doubled question is granted twice': {
        grantOf: (month, block, plan, want) =>
          api.grantOf(month, block, plan, { ...want, has: block.granted }),
      },
    },
  },
  'calls are recalled': {
    limit: 2,
    first: [...startBoth, ...served('A')],
    bounds: { messages: [3, 3], kinds: ['want', 'flush', 'beat'], isSplit: false, calls: 2 },
    faults: {
      'calls under way are given back': { recall: (block) => ({ ...block, returned: block.granted }) },
    },
  },
  'calls are given back while others are under way': {
    limit: 4,
    first: [...startSteps('A'), 'accept A'],
    bounds: { messages: [3, 2], kinds: ['lookup', 'flush'], isSplit: false, calls: 2, evictions: 1 },
    faults: {
      'returned calls are counted twice': {
        applyReport: (month, block, { calls, returned }) =>
          api.applyReport(month, block, { calls, returned: 2 * returned }),
      },
    },
  },
  'the answer with a grant is late or lost': {
    limit: 2,
    first: startSteps('B'),
    bounds: { messages: [2, 3], kinds: ['want', 'lookup', 'beat'], isSplit: false, calls: 2, lost: 1 },
    faults: {
      'a recall does not say what was granted': { recall: gateway.returnUndrawnCalls },
    },
  },
  'two questions are under way': {
    limit: 3,
    first: [],
    bounds: { messages: [4], kinds: ['want', 'lookup'], isSplit: false, calls: 3 },
    faults: {
      'a call is refused when its answer brings nothing': {
        refuses: (block, inFlight) => block.out === 0 && inFlight === 0,
      },
    },
  },
  'the month turns': {
    limit: 1,
    first: [],
    bounds: { messages: [2, 1], kinds: ['want', 'lookup'], isSplit: false, calls: 2, turns: 2 },
    faults: { 'a lookup of the old month is counted in the new one': { isOfMonth: () => true } },
  },
  'a block is put away for lack of room': {
    limit: 3,
    first: startSteps('A'),
    bounds: { messages: [4], kinds: ['want', 'flush'], isSplit: false, calls: 4, failures: 1, evictions: 1 },
    faults: { 'its totals are forgotten': { evicted: () => null } },
  },
} satisfies Record<string, Scenario>;

const ofLives = {
  'a life is closed': {
    limit: 1,
    first: [...startSteps('A'), 'accept A'],
    bounds: { messages: [3, 2], kinds: ['lookup', 'flush'], isSplit: false, calls: 1, pauses: 1 },
    faults: {
      'a life is closed while its lease runs': { mayClose: () => true },
      'the report of a closed life is dropped': {
        applyReport: (month, block, report) =>
          block === null ? { month, block } : api.applyReport(month, block, report),
      },
      'calls under way are served after the life was closed': { mayServe: () => true },
    },
  },
  'a life ends while its messages are worked on': {
    limit: 2,
    first: startSteps('A'),
    bounds: { messages: [3, 1], kinds: ['want', 'flush', 'end'], calls: 2, crashes: 1 },
    faults: { 'a life that is over is granted calls': { mayGrant: () => true } },
  },
  'a gateway is killed, and its successor has its journal': {
    limit: 1,
    first: [...startSteps('A'), ...served('A')],
    bounds: { messages: [4, 2], kinds: ['lookup', 'flush', 'end'], isSplit: false, calls: 1, crashes: 1 },
    faults: { 'a life is ended before its batches are taken': { mayEnd: () => true } },
  },
  'a gateway is killed without a journal': {
    limit: 1,
    first: [...startSteps('A'), ...served('A')],
    bounds: {
      messages: [2, 2],
      kinds: ['lookup', 'flush'],
      isSplit: false,
      calls: 1,
      crashesWithoutJournal: 1,
      pauses: 1,
    },
    faults: {},
  },
  'an answer comes after its lease has ended': {
    limit: 4,
    first: [],
    bounds: {
      messages: [1, 2],
      kinds: ['want'],
      inFlight: 3,
      isSplit: false,
      hasSession: true,
      calls: 2,
      pauses: 1,
    },
    faults: {
      'its grant is used': {
        applyAnswer: (life, answer, askedAtMs) =>
          gateway.applyAnswer(life, answer, askedAtMs, leaseMs, askedAtMs),
      },
    },
  },
  'a message that begins a life comes after the life was closed': {
    limit: 1,
    first: [
      'send beat A',
      'double beat A1',
      'lease of beat A1',
      'hear beat A1',
      'send lookup A',
      'lease of lookup A2',
      'hear lookup A2',
    ],
    bounds: { messages: [3, 1], kinds: ['lookup'], inFlight: 3, isSplit: false, calls: 2, pauses: 1 },
    faults: { 'the life is used again': { isOver: () => false } },
  },
} satisfies Record<string, Scenario>;

export const scenarios: Readonly<Record<string, Scenario>> = { ...ofChanges, ...ofBlocks, ...ofLives };

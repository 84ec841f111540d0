// The decisions of both sides as the model runs them: production's own, and those beside them that are no pure functions there. A test
// replaces one to plant a fault.
import * as api from '../../accounts-api/heartbeat/state.ts';
import * as gateway from '../../gateway/heartbeat/state.ts';
import { closeAfterMs, leaseMs } from '../../kernel/heartbeat/times.ts';
import type { Batch, Message, Row } from './world.ts';

export type Rules = typeof goodRules;

const ofGateway = {
  isLeased: gateway.isLeased,
  leftIn: gateway.leftIn,
  draw: gateway.draw,
  putBack: gateway.putBack,
  giveBack: gateway.giveBack,
  forgetLimit: gateway.forgetLimit,
  applyGrant: gateway.applyGrant,
  applyAnswer: (life: gateway.Life, answer: gateway.AnswerChanges, askedAtMs: number) =>
    gateway.applyAnswer(life, answer, askedAtMs, leaseMs, 0),
  /** Whether a call under way may be served: its calls cannot have been granted to others. */
  mayServe: (life: gateway.Life, id: string) => id === life.id && 0 < life.leasedUntilMs + closeAfterMs,
  /** Whether a call that was not drawn after the answer is refused: the answer may have been used up by another call, or be an old one. */
  refuses: (block: gateway.Block, inFlight: number) => gateway.isUsedUp(block, inFlight, 1),
  /** Whether the life begins anew before it asks: it may have been closed, and a late message may have opened it again. */
  isOver: ({ hasBegun, leasedUntilMs }: gateway.Life) => hasBegun && 0 >= leasedUntilMs + closeAfterMs,
  /** What a block becomes when it is recalled. `granted`: the total, as the answer with the grant may be lost. */
  recall: (block: gateway.Block, granted: number) => gateway.giveBack(gateway.applyTotal(block, granted)),
  /** Whether the grant of a lookup belongs to the month that is held, or to a later one. */
  isOfMonth: (message: Message, month: number) => message.month >= month,
  /** What is kept of a block that is given back: without its totals it would be drawn again. */
  evicted: (block: gateway.Block): gateway.Block | null => gateway.giveBack(block),
  /** Whether earlier lives may be ended. */
  mayEnd: (unsent: readonly Batch[]) => unsent.length === 0,
};

const ofApi = {
  grantOf: api.grantOf,
  applyReport: api.applyReport,
  closeBlock: api.closeBlock,
  isActiveEverywhere: api.isActiveEverywhere,
  mayClose: api.mayClose,
  isNew: (recorded: readonly number[], batch: number) => !recorded.includes(batch),
  /** The number that the answer says: the one read with the lease, or the one at the end. */
  upto: (atLease: number, _atEnd: number) => atLease,
  /** Since when the answer says what has changed. */
  since: (message: Message, _row: Row) => message.seen,
  /** Whether a life is granted calls: it may have ended since its lease was written. */
  mayGrant: (row: Row | undefined): boolean => row !== undefined,
};

export const goodRules = { ...ofGateway, ...ofApi };

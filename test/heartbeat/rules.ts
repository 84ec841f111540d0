// The decisions of both sides as the model runs them: production's own, and those beside them that are no pure functions there. A test
// replaces one to plant a fault.
import * as api from '../../accounts-api/heartbeat/block-rules.ts';
import * as gateway from '../../gateway/heartbeat/block-rules.ts';
import { closeAfterMs, leaseMs } from '../../kernel/heartbeat/times.ts';
import type { Batch, Message, Row } from './world.ts';

export type Rules = typeof goodRules;

const ofGateway = {
  isLeased: gateway.isLeased,
  leftIn: gateway.leftIn,
  draw: gateway.draw,
  releaseCalls: gateway.releaseCalls,
  returnUndrawnCalls: gateway.returnUndrawnCalls,
  forgetLimit: gateway.forgetLimit,
  applyGrant: gateway.applyGrant,
  applyAnswer: (life: gateway.Life, answer: gateway.AnswerChanges, askedAtMs: number) =>
    gateway.applyAnswer(life, answer, askedAtMs, leaseMs, 0),
  /** Whether a call in flight may be served: its calls cannot have been granted to others. */
  mayServe: (life: gateway.Life, id: string) => id === life.id && 0 < life.leasedUntilMs + closeAfterMs,
  /** Whether a request that the block cannot cover after the answer is refused: another request may have drawn the calls, or the answer may be old. */
  refuses: (block: gateway.Block, inFlight: number) => gateway.isUsedUp(block, inFlight, 1),
  /** Whether a new life begins before the next message: the old one may have been closed, and a late message may have reopened it. */
  isOver: ({ hasBegun, leasedUntilMs }: gateway.Life) => hasBegun && 0 >= leasedUntilMs + closeAfterMs,
  /** Returns the undrawn calls of a recalled block. `granted`: the total, as the answer with the grant may be lost. */
  recall: (block: gateway.Block, granted: number) =>
    gateway.returnUndrawnCalls(gateway.applyTotal(block, granted)),
  /** Whether the grant of a lookup belongs to the current month, or to a later one. */
  isOfMonth: (message: Message, month: number) => message.month >= month,
  /** What remains of a returned block: without its totals its calls could be drawn again. */
  evicted: (block: gateway.Block): gateway.Block | null => gateway.returnUndrawnCalls(block),
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

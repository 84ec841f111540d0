// POST /internal/heartbeat: a gateway reports what it has served, and receives changes, grants and the owners of keys. The lease is granted before
// anything is read, so that a change missing from the answer waits for the lease.
import { internalEndpoint } from '../internal-endpoint.ts';
import type { ServiceDeps } from '../deps.ts';
import { endLives, grant, keyOf, noGrant, requirePresentMonth } from './blocks.ts';
import { claimRecalled } from './blocks.sql.ts';
import { selectChanges } from './changes.sql.ts';
import { findCredentials } from './credentials.ts';
import { lease } from './gateways.sql.ts';
import { recordBatch } from './ledger.ts';
import {
  heartbeatAnswer,
  heartbeatMessage,
  type HeartbeatAnswer,
  type HeartbeatMessage,
} from '../../kernel/heartbeat/message.ts';

// A key is answered together with a block for its account's first calls.
const first = { has: 0, calls: 1, ahead: 8 };

export const heartbeat = internalEndpoint({
  body: heartbeatMessage,
  answer: heartbeatAnswer,
  handler: async (deps, { body: message, call, left }) => {
    const { batch, ended, wants, keys, wait_ms: waitMs } = message;
    requirePresentMonth(deps, message.life, wants);
    const changeCount = deps.db.changes.count(); // before the first reading, so that nothing is missed
    const answer = await call.stage('sql', async () => {
      if (batch !== null) await recordBatch(deps, batch);
      if (ended.length > 0) await endLives(deps, ended);
      return ended.includes(message.life) ? closed(message) : answerTo(deps, message);
    });
    const isIdle = batch === null && ended.length + wants.length + keys.length === 0;
    const hasNews = answer.changes?.length !== 0 || answer.recalled.length > 0;
    if (!answer.is_open || !isIdle || hasNews || waitMs === 0) return answer;
    await deps.db.changes.after(changeCount, waitMs, left);
    if (left.aborted) return answer; // the gateway has left, so it must not be granted a lease
    return call.stage('sql', () => answerTo(deps, message));
  },
});

async function answerTo(deps: ServiceDeps, message: HeartbeatMessage): Promise<HeartbeatAnswer> {
  const { db } = deps;
  const { life, seen, begins, wants, keys, month } = message;
  const leased = await lease(db, message);
  if (leased === null) return closed(message);
  if (!begins) db.changes.acknowledged();
  const { upto, gateways, isRecalled, leaseMs } = leased;
  // Everything read from here on includes all changes up to `upto`. While a life begins, all accounts are reported as changed: its gateway
  // may already have cached the answer to another of its first messages.
  const changes = upto === seen ? [] : begins ? null : await selectChanges(db.sequelize, seen, upto);
  const recalled = isRecalled ? await claimRecalled(db, life) : [];
  const credentials = await findCredentials(deps, keys);
  const served = credentials.flatMap((found) => (found?.active === true ? [found.account_id] : []));
  const wanted = new Map(
    [...served.map((account_id) => ({ account_id, month, ...first })), ...wants].map((want) => [
      keyOf(want),
      want,
    ]),
  );
  const grants = await grant(deps, life, gateways, [...wanted.values()]);
  return {
    ...{ is_open: true, upto, lease_ms: leaseMs, changes, gateways, recalled },
    grants: wants.map((want) => grants.get(keyOf(want)) ?? noGrant),
    credentials: credentials.map((found) => {
      if (found === null) return null;
      const { account_id } = found;
      return { ...found, block: grants.get(keyOf({ account_id, month })) ?? null };
    }),
  };
}

/** The answer to a life that is closed, or never began. */
function closed({ wants, keys }: HeartbeatMessage): HeartbeatAnswer {
  return {
    ...{ is_open: false, upto: 0, lease_ms: 0, changes: null, gateways: 0, recalled: [] },
    grants: wants.map(() => noGrant),
    credentials: keys.map(() => null),
  };
}

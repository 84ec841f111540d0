// Keeps the copies of credentials in Redis no older than PostgreSQL. Hides the order in which that is strict: a change is
// committed with a note of itself; the copies are written; the note goes; only then is the change answered. Where a copy
// cannot be written, the generation rises, and the answer waits until no gateway believes the one before: a second at most.
import { setTimeout as pause } from 'node:timers/promises';
import type { Sequelize } from 'sequelize';
import {
  anyLife,
  askAgain,
  copyKey,
  finalRevision,
  refused,
  writeCopy,
  type CredentialCopy,
} from '../kernel/credential-copy.ts';
import { RedisUnavailable, type RedisLink } from '../kernel/redis.ts';
import {
  beginGeneration,
  deleteChanged,
  moveToLife,
  selectChanged,
  selectCopyStates,
  selectGeneration,
  type Generation,
} from './copies.sql.ts';

export interface Copies {
  /** When it resolves, no gateway believes what was before any change that was committed before it was called. */
  settle(): Promise<void>;
  /** Copies credentials in the background, as they were read together with the generation. */
  fill(
    generation: Generation,
    states: readonly { hash: string; revision: number; copy: CredentialCopy }[],
  ): void;
}

/** Thrown where copies are made in one life of the Redis server, and this is another. */
class OtherLife extends Error {
  readonly life: string;

  constructor(life: string) {
    super('This is not the Redis server that copies are made on.');
    this.life = life;
  }
}

const changesMax = 500;
const noLife = 'none yet';
const clockMarginMs = 50;

/** @param redis undefined: none is known here, though gateways may have one. */
export function createCopies(sequelize: Sequelize, redis: RedisLink | undefined): Copies {
  async function write(
    { generation, life }: Generation,
    hash: string,
    revision: number,
    value: string,
  ): Promise<void> {
    if (redis === undefined) throw new RedisUnavailable('There is no Redis here.');
    const expected = redis.isCluster ? anyLife : (life ?? noLife);
    const answer = await redis.run(writeCopy, copyKey(generation, hash), [String(revision), value, expected]);
    if (typeof answer === 'string') throw new OtherLife(answer);
  }

  /** @returns how long a gateway may still believe an older generation, in ms. @throws RedisUnavailable, OtherLife. */
  async function writeAll(hashes: readonly string[]): Promise<number> {
    await redis?.opened();
    const states = new Map((await selectCopyStates(sequelize, hashes)).map((row) => [row.hash, row]));
    // After the states: a copy of a state that is older than ours was then made under this generation, or one before.
    const { beforeEndsInMs, ...generation } = await selectGeneration(sequelize);
    await Promise.all(
      hashes.map((hash) => {
        const state = states.get(hash);
        // Of one that works still, the next look-up makes the new copy.
        const value = state?.works === true ? askAgain : refused;
        return write(generation, hash, state?.revision ?? finalRevision, value);
      }),
    );
    return beforeEndsInMs;
  }

  return {
    // Where PostgreSQL notes no change this is one statement that reads an empty table.
    async settle() {
      for (;;) {
        const changed = await selectChanged(sequelize, changesMax);
        if (changed.length === 0) return;
        let waitMs: number;
        try {
          waitMs = await writeAll([...new Set(changed.map(({ hash }) => hash))]);
        } catch (error) {
          if (!(error instanceof RedisUnavailable || error instanceof OtherLife)) throw error;
          waitMs = await beginGeneration(sequelize, error instanceof OtherLife ? error.life : null);
        }
        if (waitMs > 0) await pause(waitMs + clockMarginMs);
        await deleteChanged(
          sequelize,
          changed.map(({ change_no }) => change_no),
        );
        if (changed.length < changesMax) return;
      }
    },
    fill(generation, states) {
      if (redis === undefined) return;
      for (const { hash, revision, copy } of states) {
        write(generation, hash, revision, JSON.stringify(copy)).catch(async (error: unknown) => {
          if (error instanceof RedisUnavailable) return; // the next look-up asks again
          if (!(error instanceof OtherLife)) throw error;
          await moveToLife(sequelize, error.life).catch(() => undefined); // without PostgreSQL; the next look-up tries again
        });
      }
    },
  };
}

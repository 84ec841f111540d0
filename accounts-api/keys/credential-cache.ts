// Keeps the credential cache in Redis no older than PostgreSQL. Hides the order that makes this strict: a change is committed
// together with a note of itself; the cache entries are written; the note is deleted; only then is the change answered. If an
// entry cannot be written, or gateways keep credentials in their processes, a new generation begins, and the answer waits until no
// gateway uses an earlier one.
import type { Sequelize } from 'sequelize';
import {
  dirtyMarker,
  credentialCacheKey,
  finalRevision,
  freshMs,
  negativeEntry,
  writeCachedCredential,
  type CachedCredential,
} from '../../kernel/credentials/cache.ts';
import { RedisUnavailable, type RedisLink } from '../../kernel/redis.ts';
import {
  beginGeneration,
  deleteChanged,
  moveToReplicationId,
  selectChanged,
  selectCredentialStates,
  selectGeneration,
  type Generation,
} from './credential-cache.sql.ts';
import { createCredentialLeases } from './credential-leases.ts';

export interface CredentialCacheWriter {
  /** Resolves when no gateway uses what was cached before any change that was committed before the call. */
  settle(): Promise<void>;
  /** Caches credentials in the background, as read together with the generation. */
  fill(
    generation: Generation,
    states: readonly {
      hash: string;
      revision: number;
      credential: CachedCredential;
      /** Null: never. */
      expiresInMs: number | null;
    }[],
  ): void;
}

/** Thrown if the cache belongs to a Redis server with another replication id. */
class OtherRedisServer extends Error {
  readonly replicationId: string;

  constructor(replicationId: string) {
    super('This is not the Redis server that the credential cache is on.');
    this.replicationId = replicationId;
  }
}

const changesMax = 500;
const noReplicationId = 'none yet';

/** @param redis undefined: not known here, though gateways may have one. */
export function createCredentialCacheWriter(
  sequelize: Sequelize,
  redis: RedisLink | undefined,
): CredentialCacheWriter {
  const leases = createCredentialLeases(sequelize);

  async function write(
    { generation, replicationId }: Generation,
    hash: string,
    revision: number,
    value: string,
    validMs = freshMs,
  ): Promise<void> {
    if (redis === undefined) throw new RedisUnavailable('There is no Redis here.');
    const other = await writeCachedCredential(redis, credentialCacheKey(generation, hash), {
      revision,
      value,
      replicationId: redis.isCluster ? null : (replicationId ?? noReplicationId),
      validMs,
    });
    if (other !== null) throw new OtherRedisServer(other);
  }

  /** @returns the generation that has the entries. @throws RedisUnavailable, OtherRedisServer. */
  async function writeAll(hashes: readonly string[]): Promise<number> {
    await redis?.opened();
    const states = new Map((await selectCredentialStates(sequelize, hashes)).map((row) => [row.hash, row]));
    // Read after the states: an entry with an older state was therefore written under this generation, or an earlier one.
    const generation = await selectGeneration(sequelize);
    if (await leases.areInProcesses()) return beginGeneration(sequelize, null);
    await Promise.all(
      hashes.map((hash) => {
        const state = states.get(hash);
        // If it is still valid, the next lookup writes the new entry.
        const value = state?.works === true ? dirtyMarker : negativeEntry;
        return write(generation, hash, state?.revision ?? finalRevision, value);
      }),
    );
    return generation.generation;
  }

  return {
    // If PostgreSQL has no changes, this is one statement that reads an empty table.
    async settle() {
      for (;;) {
        const changed = await selectChanged(sequelize, changesMax);
        if (changed.length === 0) return;
        const generation = await writeAll([...new Set(changed.map(({ hash }) => hash))]).catch(
          (error: unknown) => {
            if (error instanceof RedisUnavailable) return beginGeneration(sequelize, null);
            if (error instanceof OtherRedisServer) return beginGeneration(sequelize, error.replicationId);
            throw error;
          },
        );
        await leases.noneBefore(generation);
        await deleteChanged(
          sequelize,
          changed.map(({ change_no }) => change_no),
        );
        if (changed.length < changesMax) return;
      }
    },
    fill(generation, states) {
      if (redis === undefined) return;
      for (const { hash, revision, credential, expiresInMs } of states) {
        const validMs = Math.min(freshMs, expiresInMs ?? freshMs);
        write(generation, hash, revision, JSON.stringify(credential), validMs).catch(async (error: unknown) => {
          if (error instanceof RedisUnavailable) return; // the next lookup retries
          if (!(error instanceof OtherRedisServer)) throw error;
          await moveToReplicationId(sequelize, error.replicationId).catch(() => undefined); // PostgreSQL is down; the next lookup retries
        });
      }
    },
  };
}

// The Redis client of the services, for a single server, Sentinel or Cluster, with our own deadline and a circuit breaker. A dead, stalled, loading
// or read-only Redis is detected in well under a second. The circuit then stays open until Redis answers again, so that no call waits for it.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import type * as Redis from 'redis';
import { createDeadline, TooLate } from './deadline.ts';
import type { Log } from './log/log.ts';

/** The kinds of server that REDIS_URL can name. */
export type RedisTarget =
  | { kind: 'single'; url: string }
  | { kind: 'cluster'; urls: readonly string[] }
  | {
      kind: 'sentinel';
      name: string;
      nodes: readonly { host: string; port: number }[];
      username: string;
      password: string;
    };

/** A Lua script; Redis runs it atomically. All its keys must be in one hash slot. */
export interface Script {
  readonly text: string;
  readonly sha1: string;
}

/** Thrown if Redis cannot be used: dead, stalled, or unable to write. */
export class RedisUnavailable extends Error {}

export interface RedisLink {
  /** For libraries that use the client directly; wrap their calls in `ask`. */
  readonly client: object;
  /** Whether Redis is in use: false after a fault, until it answers again. */
  readonly isUsable: boolean;
  /** Whether keys may be on several servers; a script then runs with one key. */
  readonly isCluster: boolean;
  /** Redis' clock minus ours, in ms, at the last heartbeat. */
  readonly clockOffsetMs: number;
  /** Runs a script. @throws RedisUnavailable. */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** Runs work on the client with the same deadline. @throws RedisUnavailable. */
  ask<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when Redis has answered for the first time, or after a while. */
  opened(): Promise<void>;
  close(): void;
}

// Redis answers in well under 1 ms; after this time it counts as stalled. node-redis' own command timeout does not cover commands already written, so
// the deadline is ours.
export const redisDeadlineMs = 200;
/** The defaults of new connections. Test processes on a busy machine allow Redis more time. */
export const redisDefaults = { deadlineMs: redisDeadlineMs };
const heartbeatMs = 400;
// A connection without an answer for this long may be half-open: its other end has vanished without closing it.
const silentMaxMs = 5_000;
const connectAgainAfterMs = 1_000;
const remindEveryMs = 60_000;
const openWithinMs = 1_000;

/** The text of a script next to a module. @param url `new URL('name.lua', import.meta.url)`. */
export function luaFile(url: URL): string {
  return readFileSync(url, 'utf8');
}

export function script(text: string): Script {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}

const authority = /^[^\s/@,]+$/;

/**
 * Reads `redis://…`, `rediss://…`, `redis+cluster://[user:password@]host:port,host:port` or
 * `redis+sentinel://[user:password@]host:port,host:port/name`. @returns null for any other text.
 */
export function parseRedisUrl(text: string): RedisTarget | null {
  const several = /^redis(s?)\+(cluster|sentinel):\/\/(?:([^@/]*)@)?([^@/]+)(?:\/([A-Za-z0-9._-]+))?$/.exec(
    text,
  );
  if (several === null) {
    const url = URL.parse(text);
    return url !== null && /^rediss?:$/.test(url.protocol) ? { kind: 'single', url: text } : null;
  }
  const [, tls = '', kind, credentials, hosts = '', name] = several;
  const list = hosts.split(',');
  if (!list.every((host) => authority.test(host))) return null;
  if (kind === 'cluster') {
    const user = credentials === undefined ? '' : `${credentials}@`;
    return { kind: 'cluster', urls: list.map((host) => `redis${tls}://${user}${host}`) };
  }
  const nodes = list.flatMap((host) => URL.parse(`redis://${host}`) ?? []);
  if (name === undefined || tls !== '' || nodes.length < list.length) return null;
  const [username = '', password = ''] = (/^([^:]*):?(.*)$/s.exec(credentials ?? '') ?? [])
    .slice(1)
    .map(decodeURIComponent);
  return {
    kind: 'sentinel',
    name,
    nodes: nodes.map(({ hostname, port }) => ({
      host: hostname.replace(/^\[(.*)\]$/, '$1'), // an IPv6 address
      port: Number(port) || 26_379,
    })),
    username,
    password,
  };
}

/** The part of node-redis that is used; its three clients have it in common, but no shared type. */
interface Client {
  on(event: 'error', listener: (error: unknown) => void): unknown;
  connect(): Promise<unknown>;
  eval(text: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  destroy(): unknown;
}

// Writes, so that a replica or a full disk is noticed; also returns the time.
const heartbeat = script(
  `redis.call('set', KEYS[1], '1', 'px', '10000') local t = redis.call('time') return t[1] * 1000 + math.floor(t[2] / 1000)`,
);

/**
 * Opens the connection and keeps it open; no caller waits for it. While Redis is unavailable, a warning is logged at once and then every minute.
 * @param deadlineMs of each command. @param silentMs how long a connection may be silent before it is replaced. @throws Error if the URL is
 * malformed.
 */
export function openRedis(
  url: string,
  log: Log,
  {
    deadlineMs = redisDefaults.deadlineMs,
    warnEveryMs = remindEveryMs,
    silentMs = silentMaxMs,
  }: { deadlineMs?: number; warnEveryMs?: number; silentMs?: number } = {},
): RedisLink {
  const target = parseRedisUrl(url);
  if (target === null) throw new Error('The URL of Redis cannot be parsed.');
  const isCluster = target.kind === 'cluster';
  const client = createFor(target);
  let usable = false;
  let closed = false;
  let lastFault: unknown;
  let connectionFault: unknown; // more specific than the errors of the commands that fail because of it
  let warnedAtMs = -Infinity;
  let faults = 0;
  let clockOffsetMs = 0;
  const first = Promise.withResolvers<void>();
  client.on('error', (error: unknown) => fault((connectionFault = error)));
  const connecting = client.connect().catch((error: unknown) => fault((connectionFault = error)));

  function fault(error: unknown): void {
    lastFault = error;
    faults += 1;
    if (usable) warnedAtMs = -Infinity;
    usable = false;
    warn();
  }

  function warn(): void {
    const nowMs = performance.now();
    if (closed || nowMs - warnedAtMs < warnEveryMs) return;
    warnedAtMs = nowMs;
    const err = connectionFault ?? lastFault;
    log.warn({ err }, 'Redis does not answer correctly: the circuit is open, and calls continue without it');
  }

  const circuitOpen = () =>
    new RedisUnavailable('The circuit to Redis is open after a fault', { cause: lastFault });

  const deadline = createDeadline(deadlineMs);
  /** When each unanswered command was sent. */
  const unanswered = new Set<{ readonly sinceMs: number }>();

  async function bounded<T>(work: () => Promise<T>): Promise<T> {
    const asked = { sinceMs: performance.now() };
    unanswered.add(asked);
    const forget = () => void unanswered.delete(asked);
    try {
      const working = work();
      working.then(forget, forget);
      return await deadline.wait(working);
    } catch (error) {
      fault(error);
      const why = error instanceof TooLate ? `Redis did not answer within ${deadlineMs} ms` : 'Redis failed';
      throw new RedisUnavailable(why, { cause: error });
    }
  }

  async function evaluate({ text, sha1 }: Script, keys: string[], args: string[]): Promise<unknown> {
    const options = { keys, arguments: args };
    try {
      return await client.evalSha(sha1, options);
    } catch (error) {
      // The script is not cached there, so it did not run and may be sent again.
      if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return client.eval(text, options);
      throw error;
    }
  }

  async function beat(): Promise<void> {
    const sentAt = Date.now();
    const before = faults;
    try {
      const time = Number(await bounded(() => evaluate(heartbeat, ['almanac:heartbeat'], [])));
      clockOffsetMs = time - (sentAt + Date.now()) / 2;
      if (faults !== before) return; // sent before the fault, so its answer does not describe the state after it
      if (!usable && !closed) log.info('Redis answers');
      usable = true;
      connectionFault = undefined;
      first.resolve();
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error; // `fault` has logged it
    }
  }

  let isOpen = true;

  /** Fails all unanswered commands and reconnects; a half-open connection would never report itself while it is written to. */
  async function connectAnew(): Promise<void> {
    log.warn(`Redis has not answered for ${silentMs} ms: its connections are replaced`);
    for (;;) {
      try {
        if (isOpen) await client.destroy();
        isOpen = false;
        unanswered.clear();
        if (closed) return;
        isOpen = true;
        await client.connect();
        return;
      } catch (error) {
        fault((connectionFault = error));
        await pause(connectAgainAfterMs);
      }
    }
  }

  /** The first in the set is the oldest. */
  const isSilent = () => {
    for (const { sinceMs } of unanswered) return performance.now() - sinceMs > silentMs;
    return false;
  };

  let beating = true; // nothing is sent before the connection is open
  const pulse = setInterval(() => {
    if (lastFault !== undefined && !usable) warn();
    if (beating) return;
    beating = true;
    void (isSilent() ? connectAnew().then(beat) : beat()).finally(() => void (beating = false));
  }, heartbeatMs);
  void connecting.then(beat).finally(() => void (beating = false));

  return {
    client,
    get isUsable() {
      return usable;
    },
    isCluster,
    get clockOffsetMs() {
      return clockOffsetMs;
    },
    ask: (work) => (usable ? bounded(work) : Promise.reject(circuitOpen())),
    run: (which, keys, args) =>
      usable ? bounded(() => evaluate(which, [...keys], [...args])) : Promise.reject(circuitOpen()),
    opened: () =>
      Promise.race([first.promise, new Promise<void>((resolve) => setTimeout(resolve, openWithinMs))]),
    close() {
      closed = true;
      usable = false;
      clearInterval(pulse);
      first.resolve();
      if (isOpen) void client.destroy();
    },
  };
}

function createFor(target: RedisTarget): Client {
  // Loaded here: its 650 modules use 30 MiB (2026-11-23), which a process without Redis saves.
  const { createClient, createCluster, createSentinel } = createRequire(import.meta.url)(
    'redis',
  ) as typeof Redis;
  const connection = {
    disableOfflineQueue: true, // fail at once while disconnected
    commandsQueueMaxLength: 10_000,
    commandOptions: { timeout: 0 }, // it would create a timer and a signal per command, and covers only commands not yet written
    pingInterval: 1_000, // with socketTimeout: replaces an unused half-open connection, such as one to a cluster node
    socket: {
      connectTimeout: 1_000,
      socketTimeout: 5_000,
      reconnectStrategy: (attempt: number) => Math.min(50 * 2 ** attempt, 1_000),
    },
  };
  if (target.kind === 'single') return createClient({ url: target.url, ...connection });
  if (target.kind === 'cluster') {
    const rootNodes = target.urls.map((url) => ({ url }));
    return createCluster({ rootNodes, defaults: connection });
  }
  const { name, nodes, username, password } = target;
  return createSentinel({
    name,
    sentinelRootNodes: [...nodes],
    nodeClientOptions: {
      ...connection,
      ...(username === '' ? {} : { username }),
      ...(password === '' ? {} : { password }),
    },
    scanInterval: 1_000,
    passthroughClientErrorEvents: true,
  });
}

// Decides which server a call reads from, if there is a replica: the replica while it has every load that can have been reported as done,
// else the primary; while the primary does not respond, the replica for a bounded time.
import type { Queryable } from '../kernel/database.ts';
import { createDeadline } from '../kernel/deadline.ts';
import { fail, Failure, toFailure } from '../kernel/errors.ts';
import type { Handler, Route } from '../kernel/http/server.ts';
import { answerLeaseMs } from '../kernel/http/validity.ts';
import type { Log } from '../kernel/log/log.ts';
import type { Loads } from './loads.ts';
import { readNewestLoad } from './loads.sql.ts';

export type ServerName = 'primary' | 'replica';

/** A monitored server. */
export interface WatchedServer {
  /**
   * A connection for the probes alone, so that they never wait behind a read. It stays open while the server stalls, so callers must set
   * their own deadline.
   */
  probeConnection: Queryable;
  /** Reads from it include the loads recorded here. */
  loads: Pick<Loads, 'note'>;
}

export interface ReplicaWatch {
  /** The server for all statements of a call that begins now. @throws Failure `unavailable`. */
  choose(): ServerName;
  /**
   * Reports a statement that failed because its connection broke. Resolves when `choose` takes the failure into account; for a stalled
   * primary, once its probe is late.
   */
  noteFault(server: ServerName): Promise<void>;
  close(): void;
}

export interface ReplicaWatchOptions {
  primary: WatchedServer;
  replica: WatchedServer;
  /** For how long the replica is read while the primary does not respond, counted from when it was last known to have all loads. */
  lagMaxMs: number;
  log: Log;
}

const askEveryMs = 100;
/** A probe without a reply after this time means that the server is stalled; a slow primary is waited for, as it may have new loads. */
const stalledAfterMs = 3_000;

/** The probes of one server, one after the other. */
interface Probes {
  /** When the last answered probe was sent. */
  askedAtMs: number;
  /** The newest load, by that answer. */
  load: number;
  /** `known` resolves when the probe is answered, has failed or is late: then it is known whether the server is available. */
  inFlight: { isLate: boolean; known: Promise<void> } | undefined;
  hasFailed: boolean;
}

const noProbes = (load: number): Probes => ({
  ...{ askedAtMs: -Infinity, load, inFlight: undefined, hasFailed: false },
});

/**
 * A load that is committed after the primary was probed is reported as done more than `answerLeaseMs` later (`visibleAfterMs`). So a
 * replica that has the newest load of a reply may be read for that long, counted from the probe.
 */
export function watchReplica({ primary, replica, lagMaxMs, log }: ReplicaWatchOptions): ReplicaWatch {
  const servers = { primary, replica };
  const probes = { primary: noProbes(Infinity), replica: noProbes(-1) };
  const deadline = createDeadline(stalledAfterMs);
  let currentAtMs = -Infinity; // the replica had all loads that the primary had then
  let reported: string | undefined;
  let isClosed = false;

  function ask(name: ServerName): Promise<void> {
    const asked = probes[name];
    if (asked.inFlight !== undefined) return asked.inFlight.known;
    const inFlight = { isLate: false, known: Promise.resolve() };
    asked.inFlight = inFlight;
    const ended = askNow(name).finally(() => (asked.inFlight = undefined));
    inFlight.known = deadline.wait(ended).catch(() => void (inFlight.isLate = true));
    return inFlight.known;
  }

  async function askNow(name: ServerName): Promise<void> {
    const asked = probes[name];
    const askedAtMs = performance.now();
    const { probeConnection: connection, loads } = servers[name];
    try {
      // Only the connection may have been closed: a new one shows whether the server responds.
      const load = await readNewestLoad(connection).catch(() => readNewestLoad(connection));
      loads.note(load);
      Object.assign(asked, { askedAtMs, load, hasFailed: false });
    } catch (error) {
      if (!asked.hasFailed && !isClosed) log.warn({ err: error }, `the ${name} database does not answer`);
      asked.hasFailed = true;
    }
    if (probes.replica.load < probes.primary.load) return;
    currentAtMs = Math.max(currentAtMs, Math.min(probes.primary.askedAtMs, probes.replica.askedAtMs));
  }

  function isUnavailable({ hasFailed, inFlight }: Probes): boolean {
    return hasFailed || inFlight?.isLate === true;
  }

  function decide(): ServerName | 'none' {
    const ageMs = performance.now() - currentAtMs;
    if (ageMs < answerLeaseMs && !probes.replica.hasFailed) return 'replica';
    if (!isUnavailable(probes.primary)) return 'primary';
    return ageMs < lagMaxMs ? 'replica' : 'none';
  }

  function report(): void {
    const now = `${decide()}${isUnavailable(probes.primary) ? '; the primary does not answer' : ''}`;
    if (now !== reported && reported !== undefined) log.warn(`data is read from: ${now}`);
    reported = now;
  }

  const asking = setInterval(() => {
    void ask('primary');
    void ask('replica');
    report();
  }, askEveryMs);

  return {
    choose() {
      const server = decide();
      if (server !== 'none') return server;
      return fail(
        'unavailable',
        `The primary database does not answer, and the replica has not heard from it for more than ${lagMaxMs} ms (REPLICA_LAG_MAX_MS). Try again.`,
        { headers: { 'retry-after': '2' } },
      );
    },
    async noteFault(server) {
      if (server === 'replica')
        probes.replica.hasFailed = true; // until it answers a probe
      else await ask('primary'); // one broken connection does not justify reading older data
    },
    close() {
      isClosed = true;
      clearInterval(asking);
    },
  };
}

// A statement that a replica has cancelled, because it had to replay the removal of rows that the statement reads.
const conflictCode = '40001';

/**
 * The routes of both servers as one: a single server handles each call as a whole. If that server is lost before anything was sent, the
 * other one handles the call, if it may be read.
 */
export function routesOfEither(
  watch: Pick<ReplicaWatch, 'choose' | 'noteFault'>,
  routes: Readonly<Record<ServerName, readonly Route[]>>,
): Route[] {
  return routes.primary.map((route, i) => {
    const handlers = { primary: route.handler, replica: routes.replica[i]?.handler ?? route.handler };
    return { ...route, handler: ofEither(watch, handlers) };
  });
}

function ofEither(
  watch: Pick<ReplicaWatch, 'choose' | 'noteFault'>,
  handlers: Readonly<Record<ServerName, Handler>>,
): Handler {
  return async (request, response, call) => {
    const first = watch.choose();
    try {
      await handlers[first](request, response, call);
    } catch (error) {
      const isConflict = (error as { code?: unknown }).code === conflictCode;
      const isFault = !(error instanceof Failure) && toFailure(error).code === 'unavailable';
      if (response.headersSent || !(isConflict || isFault)) throw error;
      if (!isConflict) await watch.noteFault(first);
      const second = isConflict ? 'primary' : watch.choose();
      if (second === first) throw error;
      await handlers[second](request, response, call);
    }
  };
}

// Decides which server a call reads from, if there is a replica: the replica while it holds every load that can have been reported as
// done, else the primary; while the primary does not answer, the replica for a bounded time. Hides the questions asked of both.
import type { Queryable } from '../kernel/database.ts';
import { createDeadline } from '../kernel/deadline.ts';
import { fail, Failure, toFailure } from '../kernel/errors.ts';
import type { Handler, Route } from '../kernel/http/server.ts';
import { answerLeaseMs } from '../kernel/http/validity.ts';
import type { Log } from '../kernel/log/log.ts';
import type { Loads } from './loads.ts';
import { readNewestLoad } from './loads.sql.ts';

export type ServerName = 'primary' | 'replica';

/** A server, as it is watched. */
export interface WatchedServer {
  /**
   * A connection for the questions alone, so that they never wait behind a read. It stays open while the server stalls, so callers must
   * set a deadline of their own.
   */
  questions: Queryable;
  /** What is read from it includes the loads noted here. */
  loads: Pick<Loads, 'note'>;
}

export interface ReplicaWatch {
  /** The server that a call reads from which begins now; for all of its statements. @throws Failure `unavailable`. */
  choose(): ServerName;
  /**
   * Reports a statement that failed because its connection broke. Resolves when `choose` takes the fault into account; for a stalled
   * primary, once its question is late.
   */
  noteFault(server: ServerName): Promise<void>;
  close(): void;
}

export interface ReplicaWatchOptions {
  primary: WatchedServer;
  replica: WatchedServer;
  /** For how long the replica is read while the primary does not answer, counted from when it was last known to hold all loads. */
  lagMaxMs: number;
  log: Log;
}

const askEveryMs = 100;
/** A question that is not answered for so long means that the server is stalled; a slow primary is waited for, as it may have new loads. */
const stalledAfterMs = 3_000;

/** The questions that one server is asked, one after the other. */
interface Questions {
  /** When the question was asked that was answered last. */
  askedAtMs: number;
  /** The newest load, by that answer. */
  load: number;
  /** `known` resolves when the question is answered, has failed or is late: then it is known whether the server is away. */
  underWay: { isLate: boolean; known: Promise<void> } | undefined;
  hasFailed: boolean;
}

const noQuestions = (load: number): Questions => ({
  ...{ askedAtMs: -Infinity, load, underWay: undefined, hasFailed: false },
});

/**
 * A load that is committed after the primary was asked is reported as done later than `answerLeaseMs` after that (`inForceAfterMs`). So a
 * replica that has the newest load of an answer may be read for that long, counted from the question.
 */
export function watchReplica({ primary, replica, lagMaxMs, log }: ReplicaWatchOptions): ReplicaWatch {
  const servers = { primary, replica };
  const questions = { primary: noQuestions(Infinity), replica: noQuestions(-1) };
  const deadline = createDeadline(stalledAfterMs);
  let currentAtMs = -Infinity; // the replica had all loads that the primary had then
  let told: string | undefined;
  let isClosed = false;

  function ask(name: ServerName): Promise<void> {
    const asked = questions[name];
    if (asked.underWay !== undefined) return asked.underWay.known;
    const underWay = { isLate: false, known: Promise.resolve() };
    asked.underWay = underWay;
    const ended = askNow(name).finally(() => (asked.underWay = undefined));
    underWay.known = deadline.wait(ended).catch(() => void (underWay.isLate = true));
    return underWay.known;
  }

  async function askNow(name: ServerName): Promise<void> {
    const asked = questions[name];
    const askedAtMs = performance.now();
    const { questions: connection, loads } = servers[name];
    try {
      // The connection alone may have been ended: what counts is whether the server answers on another one.
      const load = await readNewestLoad(connection).catch(() => readNewestLoad(connection));
      loads.note(load);
      Object.assign(asked, { askedAtMs, load, hasFailed: false });
    } catch (error) {
      if (!asked.hasFailed && !isClosed) log.warn({ err: error }, `the ${name} database does not answer`);
      asked.hasFailed = true;
    }
    if (questions.replica.load < questions.primary.load) return;
    currentAtMs = Math.max(currentAtMs, Math.min(questions.primary.askedAtMs, questions.replica.askedAtMs));
  }

  function isAway({ hasFailed, underWay }: Questions): boolean {
    return hasFailed || underWay?.isLate === true;
  }

  function decide(): ServerName | 'none' {
    const ageMs = performance.now() - currentAtMs;
    if (ageMs < answerLeaseMs && !questions.replica.hasFailed) return 'replica';
    if (!isAway(questions.primary)) return 'primary';
    return ageMs < lagMaxMs ? 'replica' : 'none';
  }

  function tell(): void {
    const now = `${decide()}${isAway(questions.primary) ? '; the primary does not answer' : ''}`;
    if (now !== told && told !== undefined) log.warn(`data is read from: ${now}`);
    told = now;
  }

  const asking = setInterval(() => {
    void ask('primary');
    void ask('replica');
    tell();
  }, askEveryMs);

  return {
    choose() {
      const server = decide();
      if (server !== 'none') return server;
      return fail(
        'unavailable',
        `The primary database does not answer, and the replica has been without word from it for more than ${lagMaxMs} ms (REPLICA_LAG_MAX_MS). Try again.`,
        { headers: { 'retry-after': '2' } },
      );
    },
    async noteFault(server) {
      if (server === 'replica')
        questions.replica.hasFailed = true; // until it answers a question
      else await ask('primary'); // one broken connection is no reason to read what may be older
    },
    close() {
      isClosed = true;
      clearInterval(asking);
    },
  };
}

// A statement that a replica has cancelled, as it had to replay what removes rows that the statement reads.
const conflictCode = '40001';

/**
 * The routes of both servers as one: each call is handled by one of them as a whole. A call whose server is lost before anything was
 * sent is handled by the other one, if that may be read.
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

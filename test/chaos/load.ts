// The load: clients that read, accounts that exceed a small limit, keys that are revoked while in use.
import { setTimeout as pause } from 'node:timers/promises';
import type { Caller, Clients, Question, Seen } from './calls.ts';
import type { Random } from './random.ts';
import type { Service } from './units.ts';

export interface Load {
  /** Resolves when all who were calling have had their last answer. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  clients: Clients;
  gateways: readonly Service[];
  random: Random;
}

const refusedPauseMs = 50;

/** Calls while `isRunning` is true, one call after another, each to the next gateway. */
export async function callRepeatedly(
  { clients, gateways }: LoadOptions,
  random: Random,
  isRunning: () => boolean,
  next: () => { who: Caller; question: Question; allowed?: readonly number[] },
  onAnswer: (seen: Seen) => void = () => undefined,
): Promise<void> {
  while (isRunning()) {
    const { who, question, allowed } = next();
    const answer = await clients.ask(random.pick(gateways), who, question, allowed);
    if (answer !== null) onAnswer(answer);
    if (answer === null || answer.status === null || answer.status >= 500) await pause(refusedPauseMs);
  }
}

/** Readers with accounts whose limit is far away. */
export function read(options: LoadOptions, who: readonly Caller[], questions: readonly Question[]): Load {
  let stopped = false;
  const loops = Array.from({ length: 8 }, () => {
    const random = options.random.fork();
    const next = () => ({ who: random.pick(who), question: random.pick(questions) });
    return callRepeatedly(options, random, () => !stopped, next);
  });
  return {
    async stop() {
      stopped = true;
      await Promise.all(loops);
    },
  };
}

/** Drives one account after the other over its limit, through all gateways at once. */
export function driveOver(options: LoadOptions, who: readonly Caller[], question: Question): Load {
  let stopped = false;
  async function drive(account: Caller): Promise<void> {
    let refusals = 0;
    await Promise.all(
      Array.from({ length: 8 }, () =>
        callRepeatedly(
          options,
          options.random.fork(),
          () => !stopped && refusals < 40,
          () => ({ who: account, question, allowed: [402] }),
          ({ status }) => {
            if (status === 402) refusals += 1;
          },
        ),
      ),
    );
  }
  const driving = (async () => {
    for (const account of who) if (!stopped) await drive(account);
  })();
  return {
    async stop() {
      stopped = true;
      await driving;
    },
  };
}

/** A key to be revoked, and the key of the same account that revokes it. */
export interface Victim extends Caller {
  keyId: string;
  manager: Caller;
}

export interface Revocations extends Load {
  readonly revoked: number;
  /** Calls that began after the answer to the revocation. */
  readonly calledAfter: number;
  /** Of those, the accepted ones. */
  readonly accepted: readonly string[];
  /** Revocations that were not answered 204, and were asked for again. */
  readonly repeated: number;
  readonly revokedVictims: readonly Victim[];
  /** Asked to be revoked, and not answered that they are. */
  readonly unanswered: ReadonlySet<Victim>;
}

/**
 * Revokes key after key, each already in use, and continues to call with all revoked keys.
 * @param atOnce how many are being revoked at any time.
 */
export function revoke(
  options: LoadOptions,
  victims: readonly Victim[],
  question: Question,
  atOnce = 2,
): Revocations {
  const { clients, gateways } = options;
  const random = options.random.fork();
  const until = { stopped: false };
  let calledAfter = 0;
  let repeated = 0;
  const accepted: string[] = [];
  const revoked: { victim: Victim; atMs: number }[] = [];
  const unanswered = new Set<Victim>();

  async function revokeOne(victim: Victim): Promise<void> {
    let atMs = Infinity;
    const watch = ({ status, startedAtMs }: Seen) => {
      if (startedAtMs <= atMs) return;
      calledAfter += 1;
      if (status !== null && status < 400) {
        accepted.push(
          `${victim.keyId}: ${status} to a call that began ${(startedAtMs - atMs).toFixed(1)} ms after`,
        );
      }
    };
    let inUse = true;
    const use = Array.from({ length: 3 }, () =>
      callRepeatedly(
        options,
        random.fork(),
        () => inUse,
        () => ({ who: victim, question, allowed: [401] }),
        watch,
      ),
    );
    await pause(random.between(20, 150));
    const deletion: Question = { path: `/v1/keys/${victim.keyId}`, method: 'DELETE', status: 204, calls: 0 };
    while (!until.stopped) {
      unanswered.add(victim);
      const answer = await clients.ask(random.pick(gateways), victim.manager, deletion);
      if (answer?.status === 204) {
        unanswered.delete(victim);
        atMs = answer.endedAtMs;
        revoked.push({ victim, atMs });
        break;
      }
      repeated += 1;
      await pause(refusedPauseMs);
    }
    await pause(100);
    inUse = false;
    await Promise.all(use);
  }

  /** Even long after: a key that was refused once stays refused. */
  async function tryAgain(): Promise<void> {
    const again = random.fork();
    while (!until.stopped) {
      const one = revoked.length === 0 ? undefined : again.pick(revoked);
      const answer = one && (await clients.ask(again.pick(gateways), one.victim, question, [401]));
      if (answer) {
        calledAfter += 1;
        if (answer.status !== null && answer.status < 400) {
          accepted.push(`${one.victim.keyId}: ${answer.status} to a call that began long after`);
        }
      }
      await pause(5);
    }
  }

  const lanes = Array.from({ length: atOnce }, async (_, lane) => {
    for (const [i, victim] of victims.entries())
      if (i % atOnce === lane && !until.stopped) await revokeOne(victim);
  });
  const work = Promise.all([...lanes, tryAgain()]);
  return {
    get revoked() {
      return revoked.length;
    },
    get calledAfter() {
      return calledAfter;
    },
    accepted,
    get repeated() {
      return repeated;
    },
    get revokedVictims() {
      return revoked.map(({ victim }) => victim);
    },
    unanswered,
    async stop() {
      until.stopped = true;
      await work;
    },
  };
}

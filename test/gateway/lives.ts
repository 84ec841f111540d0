// Gateways reduced to their heartbeat: the real modules with the real accounts-api and PostgreSQL, the clock of the test, and journals that are sent
// on request.
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { closeLives } from '../../accounts-api/heartbeat/blocks.ts';
import { createAccounts } from '../../gateway/accounts-client.ts';
import type { Charge } from '../../gateway/heartbeat/blocks.ts';
import type { Heartbeat } from '../../gateway/heartbeat/heartbeat.ts';
import { createLeasedState } from '../../gateway/heartbeat/leased-state.ts';
import { BatchRefused, type Journal } from '../../gateway/heartbeat/journal.ts';
import type { HeartbeatAnswer, HeartbeatMessage } from '../../kernel/heartbeat/message.ts';
import type { Reservation } from '../../gateway/heartbeat/month-quota.ts';
import type { QuotaOutage } from '../../gateway/heartbeat/quota-outage.ts';
import { createUpstreams } from '../../gateway/upstream/upstreams.ts';
import { Failure } from '../../kernel/errors.ts';
import { closeAfterMs, leaseMs } from '../../kernel/heartbeat/times.ts';
import type { AccountsService } from '../services/accounts-service.ts';
import { silentLog, testIdentitySecret } from '../services/harness.ts';
import { until } from '../run/until.ts';

export interface LifeOptions {
  outage?: QuotaOutage;
  /** The directory of its journal. */
  journalDirectory?: string;
  /** How a message reaches accounts-api; by default unchanged. */
  through?: (
    message: HeartbeatMessage,
    send: (message: HeartbeatMessage) => Promise<HeartbeatAnswer>,
  ) => Promise<HeartbeatAnswer>;
  /** Whether the clock of its leases advances by itself; by default it does. */
  clockAdvances?: boolean;
  /** How often the journal is sent automatically; by default only on request. */
  flushEveryMs?: number;
}

/** One process of a gateway. */
export interface GatewayLife {
  readonly heartbeat: Heartbeat;
  readonly journal: Journal;
  /** The number of keys that it has requested from accounts-api. */
  readonly keysAsked: () => number;
  /** How often it has requested calls from accounts-api. */
  readonly wantsAsked: () => number;
  /** Whether a call with the key is accepted; 503 counts as refused. */
  opensFor(keyHash: string): Promise<boolean>;
  /** Reserves calls, which are in flight until their charge ends. */
  begin(accountId: string, calls: number): Promise<Reservation>;
  /** Reserves calls and serves them at once. */
  serve(accountId: string, calls: number): Promise<Reservation>;
  /** Sends the whole journal. */
  flushJournal(): Promise<void>;
  /** Advances the clock of its leases. */
  pass(ms: number): void;
  /** Simulates a kill: it sends nothing more. @returns a directory with its journal as stored on the disk. */
  crash(): string;
  /** Stops it like a gateway. */
  close(): Promise<void>;
}

export async function startLife(
  service: Pick<AccountsService, 'url' | 'clock'>,
  {
    outage = 'bounded',
    journalDirectory,
    through,
    flushEveryMs = 2 ** 30,
    clockAdvances = true,
  }: LifeOptions = {},
): Promise<GatewayLife> {
  const upstreams = createUpstreams('accounts-api', [service.url]);
  const accounts = createAccounts(upstreams, testIdentitySecret);
  const { clock } = service;
  // Begins at the clock of the test, and advances meanwhile.
  const startMs = clock.now().getTime();
  const nowMs = () => (clockAdvances ? performance.now() : 0) + clock.now().getTime() - startMs + passedMs;
  let hasCrashed = false;
  let keysAsked = 0;
  let wantsAsked = 0;
  let passedMs = 0;
  const { heartbeat, journal, credentials, month, ...leasedState } = createLeasedState(
    {
      async send(message) {
        if (hasCrashed)
          throw message.batch === null
            ? new Failure('unavailable', 'It has crashed.')
            : new BatchRefused('It has crashed.');
        keysAsked += message.keys.length;
        wantsAsked += message.wants.length;
        return through === undefined ? accounts.heartbeat(message) : through(message, accounts.heartbeat);
      },
      ...{ outage, flushEveryMs, closeWithinMs: 10_000, clock, log: silentLog },
    },
    nowMs,
  );
  if (journalDirectory !== undefined) journal.persistIn(journalDirectory);
  await heartbeat.open();
  const begin = async (accountId: string, calls: number) => month.reserve(accountId, calls);
  return {
    ...{ heartbeat, journal, begin },
    keysAsked: () => keysAsked,
    wantsAsked: () => wantsAsked,
    async opensFor(keyHash) {
      try {
        return (await credentials.find(keyHash)) !== null;
      } catch (error) {
        if (error instanceof Failure && error.code === 'unavailable') return false; // answered 503
        throw error;
      }
    },
    async serve(accountId, calls) {
      const reservation = await begin(accountId, calls);
      reservation.charge?.end(true);
      return reservation;
    },
    flushJournal: () =>
      until('the journal is sent', async () => {
        await journal.flush();
        const { entries, batches } = journal.backlog();
        return entries + batches === 0;
      }),
    pass: (ms) => void (passedMs += ms),
    crash() {
      const left = newDirectory();
      if (journalDirectory !== undefined) cpSync(journalDirectory, left, { recursive: true });
      hasCrashed = true;
      heartbeat.close();
      accounts.close();
      void journal.close();
      return left;
    },
    async close() {
      await leasedState.close();
      accounts.close();
    },
  };
}

/** Whether the charge may still be served. */
export function isValid(charge: Charge | null): boolean {
  return charge?.isValid === true;
}

/** An empty directory. */
export const newDirectory = () => mkdtempSync(path.join(tmpdir(), 'almanac-life-'));

/** The connection from a gateway to accounts-api. */
export interface Way {
  readonly through: NonNullable<LifeOptions['through']>;
  /** Fails the messages in flight, and all later ones. */
  cut(): void;
  /** Loses the answers: requests are executed, but their answers are dropped. */
  deafen(): void;
  /** Delays answers until `mend`. */
  delay(): void;
  /** Sends every message twice; only the second answer arrives. */
  double(): void;
  mend(): void;
  /** The number of messages that accounts-api has answered. */
  answered(): number;
}

export function createWay(): Way {
  let how: 'well' | 'cut' | 'deaf' | 'kept back' | 'doubled' = 'well';
  let broken = Promise.withResolvers<never>();
  let mended = Promise.withResolvers<void>();
  let answered = 0;
  broken.promise.catch(() => undefined); // the sender receives the error
  const unavailable = () => new Failure('unavailable', 'The way is broken.');
  const become = (next: typeof how) => () => {
    if (next === 'well') mended.resolve();
    else if (how === 'well') mended = Promise.withResolvers();
    how = next;
  };
  return {
    async through(message, send) {
      if (how === 'cut') throw unavailable();
      if (how === 'doubled') await send(message);
      const answer = await Promise.race([send(message), broken.promise]);
      answered += 1;
      if (how === 'kept back') await mended.promise;
      else if (how !== 'well' && how !== 'doubled') throw unavailable();
      return answer;
    },
    cut() {
      become('cut')();
      broken.reject(unavailable());
      broken = Promise.withResolvers();
      broken.promise.catch(() => undefined);
    },
    deafen: become('deaf'),
    delay: become('kept back'),
    double: become('doubled'),
    mend: become('well'),
    answered: () => answered,
  };
}

type Silent = Pick<GatewayLife, 'pass' | 'heartbeat'>;

/** Advances the clocks of silent lives, and of PostgreSQL for their leases. */
export async function passSilently(
  { deps }: Pick<AccountsService, 'deps'>,
  lives: readonly Silent[],
  ms: number,
): Promise<void> {
  for (const life of lives) life.pass(ms);
  await passLeases(deps, idsOf(lives), ms);
}

const idsOf = (lives: readonly Silent[]): string[] => lives.map(({ heartbeat }) => heartbeat.life());

async function passLeases(
  { db }: AccountsService['deps'],
  ids: readonly string[],
  ms: number,
): Promise<void> {
  await db.sequelize.query(
    `update accounts.gateways set leased_until = leased_until - $2 * interval '1 ms'
     where life = any($1::uuid[]) and leased_until > '-infinity'`,
    { bind: [ids, ms] },
  );
}

/** Longer than a lease plus the time after which a silent life is closed. */
const longSilenceMs = leaseMs + closeAfterMs + 1_000;

/** Keeps lives silent until they are closed. */
export async function closeSilent(
  service: Pick<AccountsService, 'deps'>,
  lives: readonly Silent[],
): Promise<void> {
  const ids = idsOf(lives); // a gateway without a lease begins another life meanwhile
  for (const life of lives) life.pass(longSilenceMs);
  await until('they are closed', async () => {
    // Repeated, as an earlier message may be answered only now, and grant a lease whose answer is lost.
    await passLeases(service.deps, ids, longSilenceMs);
    await closeLives(service.deps);
    const [rows] = await service.deps.db.sequelize.query(
      `select from accounts.gateways where life = any($1::uuid[]) and leased_until > '-infinity'`,
      { bind: [ids] },
    );
    return rows.length === 0;
  });
}

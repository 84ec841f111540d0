// The part of `almanac check` about monitoring: clocks, the replica, metrics, traces, and Redis's behaviour when it is full.
import { openRedis, script } from '../../kernel/redis.ts';
import { readServer, type DatedFigures } from '../../kernel/metrics/database.ts';
import { readRedisMemory } from '../../kernel/metrics/redis.ts';
import { createLog } from '../../kernel/log/log.ts';
import type { Settings } from '../../kernel/settings/settings.ts';
import { withDatabase } from '../installation.ts';

const answerWithinMs = 5_000;
const offsetSecondsMax = 2;
const lagSecondsMax = 30;

/** @throws Error if the clock of the database differs from this one by seconds. */
export async function describeClock(databaseUrl: string): Promise<string> {
  const { offset } = await figuresOf(databaseUrl);
  const seconds = `${Math.abs(offset).toFixed(1)} s ${offset < 0 ? 'behind' : 'ahead of'} that of this machine`;
  if (Math.abs(offset) > offsetSecondsMax)
    throw new Error(
      `the clock of the database is ${seconds}; at most ${offsetSecondsMax} s are allowed: synchronise both`,
    );
  return `that of the database is ${seconds}`;
}

/** @param readUrl DATABASE_READ_URL. @throws Error if it is far behind. */
export async function describeReplica(readUrl: string): Promise<string> {
  return entitlementOf(await figuresOf(readUrl));
}

/** @throws Error if the replica is far behind. */
export function entitlementOf({ lag_seconds: lag }: Pick<DatedFigures, 'lag_seconds'>): string {
  if (lag === null) return 'DATABASE_READ_URL is a primary, not a replica';
  const seconds = `${lag.toFixed(1)} s behind its primary`;
  if (lag > lagSecondsMax)
    throw new Error(`the replica is ${seconds}; at most ${lagSecondsMax} s are allowed. See docs/alerts.md`);
  return seconds;
}

function figuresOf(url: string): Promise<DatedFigures> {
  return withDatabase(url, { command: 'check' }, (database) => readServer((text) => database.query(text)));
}

/**
 * Metrics are read if they are served now; a port without a listener is left for the next start. @throws Error if another program uses the port.
 */
export async function describeMetrics({ host, port }: NonNullable<Settings['metrics']>): Promise<string> {
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const url = `http://${local.includes(':') ? `[${local}]` : local}:${port}/metrics`;
  const text = await fetch(url, { signal: AbortSignal.timeout(answerWithinMs) }).then(
    (response) => response.text(),
    (error: Error) => {
      if ((error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED') return null;
      throw new Error(`${url} cannot be read: ${error.message}`, { cause: error });
    },
  );
  if (text === null) return `${url} is free: nothing is running there now`;
  const count = [...text.matchAll(/^# TYPE almanac_/gm)].length;
  if (count === 0) throw new Error(`another program answers at ${url}: choose another METRICS_PORT`);
  return `${url} serves ${count} metrics of Almanac`;
}

/** Sends no spans. @throws Error if nothing accepts traces there. */
export async function describeTraces({ endpoint, ratio }: NonNullable<Settings['tracing']>): Promise<string> {
  const url = new URL(`${endpoint}/v1/traces`);
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"resourceSpans":[]}',
    signal: AbortSignal.timeout(answerWithinMs),
  }).catch((error: Error) => {
    const cause = error.cause instanceof Error ? error.cause.message : error.message;
    throw new Error(`${url.host} does not answer: ${cause}`, { cause: error });
  });
  await response.body?.cancel();
  // 401 and similar: the exporter has headers of its own, which are not known here.
  if (response.status === 404 || response.status >= 500)
    throw new Error(`${url.host}${url.pathname} answers ${response.status}: no traces are accepted there`);
  return `${url.host} takes ${ratio === 1 ? 'all traces' : `${ratio} of the traces`}`;
}

/** @throws Error if Redis rejects writes, or evicts keys when its memory is full. */
export async function describeRedis(url: string): Promise<string> {
  const redis = openRedis(url, createLog('check', 'silent'));
  try {
    await redis.opened();
    await redis.run(script('return 1'), ['almanac:check'], []).catch((error: Error) => {
      throw error.cause instanceof Error ? error.cause : error;
    });
    const memory = await readRedisMemory(redis).catch(() => null);
    if (memory === null) return 'takes writes; maxmemory-policy is unknown, as its user may not run INFO';
    const { policy } = memory;
    if (policy !== 'noeviction')
      throw new Error(
        `it takes writes, but its maxmemory-policy is ${policy}: set noeviction, or it removes counts of calls and of failed sign-ins`,
      );
    return 'takes writes, and evicts nothing';
  } finally {
    redis.close();
  }
}

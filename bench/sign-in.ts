// Measures what an outsider can observe at sign-in: whether known and unknown e-mail addresses take the same time (interleaved pairs, Mann-Whitney),
// and how much memory a flood of sign-ins uses, with accounts-api in a separate process.
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { createPasswords } from '../accounts-api/auth/passwords.ts';
import { newId } from '../accounts-api/ids.ts';
import { anonymous, createSealer, identityHeader } from '../kernel/identity.ts';
import { projectRoot } from '../kernel/project.ts';
import { startBenchPostgres } from './instruments/postgres.ts';

const pairsOfKind = 220;
const floodSeconds = 15;
const floodAtOnce = 300;
const identitySecret = 'a secret of the bench, long enough';
const seal = createSealer(identitySecret, 'accounts-api');

/** Starts the service, measures, prints; removes everything it made. */
export async function run(): Promise<void> {
  const postgres = await startBenchPostgres();
  let service: ChildProcess | undefined;
  try {
    const databaseUrl = await postgres.createDatabase('bench_sign_in');
    await makeAccounts(databaseUrl);
    service = startService(databaseUrl, postgres.directory);
    const url = await urlOf(service);
    for (let i = 0; i < 40; i += 1)
      await timed(url, '/auth/login', { email: `warm-${i}@example.org`, password: 'x' });
    await measureTimes(url);
    await measureFlood(url, service.pid ?? 0);
  } finally {
    service?.kill('SIGTERM');
    await postgres.stop();
  }
}

/** Creates `known-<i>` with a password, and `google-<i>` without one. */
async function makeAccounts(databaseUrl: string): Promise<void> {
  const hash = await createPasswords().hash('a password that nobody tries');
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  for (let i = 0; i < pairsOfKind; i += 1) {
    for (const [kind, passwordHash] of [
      ['known', hash],
      ['reset', hash],
      ['taken', hash],
      ['google', null],
    ] as const) {
      await client.query(
        `insert into accounts.accounts (id, email, plan, created_at, password_hash, email_verified_at)
         values ($1, $2, 'free', now(), $3, now())`,
        [newId('acct'), `${kind}-${i}@example.org`, passwordHash],
      );
    }
  }
  await client.end();
}

function startService(databaseUrl: string, directory: string): ChildProcess {
  return spawn(process.execPath, [path.join(projectRoot, 'almanac.js'), 'start', 'accounts-api'], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      DATA_DIR: directory,
      REDIS_URL: '',
      IDENTITY_SECRET: identitySecret,
      SMTP_URL: 'smtp://127.0.0.1:9', // sign-up answers as if mail left the machine; no worker sends any
      ACCOUNTS_API_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function urlOf(service: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    service.once('exit', (code) => reject(new Error(`accounts-api ended with ${code}: ${output}`)));
    service.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const url = /accounts-api is running: (\S+)/.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}

let hosts = 0;
/** @returns the status, and the milliseconds until the whole answer had arrived. Each call has its own IP address. */
async function timed(url: string, target: string, body?: object): Promise<{ status: number; ms: number }> {
  hosts += 1;
  const method = body === undefined ? 'GET' : 'POST';
  const headers = {
    [identityHeader]: seal(anonymous, method, target),
    'content-type': 'application/json',
    'x-forwarded-for': `10.${(hosts >> 16) & 255}.${(hosts >> 8) & 255}.${hosts & 255}`,
  };
  const started = performance.now();
  const response = await fetch(url + target, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await response.text();
  return { status: response.status, ms: performance.now() - started };
}

const password = 'four unrelated words of a stranger';
const kinds = [
  ['sign-in, wrong password', '/auth/login', 'known', { password }],
  ['sign-in, account by Google alone', '/auth/login', 'google', { password }],
  ['forgotten password', '/auth/forgot-password', 'reset', {}],
  ['sign-up', '/auth/signup', 'taken', { password }],
] as const;

async function measureTimes(url: string): Promise<void> {
  print(`\n${pairsOfKind} interleaved pairs, a known e-mail address against an unknown one; medians in ms`);
  for (const [what, target, kind, rest] of kinds) {
    const times: { known: number[]; unknown: number[] } = { known: [], unknown: [] };
    const statuses = new Set<number>();
    for (let i = 0; i < pairsOfKind; i += 1) {
      const order = Math.random() < 0.5 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const);
      for (const which of order) {
        const email = which === 'known' ? `${kind}-${i}@example.org` : `other-${kind}-${i}@example.org`;
        const { status, ms } = await timed(url, target, { email, ...rest });
        statuses.add(status);
        times[which].push(ms);
      }
    }
    const { known, unknown } = times;
    const p = mannWhitney(known, unknown);
    print(
      `${what.padEnd(34)} known ${quantile(known, 0.5).toFixed(2).padStart(8)}  unknown ${quantile(unknown, 0.5).toFixed(2).padStart(8)}` +
        `  p = ${p.toFixed(3)}  (all answered ${[...statuses].join(', ')})`,
    );
  }
}

async function measureFlood(url: string, pid: number): Promise<void> {
  const plans = async (count: number) => {
    const times: number[] = [];
    for (let i = 0; i < count; i += 1) times.push((await timed(url, '/v1/plans')).ms);
    return times;
  };
  const quiet = await plans(200);
  const before = residentMiB(pid);
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, residentMiB(pid))), 20);
  const counts = new Map<number, number>();
  const until = performance.now() + floodSeconds * 1000;
  const attacker = async () => {
    while (performance.now() < until) {
      const { status } = await timed(url, '/auth/login', {
        email: `flood-${(hosts += 1)}@example.org`,
        password,
      });
      counts.set(status, (counts.get(status) ?? 0) + 1);
      if (status === 503) await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const flood = Promise.all(Array.from({ length: floodAtOnce }, attacker));
  const busy: number[] = [];
  while (performance.now() < until) busy.push(...(await plans(5)));
  await flood;
  clearInterval(watch);
  const answered = [...counts].map(([status, count]) => `${count} × ${status}`).join(', ');
  print(`\n${floodAtOnce} sign-ins at once for ${floodSeconds} s: ${answered}`);
  print(
    `resident memory of accounts-api: ${before} MiB before, ${most} MiB at most, ${residentMiB(pid)} MiB after`,
  );
  print(
    `GET /v1/plans, p95: ${quantile(quiet, 0.95).toFixed(1)} ms before, ${quantile(busy, 0.95).toFixed(1)} ms meanwhile`,
  );
}

function residentMiB(pid: number): number {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kib) / 1024);
}

/** The two-sided p-value that two samples come from one distribution, by the normal approximation, ties averaged. */
function mannWhitney(a: readonly number[], b: readonly number[]): number {
  const all = [...a.map((value) => ({ value, isA: true })), ...b.map((value) => ({ value, isA: false }))];
  all.sort((x, y) => x.value - y.value);
  let rankSum = 0;
  for (let i = 0; i < all.length;) {
    let end = i;
    while (end < all.length && all[end]?.value === all[i]?.value) end += 1;
    const rank = (i + 1 + end) / 2;
    for (; i < end; i += 1) if (all[i]?.isA === true) rankSum += rank;
  }
  const [n, m] = [a.length, b.length];
  const z = (rankSum - (n * (n + m + 1)) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12);
  return 2 * (1 - normal(Math.abs(z)));
}

/** The standard normal distribution function (Abramowitz and Stegun 26.2.17, to 7 digits). */
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const series =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * series;
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((x, y) => x - y);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

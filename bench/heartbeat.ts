// Measures the heartbeat between gateways and accounts-api: how soon a revocation is answered when three gateways are idle or busy, or one of them is
// stopped; and the load of 20 gateways with 10,000 active accounts on accounts-api and PostgreSQL. `npm run bench -- heartbeat --quick` is a tenth.
// Settings: BENCH_REVOCATIONS (2000), BENCH_SECONDS (30).
import { setTimeout as pause } from 'node:timers/promises';
import { createAccounts } from '../gateway/accounts-client.ts';
import { createLeasedState, type LeasedState } from '../gateway/heartbeat/leased-state.ts';
import { createUpstreams } from '../gateway/upstream/upstreams.ts';
import { systemClock } from '../kernel/clock.ts';
import { hashApiKey } from '../kernel/credentials/api-key.ts';
import { createLog } from '../kernel/log/log.ts';
import { identitySecret, layGround, Run, seriesPath, type Ground } from './gateway/ground.ts';
import { load } from './gateway/load.ts';
import { cpuSeconds, otherCore, targetCore, type Program } from './gateway/processes.ts';
import { percentile, print, printLatencies, printRow } from './instruments/figures.ts';

const isQuick = process.argv.includes('--quick');
const revocations = Number(process.env['BENCH_REVOCATIONS'] ?? (isQuick ? 200 : 2_000));
const seconds = Number(process.env['BENCH_SECONDS'] ?? (isQuick ? 3 : 30));
const gatewayCount = 3;
const simulated = { gateways: 20, accounts: 10_000, callsPerSecond: 5_000 };

/** Starts everything, measures, prints; stops and removes everything it made. */
export async function run(): Promise<void> {
  const bench = new Run();
  try {
    const ground = await layGround(bench);
    const gateways: Program[] = [];
    for (let i = 0; i < gatewayCount; i += 1) gateways.push(await startGateway(bench, ground));
    const keys = ground.newKeys.values();
    await revokeIdle(gateways, keys);
    await revokeBusy(gateways, keys, ground.keys);
    await revokeStopped(gateways, keys);
    await simulate(ground);
  } finally {
    await bench.stop();
  }
}

function startGateway(bench: Run, { accountsApi, upstream, redisUrl, env }: Ground): Promise<Program> {
  const own = {
    ...{ PUBLIC_CALLS_SECOND: '100000', MANAGEMENT_CALLS_SECOND: '100000' },
    PORT: '0',
    ACCOUNTS_API_URL: accountsApi.readyOutput,
    DATA_API_URL: upstream.url,
    REDIS_URL: redisUrl,
  };
  return bench.startService(targetCore, 'gateway', { ...env, ...own });
}

async function revokeIdle(gateways: readonly Program[], keys: Iterator<string>): Promise<void> {
  printRow('revocations', ['answered', 'median ms', 'p99 ms']);
  printLatencies('three idle gateways', await revokeAll(gateways, keys, revocations / 2));
}

async function revokeBusy(
  gateways: readonly Program[],
  keys: Iterator<string>,
  usedKeys: readonly string[],
): Promise<void> {
  const sets = usedKeys.map((key) => ({ 'x-api-key': key }));
  const over = new AbortController();
  const busy = gateways.map(async ({ readyOutput, pid }) => {
    const target = {
      name: 'busy',
      url: readyOutput + seriesPath,
      headers: () => sets,
      pids: [pid],
      behind: [],
    };
    while (!over.signal.aborted) await load(target, { seconds: 2, connections: 4, pauseMs: 2 });
  });
  printLatencies('three busy gateways', await revokeAll(gateways, keys, revocations / 2));
  over.abort();
  await Promise.all(busy);
}

async function revokeStopped(gateways: readonly Program[], keys: Iterator<string>): Promise<void> {
  const [first, , stopped] = gateways;
  if (first === undefined || stopped === undefined) throw new Error('There are too few gateways.');
  const key = nextKey(keys);
  await callAll(gateways, key, 200);
  process.kill(stopped.pid, 'SIGSTOP');
  const tookMs = await revoke(first, key);
  process.kill(stopped.pid, 'SIGCONT');
  await callAll(gateways, key, 401);
  print(`one gateway stopped: answered after ${(tookMs / 1000).toFixed(2)} s`);
}

/** @returns the duration of each, in ms. @throws Error if a later call is accepted. */
async function revokeAll(
  gateways: readonly Program[],
  keys: Iterator<string>,
  count: number,
): Promise<number[]> {
  const tookMs: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const key = nextKey(keys);
    await callAll(gateways, key, 200);
    tookMs.push(await revoke(gateways[i % gateways.length] as Program, key));
    await callAll(gateways, key, 401);
  }
  return tookMs;
}

/** Has a key revoke itself. @returns the duration in ms. */
async function revoke({ readyOutput }: Program, key: string): Promise<number> {
  const headers = { 'x-api-key': key };
  const { data } = (await (await fetch(`${readyOutput}/v1/keys`, { headers })).json()) as {
    data: { id: string }[];
  };
  const startedAtMs = performance.now();
  const { status } = await fetch(`${readyOutput}/v1/keys/${data[0]?.id}`, { method: 'DELETE', headers });
  if (status !== 204) throw new Error(`A revocation was answered ${status}.`);
  return performance.now() - startedAtMs;
}

async function callAll(gateways: readonly Program[], key: string, expected: number): Promise<void> {
  const answers = gateways.map(({ readyOutput }) =>
    fetch(readyOutput + seriesPath, { headers: { 'x-api-key': key } }),
  );
  for (const answer of answers) {
    const { status } = await answer;
    if (status !== expected) throw new Error(`A call was answered ${status} in place of ${expected}.`);
  }
}

function nextKey(keys: Iterator<string>): string {
  const next = keys.next();
  if (next.done === true) throw new Error('There are too few accounts.');
  return next.value;
}

/** Gateways in this process, reduced to their cached state: calls arrive at random gateways. */
async function simulate({ accountsApi, postgres, newKeys }: Ground): Promise<void> {
  const upstreams = createUpstreams('accounts-api', [accountsApi.readyOutput]);
  const accounts = createAccounts(upstreams, identitySecret);
  const log = createLog('bench', 'error');
  const leasedStates = Array.from({ length: simulated.gateways }, () =>
    createLeasedState({
      ...{ send: accounts.heartbeat, outage: 'closed', flushEveryMs: 250 },
      ...{ closeWithinMs: 10_000, clock: systemClock, log },
    }),
  );
  for (const { heartbeat } of leasedStates) await heartbeat.open();
  const hashes = newKeys.slice(-simulated.accounts).map(hashApiKey);
  await callFor(seconds / 3, leasedStates, hashes); // until most gateways know most accounts
  const before = [cpuSeconds([accountsApi.pid]), cpuSeconds([postgres])];
  const { calls, tookMs } = await callFor(seconds, leasedStates, hashes);
  const cpu = [cpuSeconds([accountsApi.pid]), cpuSeconds([postgres])].map(
    (after, i) => ((after - (before[i] ?? 0)) / seconds) * 100,
  );
  for (const each of leasedStates) await each.close();
  accounts.close();
  print(
    `${simulated.gateways} gateways, ${simulated.accounts} accounts, ${(calls / seconds).toFixed(0)} calls/s: ` +
      `accounts-api ${cpu[0]?.toFixed(0)} % of a core, PostgreSQL ${cpu[1]?.toFixed(0)} %; ` +
      `a call waits ${percentile(tookMs, 0.5).toFixed(2)} ms at the median, ${percentile(tookMs, 0.99).toFixed(1)} ms at p99 (core ${otherCore})`,
  );
}

async function callFor(seconds: number, leasedStates: readonly LeasedState[], hashes: readonly string[]) {
  const tookMs: number[] = [];
  const everyMs = 10;
  const endsAtMs = performance.now() + seconds * 1000;
  const inFlight: Promise<void>[] = [];
  while (performance.now() < endsAtMs) {
    for (let i = 0; i < (simulated.callsPerSecond * everyMs) / 1000; i += 1) {
      const gateway = leasedStates[Math.floor(Math.random() * leasedStates.length)] as LeasedState;
      const hash = hashes[Math.floor(Math.random() * hashes.length)] as string;
      inFlight.push(callOnce(gateway, hash).then((ms) => void tookMs.push(ms)));
    }
    await pause(everyMs);
  }
  await Promise.all(inFlight);
  return { calls: tookMs.length, tookMs };
}

/** @returns the time of the key lookup and of the quota, in ms. */
async function callOnce({ credentials, month }: LeasedState, hash: string): Promise<number> {
  const startedAtMs = performance.now();
  const found = await credentials.find(hash);
  if (found === null) throw new Error('A key was not found.');
  const { charge } = await month.reserve(found.accountId, 1);
  const tookMs = performance.now() - startedAtMs;
  charge?.end(true);
  return tookMs;
}

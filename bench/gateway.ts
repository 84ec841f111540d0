// Measures the cost of a call with a key: our gateway with every check, hot and cold, with and without Redis, compared with nginx and Lua, with and
// without its cache, stock express-gateway, a bare proxy in Node (the floor), and no gateway. All are in front of the same bare upstream, and the
// rows about the whole system in front of the same data-api. The target is on core 0, the load on core 1, Redis and the bare upstream on cores of
// their own if there are enough; data-api shares core 0. The targets run in turn, and the best round of each counts, since other work on the machine
// only adds time. `npm run bench -- gateway --quick` is one round of 1 s.
// Settings: BENCH_CORES (all cores; 2 puts all but the target on one), BENCH_SECONDS (2) per measurement, BENCH_ROUNDS (5), BENCH_CONNECTIONS (32),
// BENCH_EXPRESS_GATEWAY (its installation), BENCH_TARGETS (only those whose name contains one of these comma-separated words), BENCH_BEFORE (a
// checkout of another version with its packages, measured in turn with this one).
import { Run } from './gateway/ground.ts';
import { load, probe, type Measured, type Target } from './gateway/load.ts';
import { hasNginx } from './gateway/nginx.ts';
import { best, report, type Results } from './gateway/report.ts';
import { names, startTargets, type Targets } from './gateway/targets.ts';
import { leaveMeasuredCore } from './instruments/cores.ts';
import { inTurn, print } from './instruments/figures.ts';

const isQuick = process.argv.includes('--quick');
const seconds = Number(process.env['BENCH_SECONDS'] ?? (isQuick ? 1 : 2));
const rounds = Number(process.env['BENCH_ROUNDS'] ?? (isQuick ? 1 : 5));
const connections = Number(process.env['BENCH_CONNECTIONS'] ?? 32);
const onlyNamed = process.env['BENCH_TARGETS']?.split(',');
const warmRequests = isQuick ? 10_000 : 50_000; // until V8 has compiled the code: the first 50,000 cost twice as much
const warmSecondsMax = isQuick ? 2 : 6;
const pacedTargets: readonly string[] = [names.direct, names.before, names.hot, names.hotAlone, names.lua];
const allocatingTargets = [names.hot, names.hotMany, names.hotAlone, names.cold];

/** Starts everything, measures, prints; stops and removes everything it made, also on Ctrl-C and SIGTERM. */
export async function run(): Promise<void> {
  if (!hasNginx()) {
    throw new Error(
      'The bench needs: apt-get install nginx libnginx-mod-http-lua lua-nginx-redis wrk redis-server',
    );
  }
  leaveMeasuredCore();
  const bench = new Run();
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const onSignal = () => void bench.stop().finally(() => process.exit(130));
  for (const signal of signals) process.once(signal, onSignal);
  try {
    const started = await startTargets(bench, onlyNamed);
    if (!started.targets.some(({ name }) => name === names.stock)) print(`${names.stock} is left out`);
    print(
      `${started.ground.bytes} bytes a call; ${connections} connections, ${rounds} rounds of ${seconds} s`,
    );
    report(await measure(started));
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
    await bench.stop();
  }
}

async function measure({ targets, allocations }: Targets): Promise<Results> {
  for (const target of targets) await probe(target);
  for (const target of targets) await warm(target);
  const full = await byName(targets, (target) => load(target, { seconds, connections }));
  // Half of the gateway's maximum; the same for all, as a p99 depends on the rate.
  const rate = (best(full.get(names.hot))?.requestsPerSecond ?? 0) / 2;
  const pauseMs = (connections / rate) * 1000;
  const paced = await byName(
    rate > 0 ? targets.filter(({ name }) => pacedTargets.includes(name)) : [],
    (target) => load(target, { seconds, connections, pauseMs }),
  );
  const allocated = new Map<string, number>();
  for (const name of allocatingTargets) {
    const [target, gateway] = [targets.find((each) => each.name === name), allocations.get(name)];
    const pid = target?.pids[0];
    if (target === undefined || gateway === undefined || pid === undefined) continue;
    const before = await gateway.bytes(pid);
    const { requests } = await load(target, { seconds, connections });
    allocated.set(name, ((await gateway.bytes(pid)) - before) / requests);
  }
  return { full, paced, allocated };
}

/** Each target once per round, by its name. */
async function byName(
  targets: readonly Target[],
  measureOne: (target: Target) => Promise<Measured>,
): Promise<Map<string, Measured[]>> {
  const measurements = targets.map((target) => [target.name, () => measureOne(target)] as const);
  return new Map(Object.entries(await inTurn<string, Measured>(rounds, Object.fromEntries(measurements))));
}

/** Runs until the code is compiled: on a busy machine that depends on the number of requests rather than on time. */
async function warm(target: Target): Promise<void> {
  for (let requests = 0, chunks = 0; requests < warmRequests && chunks < warmSecondsMax; chunks += 1) {
    requests += (await load(target, { seconds: 1, connections })).requests;
  }
}

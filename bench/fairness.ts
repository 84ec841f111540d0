// Whether one account can stall the others: the latency of other accounts' short reads, alone and while ten clients of one account
// request the most expensive answers there are. Everything shares two cores, through a gateway without Redis, as `npm start` runs it.
import path from 'node:path';
import { writeFileSync } from 'node:fs';
import { connect } from '../accounts-api/database.ts';
import { start as startAccountsApi } from '../accounts-api/main.ts';
import { createAccount, createKey } from '../accounts-api/operator/operator.ts';
import { start as startDataApi } from '../data-api/main.ts';
import { start as startGateway } from '../gateway/main.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import { loadPlans } from '../kernel/plans.ts';
import { ask } from './instruments/client.ts';
import { print, printRow } from './instruments/figures.ts';
import { startBenchPostgres, withClient, type BenchPostgres } from './instruments/postgres.ts';
import { fillPlaces, fillVintages } from './series/fill.sql.ts';

const identitySecret = 'a secret of the bench, long enough';
const seconds = 20;
const otherAccounts = 4;
const greedyClients = 10;
const expensive = [
  'format=csv&transform=yoy',
  'format=csv&transform=3ma&sort=desc',
  'format=csv&transform=yoy&sort=desc',
  'limit=100000&transform=yoy',
];

/** Builds, measures, prints; removes everything it made. */
export async function run(): Promise<void> {
  const postgres = await startBenchPostgres();
  try {
    const databaseUrl = await postgres.createDatabase('fairness');
    await withClient(databaseUrl, async (client) => {
      await fillPlaces(client, 'DAILY', 48, 10_000);
      await fillVintages(client, { id: 'SHORT', points: 300, vintages: 1, revised: 0 });
      await client.query('vacuum analyze');
    });
    await withGateway({ ...postgres, databaseUrl }, async (url, [greedy = '', ...others]) => {
      await shortReads(url, others, 2); // warm
      const alone = await shortReads(url, others, seconds);
      const stop = new AbortController();
      const greed = Array.from({ length: greedyClients }, (_, i) => keepAsking(url, greedy, i, stop.signal));
      const beside = await shortReads(url, others, seconds);
      stop.abort();
      const answers = await Promise.all(greed);
      print(`\nShort reads of ${otherAccounts} accounts, two cores, ${seconds} s each`);
      printRow('', ['reads', 'p50 ms', 'p99 ms']);
      printLatencies('alone', alone);
      printLatencies(`beside ${greedyClients} greedy clients`, beside);
      const sum = answers.reduce((total, each) => total + each, 0);
      print(`  the greedy account began ${sum} answers (goal: p99 < 100 ms)`);
    });
  } finally {
    await postgres.stop();
  }
}

/** The three services in this process. @param work is given the gateway's URL and keys of accounts of their own. */
async function withGateway(
  { directory, databaseUrl }: BenchPostgres & { databaseUrl: string },
  work: (url: string, keys: readonly string[]) => Promise<void>,
): Promise<void> {
  const plansFile = path.join(directory, 'plans.yml');
  const plan =
    'id: free, name: Free, price_usd_month: 0, calls_month: null, calls_second: 100000, concurrency: 16';
  writeFileSync(plansFile, `plans:\n  - { ${plan}, features: [] }\n`);
  const plans = loadPlans(plansFile);
  const [log, clock] = [createLog('bench', 'error'), systemClock];
  const shared = { databaseUrl, identitySecret, host: '127.0.0.1', port: 0, log, clock };
  const signIn = {
    publicUrl: 'http://127.0.0.1',
    mailGoesOut: false,
    passwordLengthMin: 8,
    google: undefined,
  };
  const dataApi = await startDataApi({ ...shared, seriesTimeZone: 'UTC' });
  const accountsApi = await startAccountsApi({ ...shared, plans, signIn, redisUrl: undefined });
  const gateway = await startGateway({
    ...{ ...shared, plans, redisUrl: undefined, trustedProxyHops: 0, drainDelayMs: 0 },
    ...{ publicCallsPerSecond: 100_000, managementCallsPerSecond: 100_000 },
    dataApiUrls: [dataApi.url],
    accountsApiUrls: [accountsApi.url],
  });
  const db = connect(databaseUrl);
  try {
    const keys: string[] = [];
    for (let i = 0; i <= otherAccounts; i += 1) {
      const { id } = await createAccount(
        { db, plans, clock },
        { email: `bench${i}@example.org`, plan: 'free' },
      );
      keys.push((await createKey({ db, plans, clock }, id, 'bench')).key);
    }
    await work(gateway.url, keys);
  } finally {
    await db.close();
    await gateway.close();
    await accountsApi.close();
    await dataApi.close();
  }
}

/** One read after the other of each account. @returns the latencies in ms. */
async function shortReads(url: string, keys: readonly string[], secondsMax: number): Promise<number[]> {
  let day = 0;
  const nextPath = () => {
    const from = new Date(Date.UTC(1800, 0, (day += 1) % 60_000)).toISOString().slice(0, 10);
    return `/v1/series/SHORT?from=${from}`; // no answer is cached
  };
  const asked = await Promise.all(
    keys.map((key) =>
      ask({ url, headers: () => ({ 'x-api-key': key }), nextPath, connections: 1, secondsMax }),
    ),
  );
  return asked.flatMap(({ latenciesMs }) => latenciesMs);
}

/** Asks for expensive answers, one after the other. @returns how many were begun. */
async function keepAsking(url: string, key: string, client: number, signal: AbortSignal): Promise<number> {
  let begun = 0;
  try {
    while (!signal.aborted) {
      const query = expensive[(client + begun) % expensive.length] ?? '';
      const from = new Date(Date.UTC(1900, 0, client * 1000 + begun)).toISOString().slice(0, 10);
      const answer = await fetch(`${url}/v1/series/DAILY?${query}&from=${from}`, {
        headers: { 'x-api-key': key, 'accept-encoding': 'identity' },
        signal,
      });
      if (answer.ok) begun += 1;
      for await (const chunk of answer.body ?? []) void chunk;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return begun;
}

function printLatencies(name: string, latenciesMs: readonly number[]): void {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN).toFixed(1);
  printRow(name, [String(sorted.length), at(0.5), at(0.99)]);
}

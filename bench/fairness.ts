// Measures whether one account can stall the others: the latency of other accounts' short reads, alone and while ten clients of one account request
// the most expensive answers. Everything shares two cores, through a gateway without Redis, as `npm start` runs it.
import { ask } from './instruments/client.ts';
import { print, printLatencies, printRow } from './instruments/figures.ts';
import { startBenchPostgres, withClient } from './instruments/postgres.ts';
import { withGateway } from './instruments/gateway.ts';
import { distinctWindows } from './series/costs.ts';
import { fillPlaces, fillVintages } from './series/fill.sql.ts';

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
    const { directory } = postgres;
    const accounts = otherAccounts + 1;
    await withGateway({ directory, databaseUrl, accounts }, async (url, [greedy = '', ...others]) => {
      await shortReads(url, others, 2); // warm-up
      const alone = await shortReads(url, others, seconds);
      const stop = new AbortController();
      const greed = Array.from({ length: greedyClients }, (_, i) =>
        requestUntilAborted(url, greedy, i, stop.signal),
      );
      const concurrent = await shortReads(url, others, seconds);
      stop.abort();
      const answers = await Promise.all(greed);
      print(`\nShort reads of ${otherAccounts} accounts, two cores, ${seconds} s each`);
      printRow('', ['reads', 'p50 ms', 'p99 ms']);
      printLatencies('alone', alone);
      printLatencies(`beside ${greedyClients} greedy clients`, concurrent);
      const sum = answers.reduce((total, each) => total + each, 0);
      print(`  the greedy account began ${sum} answers (goal: p99 < 100 ms)`);
    });
  } finally {
    await postgres.stop();
  }
}

/** Counts over all phases: a gateway may have the answer of an earlier phase. */
const newDay = distinctWindows();

/** Reads one after the other with each account. @returns the latencies in ms. */
async function shortReads(url: string, keys: readonly string[], secondsMax: number): Promise<number[]> {
  const nextPath = () => `/v1/series/SHORT?from=${newDay()}`; // no answer is cached
  const asked = await Promise.all(
    keys.map((key) =>
      ask({ url, headers: () => ({ 'x-api-key': key }), nextPath, connections: 1, secondsMax }),
    ),
  );
  return asked.flatMap(({ latenciesMs }) => latenciesMs);
}

/** Requests expensive answers one after the other. @returns how many were begun. */
async function requestUntilAborted(
  url: string,
  key: string,
  client: number,
  signal: AbortSignal,
): Promise<number> {
  let startedAnswers = 0;
  try {
    while (!signal.aborted) {
      const query = expensive[(client + startedAnswers) % expensive.length] ?? '';
      const from = new Date(Date.UTC(1900, 0, client * 1000 + startedAnswers)).toISOString().slice(0, 10);
      const answer = await fetch(`${url}/v1/series/DAILY?${query}&from=${from}`, {
        headers: { 'x-api-key': key, 'accept-encoding': 'identity' },
        signal,
      });
      if (answer.ok) startedAnswers += 1;
      for await (const chunk of answer.body ?? []) void chunk;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return startedAnswers;
}

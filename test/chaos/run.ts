// The chaos run: load from clients while services, PostgreSQL and Redis are killed, stopped and stalled; then it checks that
// every answer was correct, the ledger matches what clients saw, every limit was served to the last call and not exceeded, and no key was
// accepted after its revocation; no answer was older than a load that had been reported as done, though most are from the memory of
// gateways; a customer's webhook endpoint was notified of every load, and of no other; and no call fails while every service is replaced, and
// while accounts-api alone is away.
// Usage: npm run chaos -- [--seed N] [--seconds N] [--gateways N] [--redis one|cluster|sentinel|none] [--production] [--lose-connections]
// [--trial turn|calm-turn|revocations] [--logs directory]. Exits with 1 if a check fails. --production: three data-apis that read from a replica of
// PostgreSQL, and a Redis Cluster of three masters. --lose-connections: services lose all their connections without a word. --trial: in place
// of all this, a month that turns while limits change, with or without faults; or revocations while accounts-api is killed amid them.
import { mkdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { openDatabase } from '../../kernel/database.ts';
import { silentLog } from '../services/harness.ts';
import { createClients, type Clients, type Question } from './calls.ts';
import { endAll, questionsOf, setUp, smallLimit, type Scene } from './cluster.ts';
import { startCustomer } from './customer.ts';
import { carryOut, drawFaults, type Fault, type InjectedFault } from './faults.ts';
import { readFresh } from './fresh.ts';
import { balance, faultsOf, traceOf } from './ledger.ts';
import { driveOver, read, revoke, type Revocations } from './load.ts';
import { killWithCallsInFlight, spendRemaining } from './rest.ts';
import { rollEverything } from './rolling.ts';
import { startPublisher } from './publisher.ts';
import { createRandom } from './random.ts';
import { revokeUnderKills } from './trials/revocations.ts';
import { aheadOfTurnMs, turnMonth } from './trials/turn.ts';
import { runGuarded } from '../run/guard.ts';
import { until } from '../run/until.ts';
import type { Unit } from './units.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    gateways: { type: 'string', default: '2' },
    redis: { type: 'string' },
    'lose-connections': { type: 'boolean', default: false },
    trial: { type: 'string' },
    production: { type: 'boolean', default: false },
    logs: { type: 'string' },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32));
const seconds = Number(values.seconds);

const trials = { turn: turnMonth, 'calm-turn': turnMonth, revocations: revokeUnderKills };
const trialName = oneOf('--trial', values.trial, Object.keys(trials) as (keyof typeof trials)[]);
const redis =
  oneOf('--redis', values.redis, ['one', 'cluster', 'sentinel', 'none'] as const) ??
  (values.production ? 'cluster' : 'one');
const losesConnections = values['lose-connections'];
const clockAheadMs = trialName?.endsWith('turn') ? aheadOfTurnMs(new Date()) : undefined;

const atOnce: ReadonlySet<string> = new Set(['emptied', 'scripts forgotten', 'connections lost']);

/** A gateway may wait for a lost connection of data-api's, and that for one of PostgreSQL's. */
const recoverWithinMs = losesConnections ? 80_000 : 30_000;

function oneOf<Word extends string>(flag: string, given: string | undefined, words: readonly Word[]) {
  const word = words.find((each) => each === given);
  if (given !== undefined && word === undefined)
    throw new Error(`${flag} must be one of ${words.join(', ')}.`);
  return word;
}

if (values.logs !== undefined) mkdirSync(values.logs, { recursive: true });
await runGuarded(async ({ directory }) => {
  const units: Unit[] = [];
  const over = new AbortController();
  try {
    const production = values.production ? ', 3 data-apis with a replica of PostgreSQL' : '';
    const what = `${trialName ?? ''}${losesConnections ? ' connections are lost' : ''}`.trim();
    printLine(
      `chaos: seed ${seed}, ${seconds} s, ${values.gateways} gateways${production}, Redis: ${redis}${what && `, ${what}`}`,
    );
    const scene = await setUp(
      {
        directory,
        seconds,
        drainDelayMs: 300,
        gateways: Number(values.gateways),
        dataApis: values.production ? 3 : 2,
        hasReplica: values.production,
        redis,
        clockAheadMs,
        hasLinks: losesConnections,
        logDirectory: values.logs ?? null,
        over: over.signal,
      },
      units,
    );
    const wrong = trialName === undefined ? await run(scene) : await tryOut(scene, trialName);
    for (const line of wrong.slice(0, 40)) printLine(`WRONG: ${line}`);
    printLine(
      wrong.length === 0 ? 'chaos: all is right' : `chaos: ${wrong.length} things are wrong; seed ${seed}`,
    );
    return wrong.length === 0 ? 0 : 1;
  } finally {
    over.abort();
    await endAll(units);
  }
});

async function tryOut(scene: Scene, name: keyof typeof trials): Promise<string[]> {
  const { plain } = await questionsOf(scene.cluster, scene.scout);
  return trials[name]({
    ...{ scene, seconds, announce, printLine, random: createRandom(seed), hasFaults: name !== 'calm-turn' },
    recover: (clients) => recover(scene.cluster, clients, plain, scene.readers[0] ?? scene.scout),
  });
}

async function run(scene: Scene): Promise<string[]> {
  const { cluster, databaseUrl, scout, readers, watchers, small, victims } = scene;
  const random = createRandom(seed);
  const faults = drawFaults(random, cluster, { seconds, losesConnections });
  const { plain, long, all } = await questionsOf(cluster, scout);
  const clients = createClients(cluster.gateways);
  const options = { clients, gateways: cluster.gateways, random };
  const rest = { cluster, clients, databaseUrl, question: plain };
  const [killedAccount] = small;
  if (killedAccount === undefined) throw new Error('There is no account to be driven over its limit.');
  await killWithCallsInFlight({ ...rest, question: long }, killedAccount);
  const { gateways } = cluster;
  const database = openDatabase(databaseUrl, silentLog, { applicationName: 'chaos' });
  const onNotified = (load: number) => fresh.callAsNotified(load);
  const customer = await startCustomer({ database, onNotified, gateways, who: scene.customer });
  const publisher = startPublisher(database, () => fresh.callAllGateways());
  const fresh = readFresh({ ...options, who: watchers, publisher, seconds });
  const revocations = revoke(options, victims, plain);
  const loads = [read(options, readers, all), driveOver(options, small.slice(1), plain), revocations];
  const startedAtMs = performance.now();
  const injectedFaults = await carryOut(faults, cluster, (fault) =>
    announce(fault, performance.now() - startedAtMs),
  );
  const wrong = await recover(cluster, clients, plain, readers[0] ?? scout);
  for (const load of loads) await load.stop();
  await publisher.stop();
  await fresh.stop(); // without loads there is nothing to be missed
  wrong.push(...(await customer.stop()));
  await fresh.allAnswered();
  await database.close();
  wrong.push(...fresh.faults());
  printLine(`webhooks: ${customer.summary}`);
  for (const line of fresh.summary()) printLine(line);
  const called = new Set(clients.seen.map(({ accountId }) => accountId));
  const driven = small.filter(({ accountId }) => called.has(accountId));
  const { durationMs, refused } = await spendRemaining(rest, driven, smallLimit);
  printLine(
    `rest: ${driven.length} months were served to the end, the last after ${(durationMs / 1000).toFixed(0)} s`,
  );
  if (wrong.length === 0) {
    printLine('replacing every service, and killing accounts-api');
    const rolling = { cluster, databaseUrl, clients, who: readers[0] ?? scout, question: plain };
    wrong.push(...(await rollEverything(rolling)));
  }
  for (const gateway of cluster.gateways) await gateway.stop(); // each hands its journal over
  await clients.close();
  wrong.push(...clients.faults, ...revocations.accepted);
  wrong.push(
    ...(await checkAccounts(
      databaseUrl,
      clients,
      injectedFaults,
      new Set(small.map(({ accountId }) => accountId)),
      new Set(refused.map(({ accountId }) => accountId)),
    )),
  );
  const late = faults.length - injectedFaults.length;
  printLine(`faults: ${injectedFaults.length}; ${late} left out, for which the machine was too slow`);
  report(clients, revocations);
  return wrong;
}
/** When all is mended, every gateway serves again within seconds. */
async function recover(
  cluster: Scene['cluster'],
  clients: Clients,
  question: Question,
  who: Scene['readers'][number],
) {
  const wrong: string[] = [];
  for (const gateway of cluster.gateways) {
    const serves = async () => (await clients.ask(gateway, who, question))?.status === 200;
    await until(`${gateway.name} serves after all was mended`, serves, recoverWithinMs).catch(
      (error: unknown) => void wrong.push(String(error)),
    );
  }
  return wrong;
}

async function checkAccounts(
  databaseUrl: string,
  clients: Clients,
  injectedFaults: readonly InjectedFault[],
  small: ReadonlySet<string>,
  refused: ReadonlySet<string>,
): Promise<string[]> {
  const accounts = await balance(databaseUrl, clients.seen, injectedFaults);
  const wrong = accounts.flatMap(faultsOf);
  for (const account of accounts.filter((each) => faultsOf(each).length > 0))
    for (const line of await traceOf(databaseUrl, account.accountId, clients.seen, injectedFaults))
      printLine(line);
  const driven = accounts.filter(({ accountId }) => small.has(accountId));
  for (const { accountId, served, unrecorded, cutOff } of driven) {
    // Calls that a gateway answered at the moment it was killed are returned, because they were not recorded; calls that were cut off may count.
    if (served - unrecorded > smallLimit) wrong.push(`${accountId} was served ${served} of ${smallLimit}`);
    if (refused.has(accountId) && served + cutOff < smallLimit) {
      wrong.push(`${accountId} was refused, though only ${served} of ${smallLimit} were served`);
    }
  }
  const sum = (of: 'served' | 'unrecorded' | 'cutOff' | 'billed' | 'charged') =>
    accounts.reduce((total, account) => total + account[of], 0);
  printLine(`ledger: ${sum('served')} calls served, ${sum('billed')} billed, ${sum('charged')} charged`);
  printLine(
    `        may be missing: ${sum('unrecorded')} answered in the moment of a kill; may be billed: ${sum('cutOff')} cut off by one`,
  );
  const exhausted = driven.filter(({ charged }) => charged >= smallLimit);
  const short = exhausted.reduce((total, { served }) => total + smallLimit - served, 0);
  printLine(
    `limits: ${exhausted.length} accounts driven over ${smallLimit} calls; most served ${Math.max(0, ...driven.map(({ served }) => served))}; ${short} calls charged and not served in all`,
  );
  return wrong;
}

function report(clients: Clients, revocations: Revocations): void {
  const byStatus = new Map<string, number>();
  for (const { status } of clients.seen) {
    const name = status === null ? 'cut' : String(status);
    byStatus.set(name, (byStatus.get(name) ?? 0) + 1);
  }
  const statuses = [...byStatus].sort().map(([status, count]) => `${status}: ${count}`);
  printLine(`answers: ${statuses.join(', ')}; gateway not there: ${clients.unreached}`);
  printLine(
    `revocations: ${revocations.revoked}; calls after them: ${revocations.calledAfter}; accepted: ${revocations.accepted.length}`,
  );
}

function announce({ unit, what, forMs, aheadMs }: Fault, atMs: number): void {
  const time = `${(atMs / 1000).toFixed(1).padStart(6)} s`;
  const by = what === 'clock moved' ? ` by ${aheadMs} ms` : '';
  const lasts = atOnce.has(what) ? '' : ` for ${forMs} ms`;
  printLine(`${time}  ${unit.name} ${what}${by}${lasts}`);
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

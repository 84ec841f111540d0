// A rolling restart of everything under load: each gateway, data-api, accounts-api and worker is stopped by SIGTERM and started again, one
// after the other, while clients call through a balancer that asks /readyz, and loads go on. Not one call may fail, an answer must have
// every load that was reported as done before it, and the ledger must bill what was served.
// Usage: npm run rolling [-- --logs directory] [--drain-ms N]. Prints a table; exits with 1 if a call fails.
import { mkdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { openDatabase } from '../../kernel/database.ts';
import { endAll, setUp, type Scene } from '../chaos/cluster.ts';
import { startPublisher } from '../chaos/publisher.ts';
import type { Service, Unit } from '../chaos/units.ts';
import { runGuarded } from '../run/guard.ts';
import { until } from '../run/until.ts';
import { startBalancer, type Balancer } from './balancer.ts';
import { silentLog } from '../services/harness.ts';
import { quantileMs, startLanes, type Called } from './lanes.ts';

const { values } = parseArgs({
  options: {
    logs: { type: 'string' },
    // Longer than the balancer needs to leave an instance out, also on a busy machine.
    'drain-ms': { type: 'string', default: '1500' },
  },
});
const drainDelayMs = Number(values['drain-ms']);
const betweenMs = 500;
const probeEveryMs = 100;

if (values.logs !== undefined) mkdirSync(values.logs, { recursive: true });
await runGuarded(async ({ directory }) => {
  const units: Unit[] = [];
  const over = new AbortController();
  try {
    const scene = await setUp(
      {
        ...{
          directory,
          gateways: 2,
          dataApis: 3,
          redis: 'cluster',
          hasReplica: true,
          seconds: 1,
          drainDelayMs,
        },
        ...{ logDirectory: values.logs ?? null, over: over.signal },
      },
      units,
    );
    const wrong = await replaceAll(scene);
    for (const line of wrong.slice(0, 20)) printLine(`WRONG: ${line}`);
    printLine(
      wrong.length === 0 ? 'rolling: not one call failed' : `rolling: ${wrong.length} things are wrong`,
    );
    return wrong.length === 0 ? 0 : 1;
  } finally {
    over.abort();
    await endAll(units);
  }
});

/** @returns the faults, as sentences. */
async function replaceAll({ cluster, databaseUrl, customer: who }: Scene): Promise<string[]> {
  const { gateways, dataApis, accountsApis, workers } = cluster;
  const balancer = await startBalancer(probeEveryMs);
  for (const { url } of gateways) balancer.add(url);
  const database = openDatabase(databaseUrl, silentLog, { applicationName: 'rolling' });
  const publisher = startPublisher(database, () => undefined);
  const lanes = startLanes(balancer.url, who, { publisher, pace: 'light' });
  printLine('replaced          | seconds |  calls | failed | p50 ms | p99 ms | longest ms');
  let from = 0;
  const row = (name: string, startedAtMs: number): void => {
    const calls = lanes.calls.slice(from);
    from += calls.length;
    printLine(rowOf(name, (performance.now() - startedAtMs) / 1000, calls));
  };
  const startMs = performance.now();
  await until('every lane has been answered', () => lanes.calls.length > 300);
  row('nothing', startMs);
  for (const unit of [...dataApis, ...accountsApis, ...workers, ...gateways]) {
    const startedAtMs = performance.now();
    await unit.stop();
    await unit.start();
    if (gateways.includes(unit)) await inTurnAgain(balancer, unit);
    await pause(betweenMs);
    row(unit.name, startedAtMs);
  }
  await publisher.stop();
  await lanes.stop();
  await balancer.close();
  await database.close();
  row('the end', performance.now());
  for (const gateway of gateways) await gateway.stop(); // each hands its journal over
  const wrong = lanes.calls.flatMap(({ fault }) => fault ?? []);
  const served = lanes.calls.filter(({ isBilled }) => isBilled).length;
  const billed = await billedOf(databaseUrl, who.accountId);
  printLine(
    `ledger: ${served} calls served, ${billed} billed; loads: ${publisher.done.length} done, ${publisher.failed} failed`,
  );
  printLine(`connections that the balancer gave to an instance that refused them: ${balancer.refused()}`);
  if (billed !== served) wrong.push(`${served} calls were served, and ${billed} billed`);
  if (publisher.failed > 0) wrong.push(`${publisher.failed} loads failed`);
  return wrong;
}

async function inTurnAgain(balancer: Balancer, { name, url }: Service): Promise<void> {
  await until(`the balancer gives connections to ${name}`, () => balancer.inTurn().includes(url));
}

function rowOf(name: string, seconds: number, calls: readonly Called[]): string {
  const failed = calls.filter(({ fault }) => fault !== undefined).length;
  const ms = (quantile: number) => quantileMs(calls, quantile).toFixed(1);
  const cells = [
    seconds.toFixed(1).padStart(7),
    String(calls.length).padStart(6),
    String(failed).padStart(6),
  ];
  return [name.padEnd(17), ...cells, ms(0.5).padStart(6), ms(0.99).padStart(6), ms(1).padStart(10)].join(
    ' | ',
  );
}

async function billedOf(databaseUrl: string, accountId: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ billed: number }>(
      'select coalesce(sum(billed), 0)::int as billed from accounts.usage_daily where account_id = $1',
      [accountId],
    );
    return rows[0]?.billed ?? 0;
  } finally {
    await client.end();
  }
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

// The cost of calls of one data-api: the time, and the CPU of the server and of PostgreSQL.
import path from 'node:path';
import type pg from 'pg';
import { anonymous, createSealer, identityHeader, type Identity } from '../../kernel/identity.ts';
import { ask, type Load } from '../instruments/client.ts';
import { figuresOf, print, printRow, ratios, shown } from '../instruments/figures.ts';
import { backendCpuUs, withClient } from '../instruments/postgres.ts';
import { startMeasured, type MeasuredServer } from '../instruments/server.ts';

const identitySecret = 'a secret of the bench, long enough';
export const seal = createSealer(identitySecret, 'data-api');

/** A measured data-api and its calls. */
export interface Service {
  server: MeasuredServer;
  /** A client of its database. */
  client: pg.Client;
}

export async function withService(
  databaseUrl: string,
  work: (service: Service) => Promise<void>,
): Promise<void> {
  const server = await startMeasured(path.join(import.meta.dirname, 'data-api.ts'), [
    databaseUrl,
    identitySecret,
  ]);
  try {
    await withClient(databaseUrl, (client) => work({ server, client }));
  } finally {
    await server.stop();
  }
}

export interface Cost {
  perSecond: number;
  p50Ms: number;
  /** Per request, in the server. */
  serverUs: number;
  /** Per request, in PostgreSQL. */
  databaseUs: number;
}

type Asking = Omit<Load, 'url' | 'headers'>;

export async function costOf(
  { server, client }: Pick<Service, 'server'> & Partial<Service>,
  asking: Asking,
): Promise<Cost> {
  const identity: Identity = { ...anonymous, features: ['vintages'] };
  const headers = (target: string) => ({ [identityHeader]: seal(identity, 'GET', target) });
  const databaseBefore = client === undefined ? 0 : await backendCpuUs(client);
  const before = await server.state();
  const { requests, seconds, latenciesMs } = await ask({ ...asking, url: server.url, headers });
  const after = await server.state();
  const database = client === undefined ? 0 : await backendCpuUs(client);
  return {
    perSecond: requests / seconds,
    p50Ms: figuresOf(latenciesMs).median,
    serverUs: (after.cpuUs - before.cpuUs) / requests,
    databaseUs: (database - databaseBefore) / requests,
  };
}

export function printCosts(name: string, costs: readonly Cost[]): void {
  printRow(name, [
    figuresOf(costs.map((cost) => cost.perSecond)).median.toFixed(0),
    shown(figuresOf(costs.map((cost) => cost.p50Ms)), 2),
    shown(figuresOf(costs.map((cost) => cost.serverUs)), 0),
    shown(figuresOf(costs.map((cost) => cost.databaseUs)), 0),
  ]);
}

export const columns = ['calls/s', 'p50 ms', 'Node CPU µs/call', 'database CPU µs/call'];

/** `of` compared with `against`: by time, and by CPU of both processes together. */
export function printRatio(text: string, of: readonly Cost[], against: readonly Cost[]): void {
  const time = ratios(
    of.map((cost) => cost.p50Ms),
    against.map((cost) => cost.p50Ms),
  );
  const cpu = ratios(of.map(cpuUs), against.map(cpuUs));
  print(`  ${text}: ${shown(time, 2)}× the time, ${shown(cpu, 2)}× the CPU`);
}

export function cpuUs({ serverUs, databaseUs }: Pick<Cost, 'serverUs' | 'databaseUs'>): number {
  return serverUs + databaseUs;
}

/** Distinct URLs of one selection: the window begins on another day each time, long before the first point. */
export function distinctWindows(): () => string {
  let day = 0;
  return () => new Date(Date.UTC(1800, 0, (day += 1) % 60_000)).toISOString().slice(0, 10);
}

/** The CPU of consecutive streamed answers, in the server and in PostgreSQL, and the time. @throws Error if one is not answered 200. */
export async function costOfStream(
  { server, client }: Service,
  ...targets: string[]
): Promise<Pick<Cost, 'serverUs' | 'databaseUs'> & { ms: number }> {
  const identity: Identity = { ...anonymous, features: ['vintages'] };
  const databaseBefore = await backendCpuUs(client);
  const before = await server.state();
  const started = performance.now();
  for (const target of targets) {
    const answer = await fetch(server.url + target, {
      headers: { [identityHeader]: seal(identity, 'GET', target), 'accept-encoding': 'identity' },
    });
    if (!answer.ok || answer.body === null) throw new Error(`${target} was answered ${answer.status}`);
    for await (const chunk of answer.body) void chunk;
  }
  const ms = performance.now() - started;
  const after = await server.state();
  return {
    ms,
    serverUs: after.cpuUs - before.cpuUs,
    databaseUs: (await backendCpuUs(client)) - databaseBefore,
  };
}

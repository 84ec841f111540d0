// The processes that run the services of the HTTP tests, reused from one test file to the next. Hides which of them is free. A test file
// asks by HTTP (test/services/production.ts), because each file runs in its own thread.
import { fork, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { closeServer, listen } from '../../kernel/http/server.ts';
import { within } from '../run/until.ts';
import type { Order, Reported } from './host.ts';

/** A service to start. */
export interface StartRequest {
  service: string;
  env: Record<string, string>;
  /** The time of its clock, in ms since 1970; null: it has that of the machine. */
  clockAtMs: number | null;
}

export interface Started {
  /** To stop it by. */
  id: number;
  /** Undefined: it serves no calls. */
  url: string | undefined;
  /** Its clock is set by this file (test/chaos/moved-clock.ts). */
  clock: string;
}

export interface Pool {
  url: string;
  /** Ends all processes. @returns how many services ran in how many processes. */
  stop(): Promise<{ services: number; processes: number }>;
}

interface Host {
  id: number;
  service: string;
  process: ChildProcess;
  clock: string;
  isFree: boolean;
  /** The output of the service. */
  output: string;
  onReport(reported: Reported): void;
}

/** @param directory for the files of their clocks. */
export async function startPool(directory: string): Promise<Pool> {
  const hosts: Host[] = [];
  /** The first start of each service, which fills the compile cache for later processes. */
  const first = new Map<string, Promise<unknown>>();
  let services = 0;

  async function start(startRequest: StartRequest): Promise<Started> {
    const { service } = startRequest;
    const before = first.get(service);
    if (before !== undefined) await before.catch(() => undefined); // its own caller reports the failure
    let host = hosts.find((each) => each.service === service && each.isFree);
    if (host === undefined) hosts.push((host = newHost(hosts.length, service, directory)));
    services += 1;
    const started = startIn(host, startRequest);
    if (before === undefined) first.set(service, started);
    return started;
  }

  async function stop(id: number): Promise<void> {
    const host = hosts[id];
    if (host === undefined || host.isFree) throw new Error(`There is no service ${id}.`);
    await stopIn(host);
  }

  const server = createServer((request, response) => {
    void (async () => {
      const asked = await json(request);
      try {
        const answer =
          request.url === '/start' ? await start(asked as StartRequest) : await stop(asked as number);
        response.end(JSON.stringify(answer ?? null));
      } catch (error) {
        response.statusCode = 500;
        response.end(error instanceof Error ? error.message : String(error));
      }
    })();
  });
  return {
    url: await listen(server, '127.0.0.1', 0),
    async stop() {
      await closeServer(server);
      for (const host of hosts) host.process.kill('SIGKILL');
      return { services, processes: hosts.length };
    },
  };
}

function newHost(id: number, service: string, directory: string): Host {
  const clock = path.join(directory, `${service}-${id}.clock`);
  writeFileSync(clock, new Float64Array([0]));
  const preload = ['--import', path.join(import.meta.dirname, '../chaos/moved-clock.ts')];
  const child = fork(path.join(import.meta.dirname, 'host.ts'), [service], {
    // As almanac.js has it.
    execArgv: [...preload, '--max-semi-space-size=8', '--max-old-space-size=256'],
    env: { ...process.env, TEST_CLOCK: clock },
  });
  const host: Host = {
    id,
    service,
    process: child,
    clock,
    isFree: true,
    output: '',
    onReport: () => undefined,
  };
  child.on('message', (reported: Reported) => host.onReport(reported));
  child.once('close', (code) => host.onReport({ code: code ?? 1 }));
  return host;
}

/** @throws Error with its output if it ends instead. */
async function startIn(host: Host, { service, env, clockAtMs }: StartRequest): Promise<Started> {
  host.isFree = false;
  host.output = '';
  writeFileSync(host.clock, new Float64Array(clockAtMs === null ? [0] : [0, clockAtMs]));
  const ready = new RegExp(`${service} is running(?:: (\\S+))?\n`);
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  host.onReport = (reported) => {
    if ('code' in reported)
      return reject(new Error(`${service} ended with ${reported.code}: ${host.output}`));
    host.output += reported.printed;
    const found = ready.exec(host.output);
    if (found !== null) resolve(found[1]);
  };
  const order: Order = { words: ['start', service], env };
  host.process.send(order);
  const url = await within(`${service} serves`, promise, 120_000);
  return { id: host.id, url, clock: host.clock };
}

/** @throws Error if it does not end properly; its process is then not reused. */
async function stopIn(host: Host): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<number>();
  host.onReport = (reported) => {
    if ('code' in reported) resolve(reported.code);
  };
  host.process.kill('SIGTERM');
  const code = await within(`${host.service} ends`, promise);
  if (code !== 0) throw new Error(`${host.service} was asked to stop and ended with ${code}.`);
  host.isFree = true;
}

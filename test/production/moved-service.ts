// One service as a separate process whose clock a test can move, with a PostgreSQL whose clock is right.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { projectRoot } from '../../kernel/project.ts';
import {
  anonymous,
  createSealer,
  identityHeader,
  type Identity,
  type Service,
} from '../../kernel/identity.ts';
import { startServing } from '../run/processes.ts';
import { testIdentitySecret } from '../services/harness.ts';

export interface MovedService {
  /** Undefined: it serves no calls. */
  url: string;
  /** Sets how far its clock is ahead of the machine's. */
  moveClock(aheadMs: number): void;
  /** Everything it has printed. */
  output(): string;
  end(): Promise<unknown>;
}

export interface Answered {
  status: number;
  body: unknown;
}

/** `almanac start <service>`. @param env its settings. @throws Error with its output if it does not start. */
export async function startMoved(service: string, env: Record<string, string>): Promise<MovedService> {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-moved-')); // the run removes it
  const clock = path.join(directory, 'clock');
  const moveClock = (aheadMs: number) => writeFileSync(clock, new Float64Array([aheadMs]));
  moveClock(0);
  const preload = ['--import', path.join(projectRoot, 'test/chaos/moved-clock.ts')];
  const words = [...preload, path.join(projectRoot, 'almanac.js'), 'start', service];
  const child = await startServing(
    new RegExp(`${service} is running(?:: (\\S+))?\n`),
    process.execPath,
    words,
    {
      name: service,
      env: {
        ...process.env,
        ...{ DASHBOARD: 'off', DATA_DIR: directory, IDENTITY_SECRET: testIdentitySecret, LOG_LEVEL: 'info' },
        ...{ PORT: '0', DATA_API_PORT: '0', ACCOUNTS_API_PORT: '0', PUBLISHER_PORT: '0' },
        ...{ TEST_CLOCK: clock, REDIS_URL: '' },
        ...env,
      },
    },
  );
  return { url: child.ready[1] ?? '', moveClock, output: child.output, end: () => child.end() };
}

/** Calls a service like a gateway whose clock is this far ahead. */
export async function callAs(
  service: Service,
  url: string,
  {
    aheadMs,
    identity,
    target,
    body,
  }: { aheadMs: number; identity?: Partial<Identity>; target: string; body?: unknown },
): Promise<Answered> {
  const clock = { now: () => new Date(Date.now() + aheadMs) };
  const method = body === undefined ? 'GET' : 'POST';
  const seal = createSealer(testIdentitySecret, service, clock);
  const response = await fetch(url + target, {
    method,
    headers: {
      [identityHeader]: seal({ ...anonymous, ...identity }, method, target),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
}

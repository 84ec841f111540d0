// The load on a set-up as in production: lanes of clients that call through the balancer, one call after another on a keep-alive
// connection, each kind of call in its own lane. Hides how a call is made and judged.
import { Client } from 'undici';
import type { Caller } from '../chaos/calls.ts';
import { tick, type Publisher } from '../chaos/publisher.ts';

/** One call as it ended. Times are `performance.now()`. */
export interface Called {
  lane: string;
  startedAtMs: number;
  durationMs: number;
  /** The fault; undefined if there is none. */
  fault: string | undefined;
  isBilled: boolean;
}

export interface Lanes {
  readonly calls: readonly Called[];
  /** Resolves when the last calls are answered. */
  stop(): Promise<void>;
}

/** Steady: as much as a small machine can serve. Light: enough that a call is in flight at every event of a service. */
type Pace = 'steady' | 'light';

interface Lane {
  name: string;
  /** Connections that call side by side. */
  clients: number;
  pauseMs: Readonly<Record<Pace, number>>;
  isBilled?: boolean;
  next(turn: number): { path: string; method?: 'PATCH'; body?: string };
  /** @returns the fault of an answer of 200. */
  judge?(text: string, startedAtMs: number): string | undefined;
}

function lanesOf(publisher: Publisher | undefined): Lane[] {
  const data = { pauseMs: { steady: 4, light: 20 }, isBilled: true };
  const manage = { clients: 1, pauseMs: { steady: 20, light: 60 } };
  return [
    { ...data, name: 'hot reads', clients: 2, next: () => ({ path: '/v1/series/SHORT' }) },
    {
      ...data,
      name: 'cold reads',
      clients: 3,
      next: (turn) => ({ path: `/v1/series/LONG?limit=${1 + (turn % 900)}` }),
    },
    {
      ...{ ...data, name: 'whole series as CSV', clients: 1 },
      pauseMs: { steady: 4, light: 250 },
      next: () => ({ path: '/v1/series/LONG?format=csv' }),
    },
    {
      ...{ ...data, name: 'reads of what is loaded', clients: 1 },
      next: () => ({ path: `/v1/series/${tick.id}/latest` }),
      judge(text, startedAtMs) {
        const value = Number(/"value":(\d+)/.exec(text)?.[1]);
        const needed = publisher?.doneBefore(startedAtMs).value ?? tick.value;
        return value >= needed
          ? undefined
          : `value ${value} was answered after ${needed} was reported as done`;
      },
    },
    { ...manage, name: 'management', next: (turn) => ({ path: turn % 2 === 0 ? '/v1/keys' : '/v1/usage' }) },
    {
      ...{ ...manage, name: 'writes' },
      next: (turn) => ({
        path: '/v1/account',
        method: 'PATCH',
        body: JSON.stringify({ name: `Name ${turn}` }),
      }),
    },
  ];
}

export interface LanesOptions {
  /** Loads the series that one lane reads. */
  publisher?: Publisher;
  /** The name of the lane that runs alone, without pauses; undefined: all run. */
  only?: string | undefined;
  /** By default steady. */
  pace?: Pace;
}

/** @throws Error that lists the lanes if there is no lane of this name. */
export function startLanes(
  url: string,
  { key }: Caller,
  { publisher, only, pace = 'steady' }: LanesOptions = {},
): Lanes {
  const all = lanesOf(publisher);
  const lanes = all.filter(({ name }) => only === undefined || name === only);
  if (lanes.length === 0)
    throw new Error(`There is no lane "${only}"; there are ${all.map(({ name }) => name).join(', ')}.`);
  const calls: Called[] = [];
  const running = { yes: true };

  async function call(client: Client, lane: Lane, turn: number): Promise<Called> {
    const { path, method = 'GET', body } = lane.next(turn);
    const startedAtMs = performance.now();
    const ended = (fault: string | undefined): Called => ({
      ...{ lane: lane.name, startedAtMs, durationMs: performance.now() - startedAtMs, fault },
      isBilled: lane.isBilled === true && fault === undefined,
    });
    try {
      const headers = { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) };
      const answer = await client.request({ path, method, headers, ...(body !== undefined && { body }) });
      const text = await answer.body.text();
      if (answer.statusCode !== 200)
        return ended(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 200)}`);
      return ended(lane.judge?.(text, startedAtMs));
    } catch (error) {
      return ended(`${method} ${path}: ${String(error)}`);
    }
  }

  const loops = lanes.flatMap((lane) =>
    Array.from({ length: lane.clients }, async () => {
      const client = new Client(url);
      for (let turn = 0; running.yes; turn += 1) {
        calls.push(await call(client, lane, turn));
        if (only === undefined) await new Promise((resolve) => setTimeout(resolve, lane.pauseMs[pace]));
      }
      await client.close();
    }),
  );
  return {
    calls,
    async stop() {
      running.yes = false;
      await Promise.all(loops);
    },
  };
}

/** The quantile of the times of calls, in ms. */
export function quantileMs(calls: readonly Called[], quantile: number): number {
  const times = calls.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
  return times[Math.min(times.length - 1, Math.floor(times.length * quantile))] ?? Number.NaN;
}

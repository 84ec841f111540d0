// A balancer of TCP connections like that of Kubernetes in front of the pods of a service: in turn, to those whose /readyz answers.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export interface Balancer {
  url: string;
  /** From now on an instance is probed, and in turn. */
  add(url: string): void;
  /** The URLs of the instances that connections are given to. */
  inTurn(): string[];
  /** Connections that an instance refused, which it still had in turn. */
  refused(): number;
  close(): Promise<void>;
}

/** An instance that has missed this many probes in a row is skipped until it answers again. */
const probesMissed = 4;

/** @param probeEveryMs a probe costs each service behind a gateway a statement. */
export async function startBalancer(probeEveryMs = 10): Promise<Balancer> {
  const instances: { url: string; missed: number }[] = [];
  const sockets = new Set<Socket>();
  let turn = 0;
  let refused = 0;
  const inTurn = () => instances.filter(({ missed }) => missed < probesMissed).map(({ url }) => url);
  const server = createServer((client) => {
    const there = inTurn();
    const target = there[(turn += 1) % there.length];
    if (target === undefined) return client.destroy();
    const upstream = connect(Number(new URL(target).port), '127.0.0.1');
    upstream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') refused += 1;
    });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.once('close', () => sockets.delete(from));
      from.setNoDelay(true);
      from.on('error', () => to.destroy());
      from.pipe(to);
    }
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const over = new AbortController();
  const probes = (async () => {
    while (!over.signal.aborted) {
      for (const each of instances) {
        const answer = await fetch(`${each.url}/readyz`).catch(() => undefined);
        each.missed = answer?.status === 200 ? 0 : each.missed + 1;
      }
      await pause(probeEveryMs, undefined, { signal: over.signal }).catch(() => undefined); // it is closed
    }
  })();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (url) => void instances.push({ url, missed: 0 }),
    inTurn,
    refused: () => refused,
    async close() {
      over.abort();
      await probes;
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

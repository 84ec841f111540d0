// A TCP proxy that makes the connection to a working server slow, silent or closed.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export interface Proxy {
  port: number;
  /** Breaks every connection, present and future. */
  cut(): void;
  /** Delays every byte, in both directions. */
  delay(ms: number): void;
  /** Withholds the server's bytes: requests are executed, but not answered. */
  pauseReplies(): void;
  /** Connects to another server from now on, and breaks every connection. */
  retarget(port: number): void;
  /** Works normally again, and delivers withheld bytes. */
  restore(): void;
  close(): Promise<void>;
}

export async function startProxy(targetPort: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let target = targetPort;
  let isCut = false;
  let delayMs = 0;
  let repliesResumed = Promise.withResolvers<void>();
  repliesResumed.resolve();

  function track(socket: Socket): Socket {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy()); // reported to the other side by `close`
    return socket.once('close', () => sockets.delete(socket));
  }

  function pass(from: Socket, to: Socket, whenAllowed: () => Promise<void>): void {
    let before = Promise.resolve();
    from.on('data', (chunk: Buffer) => {
      const dueMs = performance.now() + delayMs;
      before = before
        .then(() => pause(Math.max(0, dueMs - performance.now())))
        .then(whenAllowed)
        .then(() => void (to.destroyed || to.write(chunk)));
    });
    from.once('close', () => to.destroy());
  }

  const server = createServer((client) => {
    track(client);
    if (isCut) {
      client.destroy();
      return;
    }
    const upstream = track(connect(target, '127.0.0.1'));
    pass(client, upstream, () => Promise.resolve());
    pass(upstream, client, () => repliesResumed.promise);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    retarget(port) {
      target = port;
      for (const socket of sockets) socket.destroy();
    },
    delay: (ms) => void (delayMs = ms),
    pauseReplies: () => void (repliesResumed = Promise.withResolvers()),
    restore() {
      isCut = false;
      delayMs = 0;
      repliesResumed.resolve();
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

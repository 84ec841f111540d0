// The TCP connections from one gateway to one data-api, which the chaos run can break or make silent while both are well and reach all
// others. Hides that bytes are passed on with backpressure, and an end only after them: nothing but a fault may fail a call.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Link {
  readonly url: string;
  /** Breaks every connection, and each that is opened from now on. */
  cut(): void;
  /** What the service sends is kept back: it does what it is asked, and nobody hears of it. */
  deafen(): void;
  /** All is well again; what was kept back arrives. */
  mend(): void;
}

/** @param url of the service. */
export async function startLink(url: string): Promise<Link> {
  const pairs = new Set<{ client: Socket; service: Socket }>();
  const target = Number(new URL(url).port);
  let isCut = false;
  let isDeaf = false;
  const server = createServer((client) => {
    client.setNoDelay(true).on('error', () => client.destroy());
    if (isCut) {
      client.destroy();
      return;
    }
    const service = connect(target, '127.0.0.1').setNoDelay(true);
    service.on('error', () => service.destroy());
    const pair = { client, service };
    pairs.add(pair);
    client.pipe(service);
    if (!isDeaf) service.pipe(client);
    // After an end that was passed on, the other side closes by itself; without one the connection was broken.
    client.once('close', () => client.readableEnded || service.destroy());
    service.once('close', () => {
      pairs.delete(pair);
      if (!service.readableEnded) client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isCut = true;
      for (const { client, service } of pairs) {
        client.destroy();
        service.destroy();
      }
    },
    deafen() {
      isDeaf = true;
      for (const { client, service } of pairs) service.unpipe(client).pause();
    },
    mend() {
      if (isDeaf) for (const { client, service } of pairs) service.pipe(client);
      [isCut, isDeaf] = [false, false];
    },
  };
}
